# SPDX-License-Identifier: Apache-2.0
"""Data of the diagnosis: a recording, its signals, and its estimate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from numpy.typing import NDArray

from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.result.verdict import GOOD
from robodyn_ros.identification.rivals.reading import Reading
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording

COMPARED = 500
"""Samples that motions are compared on: the error of a variance from so many is 6 %."""
Values = TypeVar('Values', bound=NDArray[Any])


@dataclass(frozen=True)
class Case:
    """An identification to be explained.

    :param values: parameter values of the exported estimate, shape (p,)
    :param errors: largest relative torque error of each joint, shape (n,)
    """

    recording: Recording
    model: DynamicModel
    options: IdentifyOptions
    signals: Processed
    values: Array
    errors: Array

    @property
    def rate(self) -> float:
        """Sampling rate, in [Hz]."""
        return 1.0 / self.recording.period

    @cached_property
    def reading(self) -> Reading:
        """Samples of the recording, with the error of each joint's own fit."""
        much = self.errors > GOOD * self.options.max_relative_error
        doubted = bool((much & self.signals.used.any(axis=0)).any())
        return Reading.of(self.signals, self.model, self.recording, doubted=doubted)


def thin(values: Values) -> Values:
    """Return evenly spaced values, `COMPARED` or up to twice as many; all if there are fewer."""
    return values[:: max(1, len(values) // COMPARED)]  # type: ignore[return-value]
