# SPDX-License-Identifier: Apache-2.0
"""Joint friction that is linear in its parameters: one more model, added to the rigid body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.errors import ModelError
from robodyn_ros.models.friction_terms import (
    AUTO,
    COEFFICIENTS,
    DEFAULT_TERMS,
    LAWS,
    TERMS,
    FrictionTerm,
    expand_laws,
)
from robodyn_ros.models.interface import (
    Array,
    DynamicModel,
    Indices,
    Joint,
    SumModel,
    TorqueFunction,
    parts_of,
)
from robodyn_ros.models.springs import SpringModel


@dataclass(frozen=True)
class Load:
    """The torque that load-dependent friction is proportional to: of a body with fixed values.

    :param body: a separate model, because bodies have a state
    :param values: of the body's parameters, shape (p,), SI
    """

    body: DynamicModel
    values: Array

    def torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the absolute torque of every sample, shape (N, n), in [Nm] or [N]."""
        return np.abs(self.body.torque(q, qd, qdd, self.values))

    def torque_function(self) -> TorqueFunction:
        """Return the same as a function of single samples, see `DynamicModel.torque_function`."""
        at = self.body.torque_function(self.values)
        return lambda q, qd, qdd: np.abs(at(q, qd, qdd))


class WeightedTerm(NamedTuple):
    """A term, the shape coefficients of its model, and its parameter values, shape (n,), SI."""

    term: FrictionTerm
    coefficients: Mapping[str, Array]
    weight: Array


class FrictionModel(DynamicModel):
    """Friction of every joint, tau_j = sum over terms of parameter * column(qd_j).

    Default: viscous, Coulomb and a constant offset, as in Swevers, Verdonck and De Schutter,
    "Dynamic model identification for industrial robots" (2007), Eq. 5. Parameters are ordered
    joint by joint, in the order of `terms`. A term may be proportional to the absolute torque of
    the rigid body (Hamon, Gautier and Garrec, 2010). `open` is true if an identification must
    complete the model first; until then unknown shape coefficients are 0.01 rad/s or m/s.
    """

    def __init__(
        self,
        *,
        joints: Sequence[Joint],
        terms: Sequence[str] = DEFAULT_TERMS,
        coefficients: Mapping[str, ArrayLike] | None = None,
        load: Load | None = None,
    ) -> None:
        """Build the model.

        :param terms: names of terms (`TERMS`) or of laws (`LAWS`), or 'auto' alone
        :param coefficients: shape coefficients (`COEFFICIENTS`), one number or one per joint
        :param load: load of the term 'load'
        :raises ModelError: no joints, no terms, an unknown term or one named twice; an unknown
            shape coefficient, or one that is not above 0; a load of other joints
        """
        self.joints = tuple(joints)
        names = (terms,) if isinstance(terms, str) else tuple(terms)
        self.automatic = names == (AUTO,)
        self.terms = DEFAULT_TERMS if self.automatic else expand_laws(names)
        if not self.joints:
            raise ModelError('a friction model needs at least one joint')
        _check_terms(self.terms)
        self.coefficients = _check_coefficients(coefficients or {}, len(self.joints), self.terms)
        self.load = load if self.load_dependent else None
        if load is not None and load.body.joint_names != self.joint_names:
            raise ModelError('the load of a friction model must be the torque of the same joints')
        wanted = {name for term in self.terms for name in TERMS[term].needs}
        self.missing = tuple(sorted(wanted - set(self.coefficients)))
        stand_ins = dict.fromkeys(self.missing, np.full(len(self.joints), 0.01))
        self._coefficients = {**self.coefficients, **stand_ins}
        self.parameters = tuple(
            TERMS[term].of_joint(joint) for joint in self.joints for term in self.terms
        )

    @property
    def load_dependent(self) -> bool:
        """True if a term is proportional to the load."""
        return any(TERMS[term].load for term in self.terms)

    @property
    def open(self) -> bool:
        """True if an identification must complete the model."""
        return bool(self.automatic or self.missing or (self.load_dependent and self.load is None))

    @property
    def velocity_spread(self) -> int:
        """Favour low velocities where terms with shape coefficients act only there."""
        return 7 if self._coefficients.keys() - {'reach', 'exponent'} else 1

    def columns(self, qd: Array) -> list[Array]:
        """Return the factor of each term without its load, each of shape (N, n)."""
        return [TERMS[term].column(qd, self._coefficients) for term in self.terms]

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the regressor, shape (N, n, n * terms); without load a function of velocities."""
        qd = self._velocities(qd)
        return self.regressor_under_load(qd, self._load(q, qd, qdd))

    def _velocities(self, qd: Array) -> Array:
        qd = np.asarray(qd, dtype=np.float64)
        count = len(self.joints)
        if qd.ndim != 2 or qd.shape[1] != count:
            raise ModelError(
                f'friction of {count} joints needs velocities (N, {count}), got {qd.shape}'
            )
        return qd

    def _load(self, q: Array, qd: Array, qdd: Array) -> Array | float:
        return 0.0 if self.load is None else self.load.torque(q, qd, qdd)

    def _factors(self, qd: Array, load: Array | float) -> list[Array]:
        """Return the factor of each term with its load, each of shape (N, n)."""
        loaded = [TERMS[term].load for term in self.terms]
        return [c * load if acts else c for c, acts in zip(self.columns(qd), loaded, strict=True)]

    def pack_columns(self, q: Array, qd: Array, qdd: Array, columns: Sequence[Indices]) -> Array:
        """Return columns of each joint, shape (N, k); those of other joints are zero."""
        qd, terms = self._velocities(qd), len(self.terms)
        factors = self._factors(qd, self._load(q, qd, qdd))
        result = np.zeros((len(qd), sum(len(indices) for indices in columns)))
        wanted = [(joint, int(column)) for joint, part in enumerate(columns) for column in part]
        for place, (joint, column) in enumerate(wanted):
            if column // terms == joint:
                result[:, place] = factors[column % terms][:, joint]
        return result

    def torque(self, q: Array, qd: Array, qdd: Array, values: Array) -> Array:
        """Return the friction of every sample, shape (N, n), in [Nm] or [N]."""
        self._check_values(values)
        result = np.zeros(np.shape(qd))
        qd = self._velocities(qd)
        factors = self._factors(qd, self._load(q, qd, qdd))
        for factor, value in zip(factors, values.reshape(-1, len(self.terms)).T, strict=True):
            result += factor * value
        return result

    def regressor_under_load(self, qd: Array, load: Array | float) -> Array:
        """Return the regressor for a known load, shape (N, n, n * terms).

        :param qd: shape (N, n), in [rad/s] or [m/s]
        :param load: absolute torque of the body, shape (N, n), in [Nm] or [N]
        """
        count, terms, width = len(self.joints), len(self.terms), len(self.parameters)
        result = np.zeros((len(qd), count, width))
        rows = result.reshape(len(qd), count * width)
        for index, factor in enumerate(self._factors(qd, load)):
            # From one joint to the next: one row down and one group of terms to the right.
            rows[:, index :: width + terms] = factor
        return result

    def list_terms(self, values: Array) -> list[WeightedTerm]:
        """Return every term with its coefficients and values, for use in each control cycle.

        :param values: parameter values, shape (n * terms,), SI; the weights (n,) are views of it
        """
        weights = values.reshape(len(self.joints), len(self.terms)).T
        return [
            WeightedTerm(TERMS[term], self._coefficients, weight)
            for term, weight in zip(self.terms, weights, strict=True)
        ]

    def describe(self) -> dict[str, object]:
        """Return joints, terms, shape coefficients and the values of the load's body."""
        content: dict[str, object] = {
            'kind': 'friction',
            'joints': [{'name': joint.name, 'type': joint.type} for joint in self.joints],
            'terms': [AUTO] if self.automatic else list(self.terms),
        }
        content |= {name: values.tolist() for name, values in self.coefficients.items()}
        if self.load is not None:
            content['load'] = self.load.values.tolist()
        return content


