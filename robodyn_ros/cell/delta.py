# SPDX-License-Identifier: Apache-2.0
"""MuJoCo model of a DELTA robot: two rods per arm, closed loops, a free platform.

Each arm has two rods on universal joints, whose lower ends are connected to the platform by ball
joints; only the rods hold the platform. With four axes a telescopic shaft of two halves connects a
Cardan joint below its motor with a ball joint on the platform.

z points up. Arm i lies in the vertical plane at 0, 120, 240 degrees, its angle is 0 when
horizontal and counts downwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import CellError

Array = NDArray[np.float64]

ANGLES = tuple(arm * math.tau / 3.0 for arm in range(3))
"""Horizontal direction of each arm, in [rad]."""
ARMS = len(ANGLES)
STRIDE = 5
"""Coordinates from one driven joint to the next: that of the arm and two for each rod.

The driven joints are thus a slice of MuJoCo's state, which is a view without a copy. With elastic
gears there is one more, that of the deflection after the driven one."""

NUMBERS = {
    'geometry': ('R_b', 'r_p', 'L_AB', 'L_BC', 'half_width'),
    'arm': ('mass', 'reach', 'inertia'),
    'rod': ('mass', 'inertia'),
    'platform': ('mass', 'inertia'),
}
SHAFT = ('mass', 'inertia', 'spin_inertia', 'reach_top', 'reach_bottom')
ANY_SIGN = ('R_b', 'r_p', 'h_O', 'reach', 'reach_top', 'reach_bottom')


@dataclass(frozen=True)
class DeltaMechanism:
    """Lengths in [m], masses in [kg], inertias about the centre of mass in [kg m^2].

    :param geometry: R_b, r_p: distance of arm axes and rod ends from the middle of base and
        platform; L_AB, L_BC: arm, rod; half_width: of a pair of rods; h_O: height of the shaft's
        Cardan joint
    :param arm: mass, reach from its axis to its centre of mass, inertia about a parallel of the
        axis; of one arm
    :param rod: mass, inertia across; of one of the six
    :param platform: mass, inertia about any axis
    :param shaft: mass, inertia across of each half, their reach from Cardan joint and platform,
        and spin_inertia of both about the shaft; empty: three axes
    """

    geometry: Mapping[str, float]
    arm: Mapping[str, float]
    rod: Mapping[str, float]
    platform: Mapping[str, float]
    shaft: Mapping[str, float]

    @classmethod
    def from_mapping(cls, content: Mapping[str, Any], where: str) -> DeltaMechanism:
        """Check and store the `mechanism` of a cell configuration.

        :raises CellError: a missing or unknown entry, or a value out of range
        """
        where = f'{where}: mechanism delta'
        expected = dict(NUMBERS)
        if content.get('shaft') is not None:
            expected['shaft'] = SHAFT
            expected['geometry'] = (*NUMBERS['geometry'], 'h_O')
        for name in content:
            if name not in ('kind', 'shaft', *NUMBERS):
                known = ', '.join((*NUMBERS, 'shaft'))
                raise CellError(f'{where}: unknown entry {name!r}, expected some of {known}')
        parts = {
            name: _numbers(content.get(name), keys, f'{where}: {name}')
            for name, keys in expected.items()
        }
        return cls(**{'shaft': {}, **parts})

    def check(self, joints: Sequence[str], prismatic: Sequence[bool], source: str) -> None:
        """Check that the joints of a URDF are those of this mechanism.

        :raises CellError: a wrong number of joints, or one that is prismatic
        """
        needed = ARMS + bool(self.shaft)
        if len(joints) != needed:
            reason = 'with a shaft' if self.shaft else 'without a shaft'
            raise CellError(
                f'{source}: a delta {reason} has {needed} joints, got {len(joints)}: '
                f'{list(joints)}'
            )
        for name, linear in zip(joints, prismatic, strict=True):
            if linear:
                raise CellError(f'{source}: joint {name!r} of a delta must be rotary')

    def compile(
        self, joints: Sequence[str], lower: Array, upper: Array, *, elastic: bool = False
    ) -> Any:
        """Compile MuJoCo's model, whose driven joints are every `STRIDE`-th coordinate.

        :param lower: their position limits, shape (n,), in [rad]
        :param elastic: add a joint with the same axis after each one: the deflection of its gear
        :raises CellError: MuJoCo refuses it
        """
        try:
            return mujoco.MjModel.from_xml_string(self._mjcf(joints, lower, upper, elastic))
        except ValueError as error:
            reason = ' '.join(str(error).split())
            raise CellError(f'mechanism delta cannot be simulated: {reason}') from error

    def open_pose(self, model: Any, position: Array) -> Array:
        """Return coordinates with these arm angles and rods pointing inwards, to close loops from.

        :param position: of the driven joints, shape (n,), in [rad]
        """
        pose: Array = np.array(model.qpos0)
        for arm in range(ARMS):
            # parallel rods would be singular
            for side in 'ab':
                pose[model.joint(f'inwards{arm + 1}{side}').qposadr] = 0.4 - position[arm]
        return pose

    def _mjcf(self, joints: Sequence[str], lower: Array, upper: Array, elastic: bool) -> str:
        ranges = [f'{low!r} {high!r}' for low, high in np.transpose([lower, upper]).tolist()]
        axes = ['0 1 0'] * ARMS + ['0 0 1'] * bool(self.shaft)
        driven = [
            f'<joint name="{name}" axis="{axis}" range="{limits}"/>'
            + f'<joint axis="{axis}" armature="1"/>' * elastic  # regular without rotors
            for name, axis, limits in zip(joints, axes, ranges, strict=True)
        ]
        bodies = [self._arm(arm, driven[arm]) for arm in range(ARMS)]
        ends = [f'{arm + 1}{side}' for arm in range(ARMS) for side in 'ab']
        if self.shaft:
            bodies.append(self._shaft(driven[ARMS]))
            ends.append('_shaft')
        loops = [f'<connect site1="tip{end}" site2="end{end}"/>' for end in ends]
        return (
            '<mujoco><compiler angle="radian" autolimits="true"/><option jacobian="dense"/>'
            f'<worldbody>{"".join(bodies)}{self._platform()}</worldbody>'
            f'<equality>{"".join(loops)}</equality></mujoco>'
        )

    def _platform(self) -> str:
        sites = []
        for arm, phi in enumerate(ANGLES):
            outwards = np.array([math.cos(phi), math.sin(phi), 0.0])
            sideways = np.array([-math.sin(phi), math.cos(phi), 0.0])
            for name, side in zip('ab', self._sides(), strict=True):
                place = self.geometry['r_p'] * outwards + side * sideways
                sites.append(f'<site name="end{arm + 1}{name}" pos="{_text(place)}"/>')
        return (
            f'<body name="platform" pos="0 0 {self._height()!r}"><freejoint/>'
            + _inertial((0, 0, 0), self.platform['mass'], [self.platform['inertia']] * 3)
            + f'{"".join(sites)}<site name="end_shaft"/></body>'
        )

    def _arm(self, arm: int, joint: str) -> str:
        geometry, body, rod = self.geometry, self.arm, self.rod
        half = ANGLES[arm] / 2.0
        place = [geometry['R_b'] * math.cos(2 * half), geometry['R_b'] * math.sin(2 * half), 0]
        rods = ''.join(
            f'<body name="rod{arm + 1}{name}" pos="{_text((geometry["L_AB"], side, 0))}">'
            f'<joint name="inwards{arm + 1}{name}" axis="0 1 0"/><joint axis="1 0 0"/>'
            + _inertial(
                (0, 0, -geometry['L_BC'] / 2),
                rod['mass'],
                (rod['inertia'], rod['inertia'], 1e-4 * rod['inertia']),
            )
            + f'<site name="tip{arm + 1}{name}" pos="0 0 {-geometry["L_BC"]!r}"/></body>'
            for name, side in zip('ab', self._sides(), strict=True)
        )
        inertia = (0.1 * body['inertia'], body['inertia'], body['inertia'])
        return (
            f'<body name="arm{arm + 1}" pos="{_text(place)}" '
            f'quat="{_text((math.cos(half), 0, 0, math.sin(half)))}">'
            f'{joint}{_inertial((body["reach"], 0, 0), body["mass"], inertia)}{rods}</body>'
        )

    def _shaft(self, joint: str) -> str:
        shaft, height = self.shaft, self.geometry['h_O']
        inertia = (shaft['inertia'], shaft['inertia'], 0.5 * shaft['spin_inertia'])
        return (
            f'<body name="shaft_top" pos="0 0 {height!r}">'
            f'{joint}<joint axis="1 0 0"/><joint axis="0 1 0"/>'
            + _inertial((0, 0, -shaft['reach_top']), shaft['mass'], inertia)
            + f'<body name="shaft_bottom" pos="0 0 {self._height() - height!r}">'
            '<joint type="slide" axis="0 0 1"/>'
            + _inertial((0, 0, shaft['reach_bottom']), shaft['mass'], inertia)
            + '<site name="tip_shaft"/></body></body>'
        )

    def _sides(self) -> tuple[float, float]:
        return -self.geometry['half_width'], self.geometry['half_width']

    def _height(self) -> float:
        """Return the initial height [m] of the platform, near that with horizontal arms."""
        geometry = self.geometry
        aside = geometry['R_b'] + geometry['L_AB'] - geometry['r_p']
        return -math.sqrt(max(geometry['L_BC'] ** 2 - aside**2, 0.01))


def _numbers(value: Any, keys: Sequence[str], where: str) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise CellError(f'{where} must give {", ".join(keys)}, got {value!r:.60}')
    for key in value:
        if key not in keys:
            raise CellError(f'{where} has no {key!r}, it has: {", ".join(keys)}')
    return {key: _number(value.get(key), key, where) for key in keys}


def _number(value: Any, key: str, where: str) -> float:
    if value is None:
        raise CellError(f'{where} needs {key}')
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise CellError(f'{where}: {key} must be a number, got {value!r:.60}')
    if key not in ANY_SIGN and value <= 0.0:
        raise CellError(f'{where}: {key} must be above 0, got {value:g}')
    return float(value)


def _inertial(position: Sequence[float], mass: float, diagonal: Sequence[float]) -> str:
    return f'<inertial pos="{_text(position)}" mass="{mass!r}" diaginertia="{_text(diagonal)}"/>'


def _text(values: Sequence[float] | Array) -> str:
    return ' '.join(repr(float(value)) for value in values)
