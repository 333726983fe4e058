# SPDX-License-Identifier: Apache-2.0
"""Content of a report before it is laid out: facts, model and signals of one identification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.models.interface import Array, DynamicModel


@dataclass(frozen=True)
class ReportSignals:
    """Processed signals of the identification; arrays have shape (N, n), SI units.

    :param time: shape (N,), in [s]
    :param torque: measured, after the low pass
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    torque: Array
    predicted: Array

    @property
    def error(self) -> Array:
        """Torque error, model minus measured, shape (N, n), in [Nm] or [N]."""
        return self.predicted - self.torque


@dataclass(frozen=True)
class ReportSource:
    """One identification, fresh or read from its folder.

    :param model: None: the files of a failed identification hold no model
    :param values: of the parameters with the payload, shape (p,), SI
    :param stddevs: their standard deviations, shape (p,); NaN: not identifiable on its own
    :param signals: None: not kept
    :param missing: why there are no signals
    :param result_file: result.yaml with the model; None: not known
    """

    facts: Mapping[str, Any]
    model: DynamicModel | None = None
    values: Array | None = None
    stddevs: Array | None = None
    signals: ReportSignals | None = None
    missing: str = ''
    result_file: Path | None = None

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return [str(name) for name in self.facts['joints']]


def source_of(
    result: IdentificationResult, facts: Mapping[str, Any], result_file: Path | None = None
) -> ReportSource:
    """Return the content of a fresh result.

    :param facts: content of its result.json
    :param result_file: path that its result.yaml gets
    """
    signals = None
    if result.signals is not None:
        kept = result.signals.processed
        signals = ReportSignals(
            kept.time,
            kept.position,
            kept.velocity,
            kept.acceleration,
            kept.torque,
            result.signals.predicted,
        )
    known = result.has_estimate
    return ReportSource(
        facts,
        result.model,
        result.loaded if known else None,
        result.stddevs if known else None,
        signals,
        '' if signals else 'The signals of this identification were not kept (--no-signals).',
        result_file,
    )
