# SPDX-License-Identifier: Apache-2.0
"""Data of the diagnosis: a few thousand samples of a recording, fitted joint by joint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.factors.condense import Condensed, Indices
from robodyn_ros.identification.factors.joint_fit import (
    ENOUGH,
    LONGEST_SHIFT,
    JointFit,
    fit_joint,
)
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording

COMPARED = 500
"""Samples that motions and corrections are compared on: the error of a variance from so many is
6 %."""
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
    base: BaseParameters
    condensed: Condensed
    values: Array
    errors: Array

    @property
    def rate(self) -> float:
        """Sampling rate, in [Hz]."""
        return 1.0 / self.recording.period


@dataclass(frozen=True)
class Sample:
    """Evenly spaced samples of the processed signals.

    :param rows: of `Case.signals`, shape (M,), not at its ends
    :param regressor: base columns only, shape (M, n, b)
    :param own: fit of each joint alone; None for a joint without enough samples
    """

    rows: Indices
    regressor: Array
    own: tuple[JointFit | None, ...]

    def fits(self) -> Iterator[tuple[int, JointFit]]:
        """Return the joints that can be fitted alone, with their fits."""
        return ((joint, own) for joint, own in enumerate(self.own) if own is not None)


def thinned(values: Values) -> Values:
    """Return evenly spaced values, `COMPARED` or up to twice as many; all if there are fewer."""
    return values[:: max(1, len(values) // COMPARED)]  # type: ignore[return-value]


def draw(case: Case) -> Sample:
    """Take samples and fit each joint alone."""
    signals = case.signals
    reach = int(min(np.ceil(LONGEST_SHIFT * case.rate), len(signals) // 8))
    count = min(ENOUGH, len(signals) - 2 * reach)
    rows = np.linspace(reach, len(signals) - 1 - reach, count).astype(np.intp)
    q, qd, qdd = (values[rows] for values in signals.motion)
    regressor = case.model.select_columns(q, qd, qdd, case.base.columns)
    own = [
        fit_joint(regressor[:, joint], factor.columns, signals.torque[rows, joint], used)
        for joint, (factor, used) in enumerate(
            zip(case.condensed.segments[0], signals.used[rows].T, strict=True)
        )
    ]
    return Sample(rows=rows, regressor=regressor, own=tuple(own))
