# SPDX-License-Identifier: Apache-2.0
"""Largest torque errors in each block of time and each cell of a threshold map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.threshold_map import Bands
from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class CellMaxima:
    """Largest torque errors of one session.

    :param cell: cell of each sample, shape (N, n)
    :param largest: shape (blocks, n, cells + 1), in [Nm] or [N]; NaN: not visited. The last one is
        the change of the torque error while the reference rests
    :param block: block of each sample, shape (N,)
    """

    cell: NDArray[np.int16]
    largest: Array
    block: NDArray[np.intp]


def cell_maxima(session: Session, bands: Bands, *, length: float) -> CellMaxima:
    """Return the largest torque errors of a session; `length` of the blocks in [s]."""
    block = ((session.time - session.time[0]) / length).astype(np.intp)
    cell = bands.cell(*session.motion(bands.still)).astype(np.int16)
    joints = np.arange(cell.shape[1])
    largest = np.full((int(block[-1]) + 1, len(joints), bands.cells + 1), -np.inf)
    rows = session.used
    np.maximum.at(largest, (block[rows, None], joints, cell[rows]), session.residual[rows])
    if session.change is not None:
        np.fmax.at(largest[..., -1], (block[rows, None], joints), session.change[rows])
    return CellMaxima(cell, np.where(np.isinf(largest), np.nan, largest), block)


def upper(
    largest: Array, *, share: float = 0.9, least: int = 5
) -> tuple[Array, NDArray[np.bool_]]:
    """Return an upper quantile of the block maxima, and the cells that it rests on.

    A cell that was visited in too few blocks gets the largest torque error of its joint.

    :param largest: of one or more sessions, as of `CellMaxima`
    :param share: quantile, 0..1
    :return: shape (n, cells + 1), in [Nm] or [N], and bool of the same shape
    """
    visited = np.isfinite(largest).sum(axis=0) >= least
    with np.errstate(all='ignore'):
        ordered = np.sort(np.where(np.isnan(largest), -np.inf, largest), axis=0)
        count = np.isfinite(largest).sum(axis=0)
        # The order statistic at or above the quantile of the visited blocks.
        rank = len(largest) - 1 - np.floor((1.0 - share) * np.maximum(count - 1, 0)).astype(int)
        value = np.take_along_axis(ordered, rank[None], axis=0)[0]
    most = np.max(np.where(np.isfinite(largest), largest, 0.0)[..., :-1], axis=(0, 2))
    quantile: Array = np.where(visited, value, most[:, None])
    # A torque error of exactly zero would make a threshold that anything exceeds.
    return np.maximum(quantile, np.finfo(np.float32).tiny), visited
