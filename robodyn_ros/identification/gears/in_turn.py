# SPDX-License-Identifier: Apache-2.0
"""Fit of parameters and of the torque of gear deflection in turn, for double encoders.

The third loop of the document's scheme (section 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.gears.maps import GearCandidate
from robodyn_ros.identification.gears.motor_side import motor_side, nearest_samples
from robodyn_ros.identification.gears.selection import fit_residual
from robodyn_ros.identification.options import FOLDS, SAMPLES, IdentifyOptions
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.gear_torque import GearTorqueLaw
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording

LOOPS = 3
"""Iterations of the two fits; each fit changes the other only by what both can explain."""


@dataclass(frozen=True)
class Explained:
    """A recording with motor side, and what a model explains of it.

    :param predicted: torque of the model at the samples of the signals, shape (N, n)
    """

    recording: Recording
    signals: Processed
    predicted: Array


@dataclass(frozen=True)
class _Sample:
    """Thinned samples for the fits in turn, each array with one row per sample."""

    inputs: tuple[Array, Array, Array]
    left: Array
    used: NDArray[np.bool_]
    design: Array


def in_turn(
    model: DynamicModel, values: Array, explained: Sequence[Explained], options: IdentifyOptions
) -> tuple[GearTorqueLaw | None, tuple[GearCandidate, ...], Array]:
    """Fit the torque of gear deflection and the parameters in turn, each to what the other leaves.

    :param values: parameter values (p,) without it
    :return: the torque of gear deflection, None where no joint gains; what was tried; and the
        parameter values (p,) with it
    """
    cutoff = explained[0].signals.cutoff or 0.0
    base = base_parameters(model).columns
    total = sum(each.signals.thinning.count(len(each.signals)) for each in explained)
    stride = max(1, -(-total // (FOLDS * SAMPLES)))  # each fold of the choice has `SAMPLES`
    parts = [_sample(model, base, each, cutoff, stride) for each in explained]
    inputs = tuple(np.concatenate([part.inputs[k] for part in parts]) for k in range(3))
    left = np.concatenate([part.left for part in parts])
    used = np.concatenate([part.used for part in parts])
    design = np.concatenate([part.design for part in parts])
    kind = options.gear_torque
    counts: Sequence[int] = (2, 3)
    torque: GearTorqueLaw | None = None
    candidates: tuple[GearCandidate, ...] = ()
    values = values.copy()
    for _ in range(LOOPS):
        torque, tried = fit_residual(
            model.joint_names,
            (inputs[0], inputs[1], inputs[2]),
            left,
            used,
            kind=kind,
            inputs=counts,
            gear_ratio=explained[0].recording.gear_ratio,
            cutoff=cutoff,
        )
        candidates = candidates or tried
        if torque is None:
            break
        kind, counts = tried[0].kind, (len(torque.inputs),)
        change = _solve_weighted(design, left - torque.torque(*inputs), used)
        left = left - design @ change
        values[base] += change
    return torque, candidates, values


def _sample(
    model: DynamicModel,
    columns: NDArray[np.intp],
    explained: Explained,
    cutoff: float,
    stride: int,
) -> _Sample:
    """Thin a recording to one of so many samples."""
    recording, signals = explained.recording, explained.signals
    every = np.arange(len(signals))[signals.thinning.centres(len(signals))]
    centres = every[::stride]
    at = nearest_samples(recording.time, signals.time)[centres]
    deflection, rate, velocity = (each[at] for each in motor_side(recording, cutoff))
    return _Sample(
        inputs=(deflection, rate, velocity),
        left=signals.thinning.apply(signals.measured - explained.predicted)[::stride],
        used=signals.used[centres],
        design=model.regressor(*(each[centres] for each in signals.motion))[:, :, columns],
    )


def _solve_weighted(design: Array, torque: Array, used: NDArray[np.bool_]) -> Array:
    """Return the weighted least squares of all joints (document, Eq. 21, 22)."""
    spread = np.sqrt((torque**2 * used).mean(axis=0))
    weight = np.where(used, 1.0 / np.maximum(spread, 1e-12), 0.0)
    rows = (design * weight[:, :, None]).reshape(-1, design.shape[2])
    values = np.linalg.lstsq(rows, (torque * weight).ravel(), rcond=None)[0]
    return np.asarray(values, dtype=float)
