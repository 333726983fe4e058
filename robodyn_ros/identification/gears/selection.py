"""Which residual torque suits a recording: by cross-validation over stretches of its motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.fit.cross_validation import folds_of, unseen_errors
from robodyn_ros.identification.gears.candidate import GearCandidate
from robodyn_ros.identification.gears.gmr import GmrFit
from robodyn_ros.identification.gears.maps import MAPS
from robodyn_ros.identification.gears.rbf import RbfFit
from robodyn_ros.identification.options import GearTorque
from robodyn_ros.models.gear_torque import (
    INPUTS,
    GearTorqueLaw,
    ResidualMap,
    feature_range,
    features,
)
from robodyn_ros.models.interface import Array

FITS: dict[str, type[RbfFit] | type[GmrFit]] = {'rbf': RbfFit, 'gmr': GmrFit}
FOLDS = 4
STRETCHES = 5
"""Stretches of time in a fold."""
SAMPLES = 20_000
"""Most samples that are used; evenly chosen ones of more."""
FEWEST = 50
"""Samples that a joint needs in every fold; one with fewer has no residual torque."""
GAIN = 0.98
"""A joint gets a residual torque if it leaves at most this share of the error elsewhere."""


Folds = list[tuple[Array, Array]]


def fit_residual(
    joints: Sequence[str],
    signals: tuple[Array, Array, Array],
    torque: Array,
    used: NDArray[np.bool_],
    *,
    kind: GearTorque = 'auto',
    inputs: Sequence[int] = (2, 3),
    gear_ratio: Array | None = None,
    cutoff: float = 0.0,
) -> tuple[GearTorqueLaw | None, tuple[GearCandidate, ...]]:
    """Fit f to what a model leaves, in the kind and with the inputs that generalise best.

    :param signals: deflection, its rate and motor velocity, joint side, each (N, n), in time order
    :param torque: measured torque minus that of the model, (N, n), in [Nm] or [N]
    :param used: samples that count, (N, n)
    :param kind: 'rbf' or 'gmr'; 'auto': the better one
    :param inputs: numbers of inputs to try, the first so many of `INPUTS`
    :return: the residual torque, None where no joint gains, and all that was tried, best first
    """
    rows = slice(None, None, max(1, -(-len(torque) // SAMPLES)))
    seen = tuple(values[rows] for values in signals)
    torque, used = _told(torque[rows], used[rows])
    kinds: tuple[Literal['rbf', 'gmr'], ...] = ('rbf', 'gmr')
    if kind in ('rbf', 'gmr'):
        kinds = (kind,)
    tried: list[tuple[GearCandidate, list[RbfFit | GmrFit], list[Folds]]] = []
    for count in inputs:
        samples = features(seen[0], seen[1], seen[2], count)
        folds = [
            _folds(samples[:, joint], torque[:, joint], used[:, joint])
            for joint in range(len(joints))
        ]
        for name in kinds:
            fits = [FITS[name](parts) for parts in folds]
            share = [_share(fit, parts) for fit, parts in zip(fits, folds, strict=True)]
            shares = np.array(share)
            mean = float(np.where(shares < GAIN, shares, 1.0).mean())
            tried.append((GearCandidate(name, INPUTS[:count], shares, mean), fits, folds))
    tried.sort(key=lambda item: item[0].mean)
    best, fits, folds = tried[0]
    candidates = tuple(candidate for candidate, _, _ in tried)
    if best.mean >= 1.0:
        return None, candidates
    ends = [feature_range(np.concatenate([part for part, _ in parts])) for parts in folds]
    limit = [np.abs(np.concatenate([part for _, part in parts])).max() for parts in folds]
    residual = GearTorqueLaw(
        joints=tuple(joints),
        inputs=best.inputs,
        map=_joined([fit.map() for fit in fits]),
        low=np.array([low for low, _ in ends]),
        high=np.array([high for _, high in ends]),
        limit=np.where(best.rms_share < GAIN, limit, 0.0),
        gear_ratio=np.ones(len(joints)) if gear_ratio is None else gear_ratio,
        cutoff=cutoff,
    )
    return residual, candidates


def _told(torque: Array, used: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_]]:
    """Torque and samples that count; a joint with too few in a fold has nothing to learn: zero.

    :param torque: shape (N, n)
    :param used: shape (N, n)
    """
    fewest = np.min([used[rows].sum(axis=0) for rows in _fold_rows(len(torque))], axis=0)
    silent = fewest < FEWEST
    return np.where(silent, 0.0, torque), used | silent


def _fold_rows(samples: int) -> list[NDArray[np.bool_]]:
    """Return the samples (N,) of each fold: several segments of time all over the motion."""
    fold = folds_of(samples, FOLDS, STRETCHES)
    return [fold == index for index in range(FOLDS)]


def _folds(samples: Array, torque: Array, used: NDArray[np.bool_]) -> Folds:
    """Return the samples of one joint in folds."""
    kept = [used & own for own in _fold_rows(len(torque))]
    return [(samples[rows], torque[rows]) for rows in kept]


def _share(fit: RbfFit | GmrFit, folds: Folds) -> float:
    """RMS error left by maps fitted to the other folds, as a share of that without."""

    def error(found: ResidualMap, fold: int) -> float:
        samples, torque = folds[fold]
        return float(((torque - found.predict(samples[:, None])[:, 0]) ** 2).sum())

    left = unseen_errors(len(folds), lambda fold: fit.map(without=fold), error).sum()
    total = sum(float((torque**2).sum()) for _, torque in folds)
    return float(np.sqrt(left / total)) if total > 0.0 else 1.0


def _joined(maps: Sequence[ResidualMap]) -> ResidualMap:
    """One map of all joints from maps of one joint each."""
    arrays = [item.arrays() for item in maps]
    return MAPS[maps[0].kind].from_arrays(
        {name: np.concatenate([own[name] for own in arrays]) for name in arrays[0]}
    )