def find_unspecified(model: DynamicModel) -> FrictionModel | None:
    """Return the friction that an identification must complete, or None."""
    for part, _ in parts_of(model):
        if isinstance(part, FrictionModel) and part.open:
            return part
    return None


def body_of(model: DynamicModel) -> DynamicModel:
    """Return the model without friction and springs; a ModelError if nothing else is there."""
    others = [
        part for part, _ in parts_of(model) if not isinstance(part, (FrictionModel, SpringModel))
    ]
    if not others:
        raise ModelError('a model of friction alone has no body')
    return others[0] if len(others) == 1 else SumModel(parts=others)


def _check_terms(terms: tuple[str, ...]) -> None:
    if not terms:
        raise ModelError(f'a friction model needs at least one term of {", ".join(TERMS)}')
    for term in terms:
        if term == AUTO:
            raise ModelError('friction "auto" selects all terms: name no others in addition to it')
        if term not in TERMS:
            raise ModelError(
                f'there is no friction term "{term}", there are {", ".join(TERMS)}, and the sets '
                f'{", ".join(LAWS)}'
            )
        if terms.count(term) > 1:
            raise ModelError(f'friction term "{term}" is named twice')


def _check_coefficients(
    given: Mapping[str, ArrayLike], joints: int, terms: tuple[str, ...]
) -> dict[str, Array]:
    """Return the shape coefficients that the terms use, one number per joint."""
    known = {name for term in terms for name in (*TERMS[term].needs, *TERMS[term].uses)}
    result = {}
    for name, values in given.items():
        if name not in COEFFICIENTS:
            raise ModelError(
                f'friction has no coefficient "{name}", it has: {", ".join(COEFFICIENTS)}'
            )
        try:
            array = np.array(np.broadcast_to(np.asarray(values, dtype=np.float64), (joints,)))
        except (TypeError, ValueError):
            raise ModelError(
                f'"{name}" of friction must be one number or {joints}, got {values!r:.80}'
            ) from None
        if not (np.isfinite(array).all() and (array >= 0.0).all()) or (
            name != 'threshold' and not array.all()
        ):
            raise ModelError(f'"{name}" of friction must be above 0, got {array.tolist()}')
        if name in known:
            result[name] = array
    return result
