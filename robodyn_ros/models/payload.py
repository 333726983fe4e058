# SPDX-License-Identifier: Apache-2.0
"""Payload of a robot: its effect on the arm's parameters and on the torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.closed_forms.closed_form import ClosedFormModel, article
from robodyn_ros.models.interface import Array, DynamicModel, Parameter, parts_of
from robodyn_ros.models.serial.inertia import (
    INERTIAL_NAMES,
    INERTIAL_UNITS,
    inertia_tensor,
    pseudo_inertia,
    ten_parameters,
)
from robodyn_ros.models.serial.urdf import UrdfModel

MASS, INERTIA = Parameter('payload.mass', 'kg'), Parameter('payload.inertia', 'kg m^2')
_MASSES = (MASS.name, 'payload.m', 'payload.M')


class PayloadModel(DynamicModel):
    """The torque of a payload alone, linear in the payload's parameters.

    Its torque is Y M x with the arm's regressor Y, `matrix` M and the payload's values x. For a
    URDF robot x are the ten parameters of a rigid body in a link's frame, for the models of the
    softMC document mass and inertia (`ClosedFormModel.payload_matrix`). An axis whose `prior` does
    not give its lever arm identifies the products that add to its parameters (`products`).
    """

    def __init__(self, *, arm: DynamicModel, frame: str = '') -> None:
        """Determine how the arm carries a payload.

        :param frame: URDF robots: link in whose frame the payload is described; default: the
            link that the last joint moves
        :raises ModelError: the arm cannot carry a payload, or does not have the frame
        """
        self.arm = arm
        self.joints = arm.joints
        self.products: tuple[str, ...] = ()
        self._part, self._first = _body(arm)
        if isinstance(self._part, UrdfModel):
            self.frame, mapping = _rigid_body(self._part, frame)
            self.parameters = tuple(
                Parameter(f'payload.{name}', unit, self.joints[-1].name)
                for name, unit in zip(INERTIAL_NAMES, INERTIAL_UNITS, strict=True)
            )
        else:
            self.parameters, mapping, self.products = _scalars(self._part)
            if frame:
                raise ModelError(
                    f'{article(self._part.kind)} carries its payload at the last axis and has no '
                    f'frame {frame!r}'
                )
            self.frame = ''
        self._mapping = mapping
        self.matrix = np.zeros((len(arm.parameters), len(self.parameters)))
        self.matrix[self._first : self._first + len(mapping)] = mapping

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the regressor of the payload's parameters, shape (N, n, k)."""
        result: Array = self._part.regressor(q, qd, qdd) @ self._mapping
        return result

    def position_limits(self) -> Array:
        """Return the limits of the arm, shape (n, 2)."""
        return self.arm.position_limits()

    def body_torque(self, q: Array, qd: Array, qdd: Array, values: Array) -> Array:
        """Compute the torque of the arm without friction, shape (N, n), in [Nm] or [N].

        :param values: parameter values of the arm, shape (p,), SI
        """
        of_part = values[self._first : self._first + len(self._mapping)]
        return self._part.torque(q, qd, qdd, of_part)

    @property
    def unit_mass(self) -> Array:
        """Change of the arm's parameter values by 1 kg, or one of each product, shape (p,)."""
        unit = [1.0 if item.name in _MASSES or self.products else 0.0 for item in self.parameters]
        result: Array = self.matrix @ np.array(unit)
        return result

    def describe(self) -> dict[str, object]:
        """Return the description of the arm, and the frame."""
        return {'kind': 'payload', 'arm': self.arm.describe(), 'frame': self.frame}

    def values_of(
        self, mass: float, *, center_of_mass: Sequence[float] = (), inertia: Sequence[float] = ()
    ) -> Array:
        """Return the values (k,) of a payload with known data.

        :param mass: in [kg]
        :param center_of_mass: URDF robots: x, y, z in the frame, in [m]; empty: its origin
        :param inertia: in [kg m^2]; URDF robots: Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the centre
            of mass, along the frame's axes; other models: the one about the last rotary axis.
            Empty: a point mass
        :raises ModelError: physically impossible or too many or few numbers, or a mass that this
            model cannot convert to torque
        """
        for name, value in (('mass', [mass]), ('centre', center_of_mass), ('inertia', inertia)):
            if not np.isfinite(np.asarray(value, dtype=float)).all():
                raise ModelError(f"the payload's {name} must be finite, got {value}")
        if mass < 0.0:
            raise ModelError(f"the payload's mass must not be negative, got {mass:g} kg")
        if mass == 0.0 and np.any(inertia):
            raise ModelError(f'no body of 0 kg has an inertia, got {list(inertia)} kg m^2')
        if isinstance(self._part, UrdfModel):
            return _ten_of(mass, center_of_mass, inertia)
        return self._scalar_values(mass, center_of_mass, inertia)

    def _scalar_values(
        self, mass: float, center_of_mass: Sequence[float], inertia: Sequence[float]
    ) -> Array:
        robot = article(str(self._part.describe()['kind']))
        if np.any(center_of_mass):
            raise ModelError(
                f'the payload of {robot} is fixed to its last axis: give no centre of mass'
            )
        if len(inertia) > 1 or any(value < 0.0 for value in inertia):
            raise ModelError(
                f"the payload's inertia on {robot} is one number, not negative, got "
                f'{list(inertia)}'
            )
        given = {MASS: float(mass), INERTIA: float(sum(inertia))}
        if self.products and any(given.values()):
            raise ModelError(
                f'{", ".join(self.products)} of {robot} must be known to carry a payload by its '
                f'mass: give them in "prior" of the model description'
            )
        return np.array([given.get(item, 0.0) for item in self.parameters])


