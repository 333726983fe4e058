# SPDX-License-Identifier: Apache-2.0
"""Criteria of a motion for the identification of base parameters; smaller is better.

Sources: documents "double_encoder_identification_2023", section 3 (condition number, weighted,
Eq. 12, and the block objective, Eq. 14) and "local_identification", section III (D-optimality,
Eq. 8 and 9). W is the regressor of all samples, one row per sample and joint, with the base
columns of the model; s_1 >= ... >= s_b are its singular values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.design.spectrum import (
    Spectrum,
    independent_columns,
    log_condition,
    log_det,
    log_normalised_condition,
)
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.interface import DynamicModel, sample_blocks
from robodyn_ros.models.sensitivity import state_gradient

CriterionName = Literal['cond', 'block', 'block_by_condition', 'det']
CRITERIA: tuple[str, ...] = get_args(CriterionName)
Normalisation = Literal['multiply', 'divide', 'none']
NORMALISATIONS: tuple[str, ...] = get_args(Normalisation)

BLOCKS = ('acceleration', 'velocity', 'position')
COMPLETE = 'whole'


States = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Options:
    """Options of a criterion.

    :param name: 'cond': log10 s_1/s_b; 'block': log10 of Eq. 14, weighted by variances;
        'block_by_condition': the same, by condition numbers; 'det': -log10 det(W'W), Eq. 9
    :param torque_weights: factor (n,) of each joint's rows, see `torque_weights`; None: ones
    :param normalised_share: share, below 1, of the condition number with columns scaled to unit
        length. It does not depend on the scale of the motion, so that it is never used alone.
    """

    name: CriterionName = 'cond'
    torque_weights: tuple[float, ...] | None = None
    normalised_share: float = 0.0

    @property
    def blocks(self) -> bool:
        """True if it is the objective of Eq. 14."""
        return self.name.startswith('block')


def torque_weights(nominal: Sequence[float] | Array, how: Normalisation) -> tuple[float, ...]:
    """Compute row weights from nominal torques (n,) in [Nm] or [N].

    Document "local_identification", Eq. 8, multiplies by tau_nom / max tau_nom, which favours
    the big axes; dividing by it makes the axes comparable.

    :raises MotionError: a torque that is not above zero, or another word
    """
    values = np.asarray(nominal, dtype=float)
    if not (np.isfinite(values) & (values > 0.0)).all():
        raise MotionError(f'nominal torques must be finite and above 0, got {values.tolist()}')
    if how not in NORMALISATIONS:
        raise MotionError(f'torque normalisation must be one of {NORMALISATIONS}, got {how!r}')
    power = {'multiply': 1.0, 'divide': -1.0, 'none': 0.0}[how]
    return tuple(float(value) for value in (values / values.max()) ** power)


class Criterion:
    """Criterion for one model, with columns and weights chosen once on random data."""

    def __init__(
        self,
        model: DynamicModel,
        options: Options | None = None,
        *,
        reference: States | None = None,
    ) -> None:
        """Choose columns and weights.

        :param reference: random states (M, n), within the limits, on which the block objective's
            columns and variance weights are chosen; None: positions anywhere, velocities and
            accelerations up to 1 per second
        :raises MotionError: an option that cannot be used
        """
        self.model = model
        self.options = options or Options()
        _check(self.options, len(model.joints))
        self.columns = base_parameters(model).columns
        weights = self.options.torque_weights
        self.rows = np.ones(len(model.joints)) if weights is None else np.array(weights)
        self._gradient = state_gradient(model)
        self.block_columns: dict[str, NDArray[np.intp]] = {}
        self.block_weights: dict[str, float] = {}
        if self.options.blocks:
            self._choose_blocks(random_states(model) if reference is None else reference)

    def matrix(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return W, shape (N n, b), with weighted rows, of states (N, n)."""
        count = len(self.columns)
        result = np.empty((len(q), len(self.model.joints), count))
        for block in sample_blocks(len(q)):
            regressor = self.model.regressor(q[block], qd[block], qdd[block])
            result[block] = regressor[:, :, self.columns]
        result *= self.rows[:, None]
        return result.reshape(-1, count)

    def value(self, q: Array, qd: Array, qdd: Array) -> float:
        """Return the criterion of states (N, n); infinite if the motion excites no parameter."""
        return self._evaluate((q, qd, qdd), np.inf, gradient=False)[0]

    def smooth(
        self, q: Array, qd: Array, qdd: Array, sharpness: float = np.inf
    ) -> tuple[float, States]:
        """Return the smoothed criterion (see `log_condition`), and derivatives by q, qd, qdd."""
        return self._evaluate((q, qd, qdd), sharpness, gradient=True)

    def figures(self, q: Array, qd: Array, qdd: Array) -> dict[str, float]:
        """Return all criteria: condition numbers, log10 det(W'W), and the block objective."""
        matrix = self.matrix(q, qd, qdd)
        spectrum = Spectrum.of(matrix)
        length = np.linalg.norm(matrix, axis=0)
        scaled = matrix / np.where(length > 0.0, length, 1.0)
        result = {
            'condition_number': spectrum.condition_number,
            'normalised_condition_number': Spectrum.of(scaled).condition_number,
            'log10_det': spectrum.log10_det,
        }
        if self.options.blocks:
            parts = self._parts((q, qd, qdd))
            for name in BLOCKS:
                block = Spectrum.of(parts[name][:, self.block_columns[name]])
                result[f'{name}_condition_number'] = block.condition_number
            result['block_objective'] = sum(self.block_weights.values()) * result[
                'condition_number'
            ] + sum(
                self.block_weights[name] * result[f'{name}_condition_number'] for name in BLOCKS
            )
        return result

    def _evaluate(
        self, states: States, sharpness: float, *, gradient: bool
    ) -> tuple[float, States]:
        if self.options.blocks:
            return self._block(states, sharpness, gradient)
        matrix = self.matrix(*states)
        value, by_matrix = self._of_matrix(matrix, sharpness)
        if not gradient or not np.isfinite(value):
            return value, _zeros(states)
        return value, self._pull(by_matrix, states)

    def _of_matrix(self, matrix: Array, sharpness: float) -> tuple[float, Array]:
        spectrum = Spectrum.of(matrix)
        if self.options.name == 'det':
            value, slope = log_det(spectrum)
        else:
            value, slope = log_condition(spectrum, sharpness)
        by_matrix = spectrum.pull(matrix, slope)
        share = self.options.normalised_share
        if share > 0.0:
            beside, more = log_normalised_condition(matrix, sharpness)
            value = (1.0 - share) * value + share * beside
            by_matrix = (1.0 - share) * by_matrix + share * more
        return value, by_matrix

    def _pull(self, by_matrix: Array, states: States) -> States:
        """Convert derivatives by the weighted regressor to those by the state."""
        q, qd, qdd = states
        shape = (len(q), len(self.model.joints), -1)
        weights = np.zeros((*shape[:2], len(self.model.parameters)))
        weights[:, :, self.columns] = by_matrix.reshape(shape) * self.rows[:, None]
        return self._gradient(weights, q, qd, qdd)

    def _parts(self, states: States) -> dict[str, Array]:
        """Return W and its terms: acceleration Y(q, 0, qdd) - Y(q, 0, 0), velocity, ..."""
        complete, moved, turned, still = np.split(self.matrix(*_four(states)), 4)
        return {
            COMPLETE: complete,
            'acceleration': moved - still,
            'velocity': turned - still,
            'position': still,
        }

    def _choose_blocks(self, reference: States) -> None:
        """Choose independent columns of each block, and its weight.

        The document weighs by variance, and says that larger condition numbers weigh more; these
        are different orders, so either can be chosen. The sum of the weights is one.
        """
        by_variance = self.options.name == 'block'
        parts = self._parts(reference)
        for name in BLOCKS:
            part = parts[name]
            columns = independent_columns(part)
            if len(columns):
                self.block_columns[name] = columns
                chosen = part[:, columns]
                self.block_weights[name] = (
                    float(chosen.var(axis=0).mean())
                    if by_variance
                    else Spectrum.of(chosen).condition_number
                )
        total = sum(self.block_weights.values())
        self.block_weights = {name: w / total for name, w in self.block_weights.items()}

    def _block(self, states: States, sharpness: float, gradient: bool) -> tuple[float, States]:
        """Return log10 of Eq. 14, (sum w) cond(W) + sum over blocks of w cond(block)."""
        parts = self._parts(states)
        every = np.arange(len(self.columns))
        terms = [_Term(parts[COMPLETE], every, 1.0, sharpness)]
        for name, weight in self.block_weights.items():
            terms.append(_Term(parts[name], self.block_columns[name], weight, sharpness))
        # sum of w 10^value without overflow where a block switched to its determinant
        top = max(term.value for term in terms)
        if not np.isfinite(top):
            return np.inf, _zeros(states)
        shares = np.array([term.weight * 10.0 ** (term.value - top) for term in terms])
        result = top + float(np.log10(shares.sum()))
        if not gradient:
            return result, _zeros(states)
        by_part = dict.fromkeys(parts, np.zeros(parts[COMPLETE].shape))
        names = [COMPLETE, *self.block_weights]
        for name, term, share in zip(names, terms, shares / shares.sum(), strict=True):
            by_part[name] = term.by_matrix(share)
        return result, self._pull_parts(by_part, states)

    def _pull_parts(self, by_part: dict[str, Array], states: States) -> States:
        """Convert derivatives by the parts to those by the state; zero states stay zero."""
        moved, turned = by_part['acceleration'], by_part['velocity']
        still = by_part['position'] - moved - turned
        by_four = np.concatenate([by_part[COMPLETE], moved, turned, still])
        pulled = np.array(self._pull(by_four, _four(states)))
        q, qd, qdd = pulled.reshape(3, 4, *states[0].shape)
        return q.sum(axis=0), qd[0] + qd[2], qdd[0] + qdd[1]


class _Term:
    """One condition number of Eq. 14, of columns of a part of W, with its derivative."""

    def __init__(
        self, matrix: Array, columns: NDArray[np.intp], weight: float, sharpness: float
    ) -> None:
        self._matrix, self._columns, self.weight = matrix, columns, weight
        self._spectrum = Spectrum.of(matrix[:, columns])
        self.value, self._slope = log_condition(self._spectrum, sharpness)

    def by_matrix(self, share: float) -> Array:
        """Return the share of the derivative by the part."""
        result = np.zeros(self._matrix.shape)
        chosen = self._matrix[:, self._columns]
        result[:, self._columns] = self._spectrum.pull(chosen, share * self._slope)
        return result


def _four(states: States) -> States:
    """Return states (4 N, n): unchanged, without velocity, acceleration, or both."""
    q, qd, qdd = states
    rest = np.zeros(q.shape)
    return (
        np.concatenate([q, q, q, q]),
        np.concatenate([qd, rest, qd, rest]),
        np.concatenate([qdd, qdd, rest, rest]),
    )


def random_states(
    model: DynamicModel,
    *,
    velocity: Array | float = 1.0,
    acceleration: Array | float = 1.0,
) -> States:
    """Return random states (M, n), uniform within the model's positions and given magnitudes."""
    shares = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 500, len(model.joints)))
    return model.positions(shares[0]), shares[1] * velocity, shares[2] * acceleration


def _check(options: Options, joints: int) -> None:
    if options.name not in CRITERIA:
        raise MotionError(f'there is no criterion {options.name!r}, there are: {CRITERIA}')
    if not 0.0 <= options.normalised_share < 1.0:
        raise MotionError(
            'the column-normalised condition number is blind to the scale of a motion: its share '
            f'must be at least 0 and below 1, got {options.normalised_share}'
        )
    weights = options.torque_weights
    if weights is not None and (len(weights) != joints or not min(weights) > 0.0):
        raise MotionError(f'torque weights must be {joints} numbers above 0, got {weights}')


def _zeros(states: States) -> States:
    shape = states[0].shape
    return np.zeros(shape), np.zeros(shape), np.zeros(shape)
