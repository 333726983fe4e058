# SPDX-License-Identifier: Apache-2.0
"""Several recordings of one robot, which say more about a flaw than each of them.

A flaw of the robot or of its model is in all recordings: it is looked for in all of them together.
A flaw of one recording sets it against the others: the parameters that fit those predict its
torque much better once it is corrected. What one recording says by itself is a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn_ros.identification.diagnosis.case import COMPARED, Case
from robodyn_ros.identification.diagnosis.trial import Trial, fitted_to
from robodyn_ros.models.interface import Array

SIGNALS = (
    *('time', 'position', 'velocity', 'acceleration', 'torque', 'measured'),
    *('measured_position', 'used', 'moving', 'resting'),
)
"""Arrays of processed signals with a row per sample."""


def together(cases: Sequence[Case], samples: int = 5000) -> Case:
    """Return the recordings as one, which has samples of each in their order."""
    parts = [
        case.signals.cut(slice(None, None, -(-len(case.signals) * len(cases) // samples)))
        for case in cases
    ]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in SIGNALS
    }
    signals = replace(parts[0], **arrays, gaps=None, known=None)
    return replace(cases[0], signals=signals, others=None)


def with_others(cases: Sequence[Case]) -> list[Case]:
    """Return each recording with the parameters that fit all others; alone, it has none."""
    if len(cases) < 2:
        return list(cases)
    grams = np.array([_gram(case) for case in cases])
    total = grams.sum(axis=0)
    return [
        replace(case, others=fitted_to(total - own))
        for case, own in zip(cases, grams, strict=True)
    ]


def _gram(case: Case) -> Array:
    count = len(case.signals)
    rows = np.linspace(0, count - 1, min(COMPARED, count)).astype(np.intp)
    return Trial.at(case, rows).gram