@dataclass(frozen=True)
class Payload:
    """A payload with its values.

    :param values: of the parameters of the model, shape (k,), SI
    :param stddevs: shape (k,); NaN: only combinations are known; None: not identified but given
    """

    model: PayloadModel
    values: Array
    stddevs: Array | None = None

    @property
    def added(self) -> Array:
        """Change of the arm's parameter values, shape (p,)."""
        result: Array = self.model.matrix @ self.values
        return result

    @property
    def size(self) -> tuple[float, float, float]:
        """Mass [kg], first moment [kg m] and largest inertia [kg m^2], in the link's frame."""
        if len(self.values) != len(INERTIAL_NAMES):
            by_parameter = dict(zip(self.model.parameters, self.values.tolist(), strict=True))
            mass, inertia = by_parameter.get(MASS, 0.0), by_parameter.get(INERTIA, 0.0)
            return abs(float(mass)), 0.0, abs(float(inertia))
        ten = self.added[: 10 * len(self.model.joints)].reshape(-1, 10).sum(axis=0)
        # At least the largest principal moment.
        largest = np.abs(inertia_tensor(ten)).sum(axis=1).max()
        return abs(float(ten[0])), float(np.linalg.norm(ten[1:4])), float(largest)

    @property
    def mass(self) -> float:
        """Mass [kg]; NaN if the model does not have it as a parameter."""
        for item, value in zip(self.model.parameters, self.values.tolist(), strict=True):
            if item.name in _MASSES:
                return float(value)
        return float('nan')

    @property
    def center_of_mass(self) -> Array | None:
        """Centre of mass (3,) in the frame, in [m], or None if it is not known."""
        if len(self.values) != len(INERTIAL_NAMES) or not self.values[0] > 0.0:
            return None
        return np.asarray(self.values[1:4] / self.values[0])

    def on(self, before: Payload | None) -> Payload:
        """Return the payload after this change, as a point mass that is not negative.

        :param before: payload in the same frame; None: there was none
        """
        total = Payload(self.model, self.values if before is None else before.values + self.values)
        center = total.center_of_mass
        values = self.model.values_of(
            max(float(total.values[0]), 0.0),
            center_of_mass=() if center is None else center.tolist(),
        )
        return Payload(self.model, values)


