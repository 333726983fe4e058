# SPDX-License-Identifier: Apache-2.0
"""A few thousand samples of a recording, to which friction laws are fitted.

They determine the law and its shape coefficients, which become part of the model's description.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.options import SAMPLES
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.thinning import Thinning
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.friction_terms import TERMS
from robodyn_ros.models.interface import Array, DynamicModel, Indices, sample_blocks
from robodyn_ros.models.springs import SPRING_TERMS, SpringTerm

Shape = Mapping[str, float]
"""Shape coefficients of a joint."""


@dataclass(frozen=True)
class FrictionSample:
    """Samples of a recording for the fit of rigid body and friction.

    The regressor of the rigid body is smooth, so it is computed at the samples only. Friction is
    not: its columns pass the same low pass as the torque, as in `condense`.

    :param rigid: regressor of the body's base columns, shape (M, n, b)
    :param torque: shape (M, n), in [Nm] or [N]
    :param time: shape (M,), in [s]
    :param position: shape (M, n), in [rad] or [m]
    :param used: samples of each joint that count, shape (M, n)
    :param speed: velocities that the columns are computed from, shape (L, n)
    :param thinning: from those to the M samples
    :param path: positions of all samples, shape (N, n), of which slips are computed
    :param rows: samples of these that the velocities are of
    :param reach: largest velocity of each joint, above zero, shape (n,)
    """

    rigid: Array
    torque: Array
    time: Array
    position: Array
    used: NDArray[np.bool_]
    speed: Array
    thinning: Thinning
    path: Array
    rows: slice | Indices
    reach: Array
    _columns: dict[tuple[object, ...], Array] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, body: DynamicModel, base: BaseParameters, signals: Processed) -> FrictionSample:
        """Take samples all over a recording."""
        given = signals.thinning
        count = given.count(len(signals))
        every = max(1, -(-count // SAMPLES))
        thinning = Thinning(given.taps, given.stride * every)
        count = thinning.count(len(signals))
        centres = thinning.centres(len(signals))
        motion = [values[centres][:count] for values in signals.motion]
        rigid = np.empty((count, len(signals.joints), base.rank))
        for block in sample_blocks(count):
            q, qd, qdd = (values[block] for values in motion)
            rigid[block] = body.select_columns(q, qd, qdd, base.columns)
        measured = signals.torque if len(given.taps) == 1 else signals.measured
        speed = signals.velocity
        kept: slice | Indices = slice(None)
        if thinning.stride > len(given.taps):  # most samples are in no window: leave them out
            kept = np.arange(count)[:, None] * thinning.stride + np.arange(len(given.taps))
            kept = kept.ravel()
            speed, measured = speed[kept], measured[kept]
            thinning = Thinning(given.taps, len(given.taps))
        return cls(
            rigid=rigid,
            torque=thinning.apply(measured),
            time=signals.time[centres][:count],
            position=motion[0],
            used=signals.used[centres][:count],
            speed=np.asfortranarray(speed),  # looked at joint by joint
            thinning=thinning,
            path=signals.position,
            rows=kept,
            # Laws divide by shares of it.
            reach=np.maximum(np.abs(signals.velocity).max(axis=0), np.finfo(float).eps),
        )

    @property
    def joints(self) -> int:
        """Number of joints n."""
        return int(self.rigid.shape[1])

    def column(self, term: str, joint: int, shape: Shape, load: Array | None) -> Array:
        """Return the column of a term for a joint, shape (M,), zero for unused samples.

        :param shape: coefficients of the joint
        :param load: absolute torque of the rigid body, shape (M, n)
        """
        if term in SPRING_TERMS:
            return self._spring_column(SPRING_TERMS[term], joint)
        entry = TERMS[term]
        given = {name: shape[name] for name in (*entry.needs, *entry.uses) if name in shape}
        key = (term, joint, *sorted(given.items()))
        if key not in self._columns:
            coefficients = {name: np.array([value]) for name, value in given.items()}
            raw = entry.column(self.speed[:, joint : joint + 1], coefficients)
            self._columns[key] = self.thinning.apply(raw)[:, 0] * self.used[:, joint]
        if not entry.load:
            return self._columns[key]
        return self._columns[key] * (0.0 if load is None else load[:, joint])

    def _spring_column(self, entry: SpringTerm, joint: int) -> Array:
        if not entry.yields_at:
            return entry.column(self.position[:, joint]) * self.used[:, joint]
        key = (entry.parameter, joint)
        if key not in self._columns:
            raw = entry.column(self.path[:, joint : joint + 1])[self.rows]
            self._columns[key] = self.thinning.apply(raw)[:, 0] * self.used[:, joint]
        return self._columns[key]

    def columns(
        self, terms: tuple[str, ...], joint: int, shape: Shape, load: Array | None
    ) -> Array:
        """Return the columns of several terms side by side, shape (M, k)."""
        side_by_side = np.array([self.column(term, joint, shape, load) for term in terms])
        return np.asarray(side_by_side.T)
