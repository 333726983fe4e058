"""What the diagnosis works on: a few thousand samples of a recording, fitted joint by joint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn_ros.identification.factors.condense import Condensed, Indices
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processing import Processed
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording

SAMPLES = 2500
"""Samples that a diagnosis looks at, whatever the recording's length: it must stay cheap."""

LONGEST_SHIFT = 0.05
"""Largest shift in time between position and torque that is looked for, in [s]."""

_DEPENDENT = 1e-5
"""Directions of a joint's regressor (columns scaled) below this share of the largest are noise."""

_FLOOR = 0.01
"""No joint is trusted to fit better than this share of its RMS torque: no model is exact."""


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
class OwnFit:
    """Least squares of one joint's torque alone, as if it shared no parameter with the others.

    :param rows: samples of the `Sample` that are used, shape (m,)
    :param columns: base columns that act on the joint, shape (k,)
    :param matrix: regressor of the joint on these, shape (m, k)
    :param basis: orthonormal basis of its columns, shape (m, r)
    :param inverse: pseudo-inverse, shape (k, m)
    :param torque: low-passed torque, shape (m,)
    """

    rows: Indices
    columns: Indices
    matrix: Array
    basis: Array
    inverse: Array
    torque: Array

    @property
    def values(self) -> Array:
        """Base values of `columns` by this joint alone, shape (k,)."""
        return self.inverse @ self.torque

    @cached_property
    def rest(self) -> Array:
        """Torque that the model cannot explain with any values, shape (m,)."""
        rest: Array = self.torque - self.basis @ (self.basis.T @ self.torque)
        return rest

    @property
    def rms(self) -> float:
        """RMS of the torque, in [Nm] or [N]."""
        return root_mean_square(self.torque)

    @property
    def sigma(self) -> float:
        """RMS of `rest`, with the degrees of freedom used up, not below a share of `rms`."""
        freedom = max(len(self.torque) - self.basis.shape[1], 1)
        size = float(np.linalg.norm(self.rest)) / np.sqrt(freedom)
        return float(max(size, _FLOOR * self.rms, 1e-12))


@dataclass(frozen=True)
class Sample:
    """Evenly spaced samples of the processed signals.

    :param rows: of `Case.signals`, shape (M,), far enough from the ends to look `reach` further
    :param regressor: base columns only, shape (M, n, b)
    :param own: fit of each joint alone; None for a joint without enough samples
    """

    rows: Indices
    reach: int
    regressor: Array
    own: tuple[OwnFit | None, ...]

    def fits(self) -> Iterator[tuple[int, OwnFit]]:
        """Joints that can be fitted alone, with their fits."""
        return ((joint, own) for joint, own in enumerate(self.own) if own is not None)


def draw(case: Case) -> Sample:
    """Take samples and fit each joint alone."""
    signals = case.signals
    reach = int(min(np.ceil(LONGEST_SHIFT * case.rate), len(signals) // 8))
    count = min(SAMPLES, len(signals) - 2 * reach)
    rows = np.linspace(reach, len(signals) - 1 - reach, count).astype(np.intp)
    q, qd, qdd = (values[rows] for values in signals.motion)
    regressor = case.model.selected(q, qd, qdd, case.base.columns)
    own = [
        own_fit(regressor[:, joint], factor.columns, signals.torque[rows, joint], used)
        for joint, (factor, used) in enumerate(
            zip(case.condensed.segments[0], signals.used[rows].T, strict=True)
        )
    ]
    return Sample(rows=rows, reach=reach, regressor=regressor, own=tuple(own))


def own_fit(regressor: Array, columns: Indices, torque: Array, used: Array) -> OwnFit | None:
    """Fit one joint alone; None with too few samples.

    :param regressor: of the joint, shape (M, b)
    :param used: which samples count, shape (M,)
    """
    rows = np.flatnonzero(used)
    if len(rows) < 4 * max(len(columns), 1):
        return None
    matrix = regressor[np.ix_(rows, columns)]
    length = np.linalg.norm(matrix, axis=0)
    if not length.any():  # nothing acts on it, as on a joint that never moves
        return None
    scale = np.where(length > 0.0, length, 1.0)
    orthogonal, triangle = np.linalg.qr(matrix / scale)
    left, singular, right = np.linalg.svd(triangle)
    left = orthogonal @ left
    kept = singular > _DEPENDENT * singular[0]
    inverse = (right[kept].T / singular[kept]) @ left[:, kept].T / scale[:, None]
    return OwnFit(rows, columns, matrix, left[:, kept], inverse, torque[rows])


def root_mean_square(values: Array) -> float:
    """Root mean square of all values."""
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0
