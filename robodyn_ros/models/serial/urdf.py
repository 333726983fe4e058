# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics of any serial robot from its URDF, computed with Pinocchio."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pinocchio as pin

from robodyn_ros.errors import ModelError
from robodyn_ros.models import interface
from robodyn_ros.models.interface import (
    Array,
    DynamicModel,
    Indices,
    Joint,
    JointType,
    Parameter,
    TorqueFunction,
    parts_of,
)
from robodyn_ros.models.serial.inertia import INERTIAL_NAMES, INERTIAL_UNITS, ten_parameters
from robodyn_ros.models.serial.rigid_columns import Body, RigidColumns
from robodyn_ros.models.serial.tree import Tree, body_tree
from robodyn_ros.models.serial.urdf_file import UrdfFile, UrdfJoint, parse_urdf, read_urdf

GRAVITY = (0.0, 0.0, -interface.GRAVITY)
"""Default gravity [m/s^2] in the frame of the root link."""

_MANY = 64
"""Smallest number of samples for which vectorised code is faster than a loop."""


class UrdfModel(DynamicModel):
    """Links and rotors of a robot described by a URDF.

    Parameters: for each moving joint the ten of its child link (fixed children folded in), in
    joint order, then one rotor inertia per joint, which adds qdd on the diagonal. Regressor:
    Atkeson, An and Hollerbach, "Estimation of inertial parameters of manipulator loads and links"
    (1986), Eq. 12, by Pinocchio for few samples and `RigidColumns` for many. Use one model per
    thread.
    """

    def __init__(
        self,
        *,
        urdf: UrdfFile,
        joints: Sequence[str] | None = None,
        gravity: Sequence[float] = GRAVITY,
        rotor_inertia: bool = True,
    ) -> None:
        """Build the model.

        :param joints: moving joints to use, in this order; others are locked at zero. Default:
            every moving joint, from the base outwards.
        :param gravity: in the frame of the root link, shape (3,), in [m/s^2]
        :raises ModelError: an unknown, mimic, floating or planar joint, no moving joint, or a
            gravity that is not three finite numbers
        """
        self.urdf = urdf
        self.notes = urdf.notes
        self.gravity = _gravity(gravity)
        self.rotor_inertia = rotor_inertia
        chosen = _choose(urdf, joints)
        self.joints = tuple(
            Joint(name=item.name, type=cast(JointType, item.type)) for item in chosen
        )
        self.parameters = _parameters(chosen, rotor_inertia)
        self.tree = body_tree(urdf, self.joint_names)
        self._model = pinocchio_model(self.tree, self.joint_names, self.gravity)
        self._data = self._model.createData()
        self._content, self._recursive = b'', False
        self._pool: Any = None
        self._chosen: tuple[bytes, ...] = ()
        self._many: RigidColumns | None = None
        self._outwards = np.array([body.joint for body in self.tree.bodies])
        self._in_order = bool((np.diff(self._outwards) > 0).all())
        self._prior = _prior(urdf, self.tree, rotor_inertia)

    @classmethod
    def from_file(cls, path: str | Path, **options: Any) -> UrdfModel:
        """Build the model of a URDF file; `options` are joints, gravity, rotor_inertia.

        :raises ModelError: as `read_urdf` and the constructor
        """
        return cls(urdf=read_urdf(path), **options)

    @classmethod
    def from_xml(cls, xml: str, *, source: str = 'URDF', **options: Any) -> UrdfModel:
        """Build the model of URDF text, named `source` in messages; options as above.

        :raises ModelError: as `parse_urdf` and the constructor
        """
        return cls(urdf=parse_urdf(xml, source=source), **options)

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the regressor, shape (N, n, 10 n), or (N, n, 11 n) with rotors."""
        count, width = len(self.joints), len(self.parameters)
        q, qd, qdd = self._check_motion(q, qd, qdd)
        if len(q) >= _MANY or not self._in_order:
            every = [np.arange(width)] * count
            return self._columns(every)(q, qd, qdd).reshape(len(q), count, width)
        result = np.zeros((len(q), count, width))
        compute, model, data = pin.computeJointTorqueRegressor, self._model, self._data
        for k in range(len(q)):
            result[k, :, : 10 * count] = compute(model, data, q[k], qd[k], qdd[k])
        if self.rotor_inertia:
            # The rotor column of row j lies every width + 1 numbers.
            result.reshape(len(q), count * width)[:, 10 * count :: width + 1] = qdd
        return result

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without work space, which is large and which Pinocchio 3 cannot send.

        `copy.copy` uses this too, so that each copy has its work space.
        """
        work_space = {'_model': self._model.copy(), '_data': None, '_pool': None, '_many': None}
        return {**self.__dict__, **work_space}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state with a new work space."""
        self.__dict__.update(state)
        self._data = self._model.createData()

    @property
    def smooth(self) -> bool:
        """True: rigid-body torque is a smooth function of the state."""
        return True

    def pack_columns(self, q: Array, qd: Array, qdd: Array, columns: Sequence[Indices]) -> Array:
        """Compute columns of each joint without the remaining regressor, shape (N, k)."""
        if len(q) < _MANY:
            return super().pack_columns(q, qd, qdd, columns)
        return self._columns(columns)(*self._check_motion(q, qd, qdd))

    def _columns(self, columns: Sequence[Indices]) -> RigidColumns:
        """Return the cached computation of these columns, which is the same for every block."""
        chosen = tuple(indices.tobytes() for indices in columns)
        if self._many is None or chosen != self._chosen:
            self._chosen = chosen
            self._many = RigidColumns(self.tree.bodies, self.gravity, columns)
        return self._many

    def torque(self, q: Array, qd: Array, qdd: Array, values: Array) -> Array:
        """Compute the joint torques of every sample, shape (N, n), in [Nm] or [N].

        The recursive Newton-Euler algorithm takes a third of the regressor's time. It needs
        centres of mass, so that the regressor is used if a link has almost no mass.
        """
        if not self._takes(values):
            return super().torque(q, qd, qdd, values)
        return self._reorder(self._recursion)(*self._check_motion(q, qd, qdd))

    def torque_function(self, values: Array) -> TorqueFunction:
        """Return Pinocchio's recursion in a separate work space, in a third of the time."""
        if not self._takes(values):
            return super().torque_function(values)
        model = self._model.copy()
        return self._reorder(partial(pin.rnea, model, model.createData()))

    def _reorder(self, compute: TorqueFunction) -> TorqueFunction:
        """Convert a function of joints in Pinocchio's order to one of the model's joints."""
        if self._in_order:
            return compute
        outwards, places = self._outwards, np.argsort(self._outwards)

        def torque(q: Array, qd: Array, qdd: Array) -> Array:
            if q.shape[-1] != len(places):
                raise ModelError(f'the model has {len(places)} joints, got {q.shape[-1]} values')
            state = np.ascontiguousarray(np.stack([q, qd, qdd])[..., outwards])
            result: Array = compute(*state)[..., places]
            return result

        return torque

    def _recursion(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute torques of joints in Pinocchio's order, shape (N, n)."""
        if len(q) >= _MANY and hasattr(pin, 'rneaInParallel'):  # not available in every build
            self._pool = self._pool or pin.ModelPool(self._model, 1)
            result = np.empty(q.shape)
            pin.rneaInParallel(1, self._pool, q.T, qd.T, qdd.T, result.T)
            return result
        compute, model, data = pin.rnea, self._model, self._data
        result = np.empty(q.shape)
        for k in range(len(q)):
            result[k] = compute(model, data, q[k], qd[k], qdd[k])
        return result

    def _takes(self, values: Array) -> bool:
        """Set values of the links that changed; return False if recursion cannot be used."""
        content = values.tobytes()
        if content != self._content or values.ndim != 1:
            self._recursive = values.shape == (len(self.parameters),) and self._set(values)
            self._content = content
        return self._recursive

    def _set(self, values: Array) -> bool:
        links = values[: 10 * len(self.joints)].reshape(-1, 10)
        if not (links[:, 0] >= 1e-3).all():  # [kg]: no useful centre of mass below
            return False
        self._pool = None
        rotors = values[links.size :]
        if self.rotor_inertia:
            self._model.armature = rotors[self._outwards]
        for index, link in enumerate(links[self._outwards]):
            self._model.inertias[index + 1] = pin.Inertia.FromDynamicParameters(link)
        return True

    def kinematic_copy(self) -> Any:
        """Return a copy of Pinocchio's model, with joints in the order of `tree.bodies`."""
        return self._model.copy()

    @property
    def title(self) -> str:
        """Name for messages."""
        return f'the model of {self.urdf.source}'

    def prior(self) -> Array:
        """Return the values of the URDF, shape (p,); 0 for rotors and links without <inertial>."""
        return np.array(self._prior)

    def describe(self) -> dict[str, object]:
        """Return a self-contained description: the URDF text without meshes, and the options."""
        return {
            'kind': 'urdf',
            'urdf': self.urdf.xml,
            'joints': list(self.joint_names),
            'gravity': [float(value) for value in self.gravity],
            'rotor_inertia': self.rotor_inertia,
        }


def _gravity(values: Sequence[float]) -> Array:
    try:
        gravity = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        gravity = np.array(np.nan)
    if gravity.shape != (3,) or not np.isfinite(gravity).all():
        raise ModelError(f'gravity must be three finite numbers in m/s^2, got {values}')
    return gravity


def _choose(urdf: UrdfFile, names: Sequence[str] | None) -> list[UrdfJoint]:
    """Return the selected moving joints, in the given order."""
    known = {joint.name: joint for joint in urdf.joints if joint.type != 'fixed'}
    names = list(known) if names is None else list(names)
    if not names:
        raise ModelError(f'{urdf.source} has no moving joint')
    for name in names:
        if name not in known:
            raise ModelError(
                f'{urdf.source} has no moving joint {name}; it has {", ".join(known) or "none"}'
            )
        if names.count(name) > 1:
            raise ModelError(f'joint {name} is listed twice')
        kind = 'mimic' if known[name].mimic else known[name].type
        if kind in ('mimic', 'floating', 'planar'):
            raise ModelError(
                f'{urdf.source}: joint {name} is a {kind} joint, which is not supported; '
                f'to lock it at zero, list the other joints: --joints, or "joints" of '
                f'excitation and identification in the robot file'
            )
    return [known[name] for name in names]


def _parameters(joints: list[UrdfJoint], rotor_inertia: bool) -> tuple[Parameter, ...]:
    links = [
        Parameter(name=f'{joint.child}.{name}', unit=unit, joint=joint.name)
        for joint in joints
        for name, unit in zip(INERTIAL_NAMES, INERTIAL_UNITS, strict=True)
    ]
    rotors = [
        Parameter(
            name=f'{joint.name}.rotor_inertia',
            unit='kg' if joint.type == 'prismatic' else 'kg m^2',
            joint=joint.name,
        )
        for joint in joints
        if rotor_inertia
    ]
    return tuple(links + rotors)


def pinocchio_model(tree: Tree, names: tuple[str, ...], gravity: Array) -> Any:
    """Build Pinocchio's model; a continuous joint becomes a revolute one, which has one angle."""
    model = pin.Model()
    model.gravity.linear = gravity
    for body in tree.bodies:
        frame = pin.SE3(body.placement[:3, :3], body.placement[:3, 3])
        model.addJoint(body.parent + 1, _joint_model(body), frame, names[body.joint])
    return model


def _joint_model(body: Body) -> Any:
    kind = 'P' if body.prismatic else 'R'
    for value, letter in zip(body.axis, 'XYZ', strict=True):
        if value == 1.0:  # joints along a frame axis take 10 % less time
            return getattr(pin, f'JointModel{kind}{letter}')()
    build = pin.JointModelPrismaticUnaligned if body.prismatic else pin.JointModelRevoluteUnaligned
    return build(body.axis)


def _prior(urdf: UrdfFile, tree: Tree, rotor_inertia: bool) -> Array:
    """Return the values of the URDF, shape (p,): those of all links that a joint carries add."""
    count = len(tree.bodies)
    inertias, values = np.zeros((count, 4, 4)), np.zeros((11 if rotor_inertia else 10) * count)
    for link, (index, pose) in tree.places.items():
        if index >= 0:
            inertias[index] += pose @ urdf.pseudo_inertia[link] @ pose.T
    for body, inertia in zip(tree.bodies, inertias, strict=True):
        values[10 * body.joint : 10 * body.joint + 10] = ten_parameters(inertia)
    return values


def rigid_part(model: DynamicModel) -> UrdfModel | None:
    """Return the part of a model that is a URDF, if there is one."""
    return next((part for part, _ in parts_of(model) if isinstance(part, UrdfModel)), None)


def joint_limits(model: DynamicModel) -> Array:
    """Return the joint limits of the URDF, or else the range of the model, shape (n, 2)."""
    limits, body = model.position_limits(), rigid_part(model)
    known = {} if body is None else body.urdf.position_limits
    for row, name in enumerate(model.joint_names):
        limits[row] = known.get(name, limits[row])
    return limits
