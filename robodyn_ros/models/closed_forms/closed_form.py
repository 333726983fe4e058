# SPDX-License-Identifier: Apache-2.0
"""Common part of the closed-form models of the softMC document: names, settings, checks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import (
    Array,
    DynamicModel,
    Joint,
    JointType,
    Parameter,
    parts_of,
)
from robodyn_ros.schema import convert

Number = Any
"""A float, or an array (N,) of floats; see `components`."""
_Geometry = TypeVar('_Geometry')


class ClosedFormModel(DynamicModel):
    """A model of the softMC document, "Inverse dynamic model", section 5.4.

    `parameters` are the columns of the regressor, `named_parameters` those of the document, in its
    order. `settings` are what `describe` writes in addition to kind, dynamic model and joints.
    """

    kind: ClassVar[str]
    semi_static: ClassVar[bool] = False
    """True if the model has no dynamic forces, so that it holds for slow samples only."""

    unnamed: ClassVar[tuple[str, ...]] = ()
    """Parameters that the document does not name."""

    body: tuple[int, ...] = ()
    """Indices of inertia about a point, two first moments and mass of one body; or empty."""

    dynamic_model: int
    named_parameters: tuple[Parameter, ...]
    settings: dict[str, object]

    def _set(
        self,
        *,
        joints: tuple[Joint, ...],
        parameters: Sequence[Parameter],
        settings: Mapping[str, object],
        prior: Mapping[str, float] | None,
    ) -> None:
        """Set the attributes of every closed-form model."""
        self.joints = joints
        self.parameters = tuple(parameters)
        self.named_parameters = self.parameters
        self.settings = {key: value for key, value in settings.items() if value is not None}
        self._prior: Array = np.full(len(self.parameters), np.nan)
        names = [item.name for item in self.parameters]
        given = dict(prior or {})
        for name, value in given.items():
            if name not in names:
                raise ModelError(f'{self.title} has no parameter "{name}", it has: {names}')
            self._prior[names.index(name)] = value
        if given:
            self.settings['prior'] = {name: float(given[name]) for name in names if name in given}

    def prior(self) -> Array:
        """Return the values given as `prior`, shape (p,); NaN for the others."""
        return np.array(self._prior)

    def compute_named(self, values: Array) -> Array:
        """Return values of `named_parameters` from parameter values (p,); NaN: not determined."""
        return np.array(values, dtype=np.float64)

    def values_of(self, named: Array) -> Array:
        """Return parameter values (p,) of named ones, the inverse of `named_values`.

        Parameters that do not follow from named ones have their prior value, or 0.

        :raises ModelError: a wrong number of values, or values that contradict each other
        """
        named = np.asarray(named, dtype=np.float64)
        count = len(self.named_parameters)
        if named.shape != (count,):
            raise ModelError(
                f'{self.title} has {count} named parameters here, got {named.size} values'
            )
        values = np.nan_to_num(self._prior)
        values[:count] = named
        return values

    def payload_matrix(self, values: Array) -> Array:
        """Return how a payload changes parameter values, shape (p, 2).

        Values with a payload are values + matrix @ (mass [kg], inertia [kg m^2]); the inertia is
        the one about the last rotary axis.

        :param values: parameter values without payload, shape (p,)
        :raises ModelError: the model cannot carry a payload
        """
        raise ModelError(f'dynamic model {self.label} cannot carry a payload')

    @property
    def label(self) -> str:
        """Name for messages: '1 of a scara'."""
        return f'{self.dynamic_model} of {article(self.kind)}'

    def describe(self) -> dict[str, object]:
        """Return kind, dynamic model, joint names and settings."""
        return {
            'kind': self.kind,
            'dynamic_model': self.dynamic_model,
            'joints': list(self.joint_names),
            **self.settings,
        }

    @property
    def title(self) -> str:
        """Name for messages: 'a scara'."""
        return article(self.kind)


def closed_form_part(model: DynamicModel) -> tuple[ClosedFormModel, slice] | None:
    """Return the closed-form part of a robot's model and its slice of the parameters, or None."""
    for part, place in parts_of(model):
        if isinstance(part, ClosedFormModel):
            return part, place
    return None


def components(states: Array) -> list[Number]:
    """Return the columns of states (N, n): floats for one sample, otherwise arrays (N,).

    A controller that computes one sample per cycle saves the cost of small arrays.
    """
    if len(states) == 1:
        numbers: list[Number] = states[0].tolist()
        if math.isfinite(sum(numbers)):  # math raises an error where numpy returns NaN
            return numbers
    return list(np.array(states.T, dtype=np.float64))


def functions(number: Number) -> Any:
    """Return the module with sin, cos and sqrt for a number: math for floats, else numpy."""
    return math if isinstance(number, float) else np


def check_choice(kind: str, dynamic_model: int, known: Sequence[int]) -> int:
    """Return the number of a dynamic model.

    :raises ModelError: the kind has no model of this number
    """
    if dynamic_model not in known:
        numbers = ', '.join(str(item) for item in known)
        raise ModelError(
            f'{article(kind)} has no dynamic model {dynamic_model}, it has: {numbers}'
        )
    return dynamic_model


def build_joints(
    kind: str, names: Sequence[str], types: Sequence[JointType], least: int | None = None
) -> tuple[Joint, ...]:
    """Make the joints of a robot whose axes have fixed types.

    :param types: type of each joint; the last may be missing down to `least` joints
    :raises ModelError: a wrong number of names, or one that is there twice
    """
    counts = range(least or len(types), len(types) + 1)
    if len(names) not in counts:
        needed = ' or '.join(str(count) for count in counts)
        plural = 's' if counts[-1] > 1 else ''
        raise ModelError(
            f'{article(kind)} has {needed} joint{plural}, got {len(names)}: {list(names)}'
        )
    if len(set(names)) < len(names):
        raise ModelError(
            f'the joints of {article(kind)} must have different names, got {list(names)}'
        )
    return tuple(Joint(name, kind_) for name, kind_ in zip(names, types, strict=False))


def check_geometry(
    kind: str, geometry: object, schema: type[_Geometry], *, what: str = 'geometry'
) -> _Geometry:
    """Return lengths and senses of a robot as an instance of their schema.

    :raises ModelError: an entry is missing, unknown, or has an invalid value
    """
    return convert(geometry, schema, f'the {what} of {article(kind)}', ModelError)


def article(kind: str) -> str:
    """Return the kind with its article: 'a delta', 'an axis'."""
    return f'{"an" if kind[0] in "aeiou" else "a"} {kind}'