def payload_of(
    arm: DynamicModel,
    mass: float,
    *,
    center_of_mass: Sequence[float] = (),
    inertia: Sequence[float] = (),
    frame: str = '',
) -> Payload:
    """Make a payload of known data; see `PayloadModel` and `PayloadModel.values_of`.

    :raises ModelError: the arm cannot carry it, or the data are physically impossible
    """
    model = PayloadModel(arm=arm, frame=frame)
    values = model.values_of(mass, center_of_mass=center_of_mass, inertia=inertia)
    return Payload(model=model, values=values)


def _body(arm: DynamicModel) -> tuple[UrdfModel | ClosedFormModel, int]:
    """Return the part of an arm that carries a payload, and the index of its first parameter."""
    for part, place in parts_of(arm):
        if isinstance(part, (UrdfModel, ClosedFormModel)):
            return part, place.start
    raise ModelError(f'a model of kind {arm.describe()["kind"]} cannot carry a payload')


def _scalars(
    part: ClosedFormModel,
) -> tuple[tuple[Parameter, ...], Array, tuple[str, ...]]:
    """Return parameters, matrix and unknown lever arms of a model of the softMC document."""
    levers = part.prior()  # a lever arm has no effect without payload: only a-priori values help
    matrix = part.payload_matrix(levers)
    unknown = np.isnan(matrix).any(axis=1)
    if unknown.any():
        felt = np.flatnonzero(matrix.any(axis=1))
        named = [part.parameters[k] for k in felt]
        parameters = tuple(Parameter(f'payload.{item.name}', item.unit) for item in named)
        names = tuple(
            item.name
            for item, value in zip(part.parameters, levers, strict=True)
            if np.isnan(value) and item.name in ('L^2', 'g*L', 'g*cos(alpha)')
        )
        return parameters, np.eye(len(part.parameters))[:, felt], names
    acting = [k for k in range(2) if matrix[:, k].any()]
    return tuple((MASS, INERTIA)[k] for k in acting), matrix[:, acting], ()


def _rigid_body(part: UrdfModel, frame: str) -> tuple[str, Array]:
    """Return the frame's name, and the matrix (p, 10) from ten parameters in it to the arm's."""
    frame = frame or part.parameters[10 * len(part.joints) - 1].name.rpartition('.')[0]
    index, pose = part.tree.place(frame)
    if index < 0:
        raise ModelError(
            f'link {frame!r} of {part.urdf.source} is not moved by any joint: a payload there has '
            f'no effect'
        )
    matrix = np.zeros((len(part.parameters), 10))
    first = 10 * part.tree.bodies[index].joint
    moved = pose @ pseudo_inertia(np.eye(10)) @ pose.T
    matrix[first : first + 10] = np.transpose([ten_parameters(each) for each in moved])
    return frame, matrix


def _ten_of(mass: float, center_of_mass: Sequence[float], inertia: Sequence[float]) -> Array:
    """Return the ten parameters (10,) of a body; see `PayloadModel.values_of`."""
    for what, given, count in (('centre of mass', center_of_mass, 3), ('inertia', inertia, 6)):
        if len(given) not in (0, count):
            raise ModelError(
                f"the payload's {what} needs {count} numbers, got {len(given)}: {list(given)}"
            )
    xx, xy, xz, yy, yz, zz = inertia if len(inertia) else np.zeros(6)
    central = pseudo_inertia(np.array([mass, 0.0, 0.0, 0.0, xx, xy, yy, xz, yz, zz]))
    second = central[:3, :3]
    if not np.isfinite(second).all():
        raise ModelError(
            f'the inertia {list(inertia)} kg m^2 is too large for a payload: check the unit'
        )
    if np.linalg.eigvalsh(second).min() < -1e-9 * max(1.0, np.abs(second).max()):
        raise ModelError(
            f'the inertia {list(inertia)} kg m^2 is impossible: principal moments must not be '
            f'negative, and none larger than the sum of the two others'
        )
    pose = np.eye(4)
    pose[:3, 3] = center_of_mass if len(center_of_mass) else 0.0
    return ten_parameters(pose @ central @ pose.T)
