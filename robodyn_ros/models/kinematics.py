# SPDX-License-Identifier: Apache-2.0
"""Forward and inverse kinematics of SCARA and DELTA robots in closed form.

A pose is x, y, z in [m] in the robot's base frame (z up) and, for four axes, a rotation r about
the vertical in [rad]. Geometry and signs are those of the models `scara` and `delta`, so that
motion and torque are consistent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.catalog import load_model
from robodyn_ros.models.closed_forms.closed_form import article, check_geometry, closed_form_part
from robodyn_ros.models.closed_forms.delta_kinematics import (
    ARMS,
    DeltaGeometry,
    forward_kinematics,
)
from robodyn_ros.models.closed_forms.scara import ScaraGeometry
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.kinematics_base import SINGULAR, JointMotion, Kinematics
from robodyn_ros.models.serial.serial_kinematics import SerialKinematics
from robodyn_ros.models.serial.urdf import UrdfModel, rigid_part
from robodyn_ros.schema import convert


class ScaraKinematics(Kinematics):
    """SCARA: two horizontal arms, a vertical axis, a turning tool; see `ScaraGeometry`.

    x + i y = L1 e^(i q1) + L2 e^(i (q1 + q2)), z = z_sense q3, r = q1 + q2 + s4 q4. Its usual
    configuration is q2 >= 0.
    """

    kind = 'scara'

    def __init__(self, *, geometry: Mapping[str, float], axes: int) -> None:
        """Check and store the geometry.

        :raises ModelError: not three or four axes, or an impossible geometry
        """
        self.axes = _check_axes('scara', axes)
        self.geometry = check_geometry('scara', geometry, ScaraGeometry)
        self._l1, self._l2 = self.geometry.L1, self.geometry.L2

    def forward(self, q: Array) -> Array:
        """Return the poses, shape (N, n)."""
        q = self._check_shape('joint positions', q)
        both = q[:, 0] + q[:, 1]
        place = self._l1 * np.exp(1j * q[:, 0]) + self._l2 * np.exp(1j * both)
        result = np.stack([place.real, place.imag, self.geometry.z_sense * q[:, 2]], axis=1)
        if self.axes == ARMS:
            return result
        return np.column_stack([result, both + self.geometry.s4 * q[:, 3]])

    def inverse(self, poses: Array, *, near: Array | None = None) -> Array:
        """Return joint positions, shape (N, n); near a q2 < 0 the elbow stays on that side.

        Turns are counted from the direction of `near`.
        """
        poses = self._check_shape('poses', poses)
        distance = np.hypot(poses[:, 0], poses[:, 1])
        cosine = distance**2 - self._l1**2 - self._l2**2
        cosine /= 2.0 * self._l1 * self._l2
        self._refuse(~(np.abs(cosine) <= 1.0 + 1e-12), poses, 'cannot reach')
        side, turn = np.ones(1), np.zeros(1)
        if near is not None:
            rows = np.atleast_2d(near)
            side = np.where(rows[:, 1] < 0.0, -1.0, 1.0)
            turn = rows[:, 0] + self._lean(rows[:, 1])
        q2 = side * np.arccos(np.clip(cosine, -1.0, 1.0))
        polar = turn + np.angle((poses[:, 0] + 1j * poses[:, 1]) * np.exp(-1j * turn))
        q1 = polar - self._lean(q2)
        result = [q1, q2, self.geometry.z_sense * poses[:, 2]]
        if self.axes > ARMS:
            result.append(self.geometry.s4 * (poses[:, 3] - q1 - q2))
        return np.stack(result, axis=1)

    def _lean(self, q2: Array | float) -> Array:
        """Return the angle from the first arm to the tool, as seen from the base."""
        result: Array = np.arctan2(self._l2 * np.sin(q2), self._l1 + self._l2 * np.cos(q2))
        return result

    def motion(self, x: Array, xd: Array, xdd: Array, *, near: Array | None = None) -> JointMotion:
        """Return the joint motion, by the complex derivative of the place by q1 and q2.

        place' = i (a1 w1 + a2 w2) with the arms a1, a2 and the rates w1 = q1', w2 = q1' + q2', and
        place'' = i (a1 w1' + a2 w2') - a1 w1^2 - a2 w2^2.
        """
        x, xd, xdd = (self._check_shape('poses', value) for value in (x, xd, xdd))
        q = self.inverse(x, near=near)
        first, second = (
            self._l1 * np.exp(1j * q[:, 0]),
            self._l2 * np.exp(1j * q[:, :2].sum(axis=1)),
        )
        area = self._l1 * self._l2 * np.sin(q[:, 1])
        self._refuse(np.abs(area) <= SINGULAR * self._l1 * self._l2, x, 'is singular at')
        rates = _solve(first, second, area, xd[:, 0] + 1j * xd[:, 1])
        centripetal = first * rates[0] ** 2 + second * rates[1] ** 2
        changes = _solve(first, second, area, xdd[:, 0] + 1j * xdd[:, 1] + centripetal)
        qd, qdd = (self._others(planar, value) for planar, value in ((rates, xd), (changes, xdd)))
        return q, qd, qdd

    def _others(self, arms: tuple[Array, Array], poses: Array) -> Array:
        """Return the rates of all joints from those of both arms and of the pose."""
        rows = [arms[0], arms[1] - arms[0], self.geometry.z_sense * poses[:, 2]]
        if self.axes > ARMS:
            rows.append(self.geometry.s4 * (poses[:, 3] - arms[1]))
        return np.stack(rows, axis=1)


def _solve(first: Array, second: Array, area: Array, rate: Array) -> tuple[Array, Array]:
    """Solve i (first w1 + second w2) = rate for real w1, w2; area = Im(conj(first) second)."""
    return (
        (np.conj(-1j * rate) * second).imag / area,
        (np.conj(first) * (-1j * rate)).imag / area,
    )


class DeltaKinematics(Kinematics):
    """DELTA: three arms that point outwards, the platform below; see `delta_kinematics`.

    The fourth coordinate is the angle of axis 4, which turns a tool on the platform. The few
    degrees that the Cardan joints of a tilted shaft add are neglected.
    """

    kind = 'delta'

    def __init__(self, *, geometry: Mapping[str, float], axes: int) -> None:
        """Check and store the geometry; "h_O" is allowed and not used.

        :raises ModelError: not three or four axes, or an impossible geometry
        """
        self.axes = _check_axes('delta', axes)
        lengths = {key: value for key, value in geometry.items() if key != 'h_O'}
        self.geometry = check_geometry('delta', lengths, DeltaGeometry)
        angles = np.arange(ARMS) * 2.0 * np.pi / ARMS
        self._outwards = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)

    def forward(self, q: Array) -> Array:
        """Return the poses, shape (N, n)."""
        q = self._check_shape('joint positions', q)
        return np.column_stack([forward_kinematics(self.geometry, q[:, :ARMS]), q[:, ARMS:]])

    def inverse(self, poses: Array, *, near: Array | None = None) -> Array:
        """Return joint positions, shape (N, n); there is one configuration, `near` has no effect.

        The elbow of each arm lies where its circle meets the sphere of the rod. With the place
        of the rod's end relative to the arm's axis, u outwards and w upwards, the condition is:
        u cos(theta) - w sin(theta) = (|end|^2 + L_AB^2 - L_BC^2) / (2 L_AB).
        """
        poses = self._check_shape('poses', poses)
        lengths = self.geometry
        ends = poses[:, None, :3] - (lengths.R_b - lengths.r_p) * self._outwards
        out, up = np.einsum('nai,ai->na', ends, self._outwards), ends[:, :, 2]
        reach = np.hypot(out, up)
        wanted = np.einsum('nai,nai->na', ends, ends) + lengths.L_AB**2 - lengths.L_BC**2
        with np.errstate(divide='ignore', invalid='ignore'):
            cosine = wanted / (2.0 * lengths.L_AB * reach)
        self._refuse(~(np.abs(cosine) <= 1.0).all(axis=1), poses, 'cannot reach')
        theta = -np.arctan2(up, out) - np.arccos(cosine)
        theta = (theta + np.pi) % (2.0 * np.pi) - np.pi
        # A platform above its elbows belongs to another assembly mode.
        reached = forward_kinematics(lengths, theta)
        self._refuse(np.abs(reached - poses[:, :3]).max(axis=1) > 1e-6, poses, 'cannot reach')
        return np.column_stack([theta, poses[:, ARMS:]])

    def motion(self, x: Array, xd: Array, xdd: Array, *, near: Array | None = None) -> JointMotion:
        """Return the joint motion, by the constant length of the rods s_i = x + r_p e_i - B_i.

        With b_i, b'_i of `delta_kinematics`: s_i . xd = s_i . b_i thetad_i, and
        s_i . xdd + |sd_i|^2 = s_i . (b_i thetadd_i + b'_i thetad_i^2).
        """
        x, xd, xdd = (self._check_shape('poses', value) for value in (x, xd, xdd))
        q = self.inverse(x, near=near)
        lengths, upwards = self.geometry, np.array([0.0, 0.0, 1.0])
        cos = lengths.L_AB * np.cos(q[:, :ARMS, None])
        sin = lengths.L_AB * np.sin(q[:, :ARMS, None])
        slope = -sin * self._outwards - cos * upwards
        curve = -cos * self._outwards + sin * upwards
        rods = x[:, None, :3] - (lengths.R_b - lengths.r_p) * self._outwards + curve
        leverage = np.einsum('nai,nai->na', rods, slope)
        weak = np.abs(leverage).min(axis=1) <= SINGULAR * lengths.L_AB * lengths.L_BC
        self._refuse(weak, x, 'is singular at')
        thetad = np.einsum('nai,ni->na', rods, xd[:, :3]) / leverage
        swing = xd[:, None, :3] - slope * thetad[:, :, None]
        pull = xdd[:, None, :3] - curve * thetad[:, :, None] ** 2
        pulled = np.einsum('nai,nai->na', rods, pull) + np.einsum('nai,nai->na', swing, swing)
        qd = np.column_stack([thetad, xd[:, ARMS:]])
        return q, qd, np.column_stack([pulled / leverage, xdd[:, ARMS:]])


KINDS: dict[str, type[ScaraKinematics | DeltaKinematics]] = {
    item.kind: item for item in (ScaraKinematics, DeltaKinematics)
}
FILES = ('urdf', 'model')
"""Keys of a description that name a file."""


@dataclass(frozen=True)
class _KinematicsKeys:
    """Kind, axes and geometry; or a URDF; or a model."""

    kind: str = ''
    axes: int = 0
    geometry: dict[str, Any] | None = None
    urdf: str = ''
    link: str | None = None
    free: tuple[str, ...] | None = None
    model: str = ''


_FORMS = (
    {'kind', 'axes', 'geometry'}, {'model'},
    *({'urdf', *others} for others in ((), ('link',), ('free',), ('link', 'free'))),
)  # fmt: skip


def build_kinematics(
    description: Mapping[str, Any], *, joints: Sequence[str] | None = None
) -> Kinematics:
    """Build kinematics from kind, axes and geometry, the inverse of `Kinematics.describe`.

    The description can have a URDF (file or text) instead: `urdf`, with `link` and `free` as in
    `SerialKinematics`; or a file of a `model`.

    :param joints: names of the joints in order, for files; None: all joints of the file
    :raises ModelError: another form, an unknown kind, impossible values, or a file that cannot
        be read or has other joints
    """
    given = convert(description, _KinematicsKeys, 'kinematics', ModelError)
    if set(description) not in _FORMS:
        raise ModelError(
            f'kinematics need kind, axes, geometry, or urdf (and link, free), or model, got '
            f'{dict(description)!r:.80}'
        )
    if given.urdf:
        text = given.urdf.lstrip().startswith('<')
        build = UrdfModel.from_xml if text else UrdfModel.from_file
        return SerialKinematics(build(given.urdf, joints=joints), link=given.link, free=given.free)
    if given.model:
        model = load_model(given.model)
        if joints is not None and model.joint_names != tuple(joints):
            raise ModelError(
                f'{given.model} has the joints {list(model.joint_names)}, needed are '
                f'{list(joints)}'
            )
        return kinematics_of(model)
    if given.kind not in KINDS:
        raise ModelError(
            f'there are no kinematics of {given.kind!r}, there are: {", ".join(KINDS)}'
        )
    return KINDS[given.kind](geometry=given.geometry or {}, axes=given.axes)


def kinematics_of(model: DynamicModel) -> Kinematics:
    """Build kinematics with the geometry of a dynamic model, or of the part that has one.

    The tool of a URDF model is the link that its last joint moves.

    :raises ModelError: a model of another kind, or a URDF that is not an arm of at least six axes
    """
    arm = rigid_part(model)
    if arm is not None:
        return SerialKinematics(arm)
    closed = closed_form_part(model)
    if closed is None or closed[0].kind not in KINDS:
        kind = 'this model' if closed is None else article(closed[0].kind)
        raise ModelError(f'there are no kinematics of {kind}, there are: {", ".join(KINDS)}')
    part = closed[0]
    return build_kinematics(
        {'kind': part.kind, 'axes': len(part.joints), 'geometry': part.settings['geometry']}
    )


def _check_axes(kind: str, axes: int) -> int:
    if axes not in (ARMS, ARMS + 1):
        raise ModelError(f'{article(kind)} has 3 or 4 axes, got {axes}')
    return axes
