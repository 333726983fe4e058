# SPDX-License-Identifier: Apache-2.0
"""The expert's grid without hindsight: chosen by blocks of time and regions left out of the fit.

Who knows the recording alone cannot be sure to beat this by much: where the package is far above
the expert and near this, the choice is hard, not wrong. Cut-offs are compared on the same torque,
that below the cut-off of plain least squares, each joint relative to its torque.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.cluster.vq import kmeans2

from next_robot.condensed import Columns, Rows, rows_of
from next_robot.flaws import Arrays
from next_robot.reference import CUTOFFS, LAWS, PLAIN_CUTOFF, PRIORS, noise, regularised
from robodyn_ros.models.interface import Array, DynamicModel

BLOCKS, REGIONS = 10, 6
"""Blocks of time and regions of the workspace, each left out in turn."""


def honest(
    body: DynamicModel, signals: Arrays, truth: Array, joints: Array, size: Array, least: Array
) -> tuple[float, str]:
    """Return the relative error on the truth of the choices with the smallest held-out error.

    :param truth, joints, size: as for `reference.expert`
    :param least: torque that errors of the recording are relative to at least, shape (n,)
    """
    rate = 1.0 / float(np.median(np.diff(signals['time'])))
    judged = rows_of(body, signals, min(PLAIN_CUTOFF, 0.2 * rate), share=0.02)
    if judged is None:
        return np.nan, 'too short'
    best = (np.inf, np.nan, 'too short')
    reference = np.maximum(np.sqrt(np.mean(judged.torque**2, axis=0)), least)[joints]
    labels = labels_of(judged, joints)
    for cutoff in CUTOFFS:
        rows = rows_of(body, signals, cutoff, share=0.02)
        if rows is None:
            continue
        folds = list(_folds(rows, judged, labels, joints))
        everything, _ = rows.sums(np.ones(len(rows.time), dtype=bool))
        fit = everything[joints] / np.maximum(rows.used.sum(axis=0), 1)[joints, None, None]
        sigma = noise(Columns(len(body.parameters), len(joints), LAWS['all']), fit)
        for law, numbers in LAWS.items():
            columns = Columns(len(body.parameters), len(joints), numbers)
            normals = [(columns.normal(fold.kept, sigma), fold) for fold in folds]
            for weight in PRIORS:
                error = 0.0
                for normal, fold in normals:
                    values = regularised(body, *normal, weight)
                    left = columns.rms(fold.left, values) / reference
                    error += float(fold.share @ left**2)
                if error < best[0]:
                    values = regularised(body, *columns.normal(fit, sigma), weight)
                    on_truth = columns.rms(truth[joints], values) / size[joints]
                    found = float(np.sqrt(np.mean(on_truth**2)))
                    best = (error, found, f'{cutoff:g} Hz, {law}, prior {weight:g}')
    return best[1:]


@dataclass(frozen=True)
class Fold:
    """Mean products without a fold and in it, (n, k, k), and its share of the rows, (n,)."""

    kept: Array
    left: Array
    share: Array


def _folds(rows: Rows, judged: Rows, labels: list[Array], joints: Array) -> Iterator[Fold]:
    """Yield the folds of both kinds, fitted to rows at one cut-off and judged at another."""
    nearest = np.searchsorted(0.5 * (judged.time[1:] + judged.time[:-1]), rows.time)
    total, count = rows.sums(np.ones(len(rows.time), dtype=bool))
    for kind in labels:
        for fold in np.unique(kind):
            out, size = rows.sums(kind[nearest] == fold)
            left, samples = judged.sums(kind == fold)
            share = samples / np.maximum(judged.used.sum(axis=0), 1)
            kept = (total - out) / np.maximum(count - size, 1)[:, None, None]
            left = left / np.maximum(samples, 1)[:, None, None]
            yield Fold(kept[joints], left[joints], share[joints])


def labels_of(rows: Rows, joints: Array) -> list[Array]:
    """Return the block of time and the region of each row."""
    blocks = np.arange(len(rows.time)) * BLOCKS // len(rows.time)
    moved = rows.position[:, joints]
    scaled = (moved - moved.mean(axis=0)) / np.maximum(moved.std(axis=0), 1e-12)
    start = scaled[np.linspace(0, len(scaled) - 1, REGIONS).astype(int)]
    return [blocks, kmeans2(scaled, start, iter=20, minit='matrix', missing='warn')[1]]
