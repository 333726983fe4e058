# SPDX-License-Identifier: Apache-2.0
"""Choice of the torque of gear deflection: by errors on parts of the motion that were left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.fit.choice import RELEVANT, HeldOut, is_better
from robodyn_ros.identification.gears.fits import GmrFit, RbfFit
from robodyn_ros.identification.gears.maps import MAPS, GearCandidate
from robodyn_ros.identification.options import FOLDS, GearTorque
from robodyn_ros.models.gear_torque import (
    INPUTS,
    GearTorqueLaw,
    ResidualMap,
    feature_range,
    features,
)
from robodyn_ros.models.interface import Array

FITS: dict[str, type[RbfFit] | type[GmrFit]] = {'rbf': RbfFit, 'gmr': GmrFit}

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
    :return: the residual torque, None where no joint gains significantly (see `fit.choice`), and
        all that was tried, best first
    """
    torque, used = _select_torque(torque, used)
    kinds: tuple[Literal['rbf', 'gmr'], ...] = ('rbf', 'gmr')
    if kind in ('rbf', 'gmr'):
        kinds = (kind,)
    tried: list[tuple[GearCandidate, list[RbfFit | GmrFit], list[Folds], NDArray[np.bool_]]] = []
    for count in inputs:
        samples = features(*signals, count)
        folds = [
            _folds(samples[:, joint], torque[:, joint], used[:, joint])
            for joint in range(len(joints))
        ]
        for name in kinds:
            fits = [FITS[name](parts) for parts in folds]
            pairs = [_held_out(fit, parts) for fit, parts in zip(fits, folds, strict=True)]
            gains = np.array([is_better(*pair, share=RELEVANT) for pair in pairs])
            shares = np.array([_share(*pair) for pair in pairs])
            mean = float(np.where(gains, shares, 1.0).mean())
            candidate = GearCandidate(name, INPUTS[:count], shares, mean)
            tried.append((candidate, fits, folds, gains))
    tried.sort(key=lambda item: item[0].mean)
    best, fits, folds, gains = tried[0]
    candidates = tuple(item[0] for item in tried)
    if best.mean >= 1.0:
        return None, candidates
    ends = [feature_range(np.concatenate([part for part, _ in parts])) for parts in folds]
    limit = [np.abs(np.concatenate([part for _, part in parts])).max() for parts in folds]
    residual = GearTorqueLaw(
        joints=tuple(joints),
        inputs=best.inputs,
        map=_join_maps([fit.map() for fit in fits]),
        low=np.array([low for low, _ in ends]),
        high=np.array([high for _, high in ends]),
        limit=np.where(gains, limit, 0.0),
        gear_ratio=np.ones(len(joints)) if gear_ratio is None else gear_ratio,
        cutoff=cutoff,
    )
    return residual, candidates


def _select_torque(torque: Array, used: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_]]:
    """Return torque and used samples; zero for a joint with hardly any of them in a fold."""
    fewest = np.min([used[rows].sum(axis=0) for rows in _fold_rows(len(torque))], axis=0)
    silent = fewest < FOLDS**2  # not one in each segment of time
    return np.where(silent, 0.0, torque), used | silent


def _fold_rows(samples: int) -> list[NDArray[np.bool_]]:
    """Return the samples (N,) of each fold: as many segments of time as there are folds."""
    fold = np.arange(samples) * FOLDS**2 // max(samples, 1) % FOLDS
    return [fold == index for index in range(FOLDS)]


def _folds(samples: Array, torque: Array, used: NDArray[np.bool_]) -> Folds:
    """Return the samples of one joint in folds."""
    kept = [used & fold for fold in _fold_rows(len(torque))]
    return [(samples[rows], torque[rows]) for rows in kept]


def _held_out(fit: RbfFit | GmrFit, folds: Folds) -> tuple[HeldOut, HeldOut]:
    """Return squared errors on each fold without a map, and with a map of the other folds."""
    errors = []
    for fold, (samples, torque) in enumerate(folds):
        residual: ResidualMap = fit.map(without=fold)
        left = torque - residual.predict(samples[:, None])[:, 0]
        errors.append((float(torque @ torque), float(left @ left)))
    counts = (np.array([len(torque) for _, torque in folds], dtype=float),)
    without, with_map = np.array(errors).T
    return HeldOut((without,), counts), HeldOut((with_map,), counts)


def _share(without: HeldOut, with_map: HeldOut) -> float:
    """Return the RMS error that a map leaves, as a share of that without it."""
    return float(np.sqrt(with_map.mean / without.mean)) if without.mean > 0.0 else 1.0


def _join_maps(maps: Sequence[ResidualMap]) -> ResidualMap:
    """Return one map of all joints from maps of one joint each."""
    arrays = [item.arrays() for item in maps]
    return MAPS[maps[0].kind].from_arrays(
        {name: np.concatenate([of_joint[name] for of_joint in arrays]) for name in arrays[0]}
    )
