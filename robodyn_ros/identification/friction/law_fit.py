# SPDX-License-Identifier: Apache-2.0
"""Fit of a friction law with unknown shape coefficients.

Three steps alternate, as in document double_encoder, section 5: the shape coefficients of each
joint, fitted to the residual of the rigid body; the linear fit of rigid body and friction of all
joints; and the load on the gears, computed with the new links.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.friction.bounded import (
    braking,
    largest,
    mixing,
    solve_bounded,
    solve_normal,
)
from robodyn_ros.identification.friction.law_state import LawFit, LawState, grid_of
from robodyn_ros.identification.friction.samples import FrictionSample
from robodyn_ros.models.interface import Array

FINER = tuple(2.0 ** (k / 4.0) for k in (-3, -2, -1, 0, 1, 2, 3))
"""Factors of the best shape coefficients that are tried next."""

THRESHOLDS = (0.0, *(0.01 * 1.2**k for k in range(22)))
"""Thresholds that are tried next, as shares of a joint's largest velocity. Friction jumps there: a
threshold near the right one fits no better than none, so the grid must be fine."""

NEAR = (0.92, 0.96, 1.0, 1.04, 1.08)
"""Factors of the best threshold so far that are tried too."""

LOOPS = 12
"""Largest number of iterations, which bounds the time of a fit."""

SETTLED = 1e-3
"""The iterations end when the torque of the rigid body changes by less than this share."""


class FrictionSearch:
    """Fits laws to one sample; what does not depend on the law is computed once."""

    def __init__(self, sample: FrictionSample, prior: tuple[Array, Array]) -> None:
        """Prepare: the rigid body's part of the normal equations, joint by joint.

        :param prior: mean (b,) and precision (b, b) of the rigid body's base values
        """
        self.sample, self.prior = sample, prior
        used = sample.used
        self._rigid = np.ascontiguousarray(
            (sample.rigid * used[:, :, None]).transpose(1, 0, 2)
        )  # (n, M, b)
        self._torque = (sample.torque * used).T.copy()  # (n, M)
        self._gram = self._rigid.transpose(0, 2, 1) @ self._rigid
        self._side = (self._rigid.transpose(0, 2, 1) @ self._torque[:, :, None])[:, :, 0]
        self._counts = np.maximum(used.sum(axis=0), 1)
        size = np.sqrt((self._torque**2).sum(axis=1) / self._counts)
        self._floor = np.maximum(1e-4 * size, 1e-12)
        self.weights: Array = 1.0 / np.maximum(size, self._floor)

    def reweigh(self, terms: tuple[str, ...]) -> None:
        """Set the joints' weights from the residuals of a law without shape coefficients."""
        for _ in range(3):
            self.weights = 1.0 / np.maximum(self.fit(terms).residuals, self._floor)

    def fit(
        self,
        terms: tuple[str, ...],
        *,
        known: Sequence[Mapping[str, float]] | None = None,
        start: LawFit | None = None,
        finer: bool = False,
        load: Array | None = None,
    ) -> LawFit:
        """Fit a law and its shape coefficients.

        :param known: given shape coefficients of each joint
        :param start: fit of a similar law, whose shape coefficients and load are the start
        :param finer: search around the best shape coefficients
        :param load: fixed load, (M, n); None: that of the fitted body, if friction depends on it
        """
        given = known or [{}] * self.sample.joints
        state = LawState.begin(terms, given, start, self.sample.reach)
        keep = load is not None
        state.load = load if keep or not state.loaded or start is None else start.rigid_load
        self._solve(state)
        if state.loaded and state.load is None:  # the first fit was one without load
            state.load = np.abs(state.torque)
            self._solve(state)
        for factors in (None, FINER)[: 1 + finer]:
            for _ in range(LOOPS if state.wanted or (state.loaded and not keep) else 0):
                before = state.torque
                self._shape(state, factors)
                if state.loaded and not keep:
                    state.load = 0.5 * (state.load + np.abs(state.torque))
                self._solve(state)
                change = float(np.linalg.norm(state.torque - before))
                if change <= SETTLED * float(np.linalg.norm(state.torque)):
                    break
        return self._result(state)

    def _result(self, state: LawState) -> LawFit:
        left = np.array(
            [
                np.linalg.norm(self._rest(state, joint) - self._columns(state, joint) @ bounded)
                for joint, bounded in enumerate(state.bounded)
            ]
        )
        return LawFit(
            terms=state.terms,
            shapes=tuple(state.shapes),
            rigid_values=state.values,
            rigid_torque=state.torque,
            load=state.load,
            residuals=np.maximum(left / np.sqrt(self._counts), self._floor),
        )

    def _solve(self, state: LawState) -> None:
        """Fit the rigid body and the amplitudes of all joints, with given shapes and load."""
        b, k = self.rigid_width, len(state.terms)
        joints = self.sample.joints
        total = np.zeros((b + joints * k,) * 2)
        side = np.zeros(b + joints * k)
        mean, precision = self.prior
        total[:b, :b] = self._counts.sum() * precision
        side[:b] = total[:b, :b] @ mean
        for joint in range(joints):
            weight, place = self.weights[joint] ** 2, slice(b + joint * k, b + (joint + 1) * k)
            columns = self._columns(state, joint)
            cross = self._rigid[joint].T @ columns
            total[:b, :b] += weight * self._gram[joint]
            total[:b, place] += weight * cross
            total[place, :b] += weight * cross.T
            total[place, place] += weight * columns.T @ columns
            side[:b] += weight * self._side[joint]
            side[place] += weight * columns.T @ self._torque[joint]
        values = solve_bounded(total, side, *self._bounds(state.terms))
        state.values, state.bounded = values[:b], values[b:].reshape(joints, k)
        rigid = self.sample.rigid
        state.torque = (rigid.reshape(-1, b) @ state.values).reshape(rigid.shape[:2])

    def _shape(self, state: LawState, factors: Sequence[float] | None) -> None:
        """Fit the shape coefficients of each joint to the residual of the rigid body."""
        for joint, shape in enumerate(state.shapes):
            rest, reach = self._rest(state, joint), float(self.sample.reach[joint])
            alone = factors is not None and 'threshold' in state.wanted
            together = [name for name in state.wanted if not (alone and name == 'threshold')]
            grids = [grid_of(name, shape[name], reach, factors) for name in together]
            tried = [dict(zip(together, each, strict=True)) for each in product(*grids)]
            self._take_best(state, joint, tried, rest)
            if alone:
                near = [factor * shape['threshold'] for factor in NEAR]
                every = [*near, *(share * reach for share in THRESHOLDS)]
                self._take_best(state, joint, [{'threshold': each} for each in every], rest)

    def _take_best(
        self, state: LawState, joint: int, tried: Sequence[Mapping[str, float]], rest: Array
    ) -> None:
        """Set the shape coefficients of a joint that have the smallest residual."""
        shape = state.shapes[joint]
        left = [self._shape_cost(state, joint, {**shape, **each}, rest) for each in tried]
        shape.update(tried[int(np.argmin(left))])

    def _shape_cost(
        self, state: LawState, joint: int, shape: Mapping[str, float], rest: Array
    ) -> float:
        """Return the squared residual of a shape, without the constant square of the torque."""
        columns = self._mix_columns(state.terms, joint, shape, state.load)
        side = columns.T @ rest
        gram, bounds = columns.T @ columns, (braking(state.terms), largest(state.terms))
        values = solve_bounded(gram, side, *bounds)
        return float(values @ (gram @ values - 2.0 * side))

    def _bounds(self, terms: tuple[str, ...]) -> tuple[NDArray[np.bool_], Array]:
        """Return which values of rigid body and friction are not negative, and the largest."""
        joints, rigid = self.sample.joints, np.full(self.rigid_width, np.inf)
        held = np.append(np.zeros(self.rigid_width, bool), np.tile(braking(terms), joints))
        return held, np.append(rigid, np.tile(largest(terms), joints))

    def _columns(self, state: LawState, joint: int) -> Array:
        return self._mix_columns(state.terms, joint, state.shapes[joint], state.load)

    def _mix_columns(
        self, terms: tuple[str, ...], joint: int, shape: Mapping[str, float], load: Array | None
    ) -> Array:
        """Return the columns of values that are not negative where terms brake, shape (M, k)."""
        mixed: Array = self.sample.columns(terms, joint, shape, load) @ mixing(terms)
        return mixed

    def _rest(self, state: LawState, joint: int) -> Array:
        """Return the torque of a joint minus that of the rigid body, (M,), zero where not used."""
        rest: Array = self._torque[joint] - state.torque[:, joint] * self.sample.used[:, joint]
        return rest

    def rigid_triangle(self, fit: LawFit) -> Array:
        """Return the triangle R (b, b) that measures other values of the rigid body.

        ||R (x - rigid values)||^2 is what values x add to the mean squared residual, relative to
        its variance, with the friction fitted to x.
        """
        state = LawState(fit.terms, (), [dict(shape) for shape in fit.shapes], fit.load)
        weights = 1.0 / np.maximum(fit.residuals, self._floor)
        total = np.zeros((self.rigid_width,) * 2)
        for joint, weight in enumerate(weights):
            columns = self._columns(state, joint)
            cross = columns.T @ self._rigid[joint]
            explained = cross.T @ solve_normal(columns.T @ columns, cross)
            total += weight**2 * (self._gram[joint] - explained)
        size, axes = np.linalg.eigh(total / self._counts.sum())
        return np.asarray(np.sqrt(np.maximum(size, 0.0))[:, None] * axes.T)

    def carries_load(self, fit: LawFit) -> bool:
        """Return True if the body loads a joint by more torque than a law leaves unexplained."""
        torque = (fit.rigid_torque * self.sample.used).T
        load = np.linalg.norm(torque, axis=1) / np.sqrt(self._counts)
        return bool((load > fit.residuals).any())

    @property
    def samples(self) -> int:
        """Number of samples of the joint with the most."""
        return int(self._counts.max())

    @property
    def rigid_width(self) -> int:
        """Number of base values b of the body."""
        return int(self._gram.shape[1])
