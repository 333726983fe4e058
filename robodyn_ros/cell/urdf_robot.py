# SPDX-License-Identifier: Apache-2.0
"""Joints, limits and MuJoCo's model of a serial robot from a URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from robodyn_ros.bounds import parse_xml, read_text
from robodyn_ros.cell.config import CellConfig
from robodyn_ros.errors import CellError

Array = NDArray[np.float64]
DYNAMIC_TAGS = {'link', 'joint'}
MOVING_TYPES = {'revolute', 'continuous', 'prismatic'}


@dataclass(frozen=True)
class Axes:
    """Numbers of the n joints as arrays of shape (n,), SI and joint-side."""

    names: tuple[str, ...]
    prismatic: tuple[bool, ...]
    lower: Array
    upper: Array
    values: dict[str, Array]

    def __getitem__(self, name: str) -> Array:
        """Return one quantity of `JointConfig` for all joints, shape (n,)."""
        return self.values[name]

    def middle(self) -> Array:
        """Return the middle of the position limits (0 without limits), shape (n,)."""
        limited = np.isfinite(self.lower)
        middle = np.zeros(len(self.names))
        middle[limited] = 0.5 * (self.lower[limited] + self.upper[limited])
        return middle

    def initial(self) -> Array:
        """Return the initial position, shape (n,).

        :raises CellError: a configured position is outside its limits
        """
        wanted = self['initial_position']
        zero_fits = (self.lower <= 0.0) & (self.upper >= 0.0)
        usual = np.where(zero_fits, 0.0, self.middle())
        initial: Array = np.where(np.isnan(wanted), usual, wanted)
        outside = (initial < self.lower) | (initial > self.upper)
        if outside.any():
            joint = int(np.argmax(outside))
            raise CellError(
                f'joint {self.names[joint]!r}: initial_position {initial[joint]:.6g} is outside '
                f'its limits {self.lower[joint]:.6g} to {self.upper[joint]:.6g}'
            )
        return initial

    def reorder(self, names: Sequence[str]) -> Axes:
        """Return the same axes in another order."""
        order = [self.names.index(name) for name in names]
        return Axes(
            names=tuple(names),
            prismatic=tuple(self.prismatic[i] for i in order),
            lower=self.lower[order],
            upper=self.upper[order],
            values={key: value[order] for key, value in self.values.items()},
        )


def read_urdf(urdf: str) -> tuple[ET.Element, str]:
    """Read the root element of a URDF, given as path or text, and its name for messages.

    :raises CellError: it cannot be read or is not a URDF
    """
    is_text = urdf.lstrip().startswith('<')
    source = 'the URDF' if is_text else str(Path(urdf))
    try:
        text = urdf if is_text else read_text(urdf)
        root = parse_xml(text)
    except (OSError, UnicodeDecodeError, ET.ParseError) as error:
        raise CellError(f'{source} cannot be read: {error}') from error
    if root.tag != 'robot':
        raise CellError(f'{source} is not a URDF: expected <robot>, got <{root.tag}>')
    return root, source


def read_axes(root: ET.Element, config: CellConfig, source: str) -> Axes:
    """Read the joints of a URDF, with their configuration.

    :raises CellError: no moving joint, a joint of an unsupported type, or joints in the
        configuration that the URDF does not have
    """
    joints = [joint for joint in root.findall('joint') if joint.get('type') != 'fixed']
    for joint in joints:
        if joint.get('type') not in MOVING_TYPES or joint.find('mimic') is not None:
            kind = 'mimic' if joint.find('mimic') is not None else joint.get('type')
            raise CellError(f'{source}: joint {joint.get("name")!r} is {kind}, not supported')
    names = tuple(joint.get('name', '') for joint in joints)
    if not names:
        raise CellError(f'{source}: the robot has no moving joint')
    for name in config.joints:
        if name not in names:
            raise CellError(f'{source} has no joint {name!r}, it has {list(names)}')
    rows = [_complete(joint, config, source) for joint in joints]
    limits = np.array([_position_limits(joint) for joint in joints])
    return Axes(
        names=names,
        prismatic=tuple(joint.get('type') == 'prismatic' for joint in joints),
        lower=limits[:, 0],
        upper=limits[:, 1],
        values={key: np.array([row[key] for row in rows], dtype=float) for key in rows[0]},
    )


def compile_urdf(root: ET.Element, source: str, *, elastic: bool = False) -> Any:
    """Compile the dynamics: meshes need not exist, and links are not merged.

    :param elastic: add a joint with the same axis after each one: the deflection of its gear
    :raises CellError: MuJoCo refuses it
    """
    robot = ET.Element('robot', {'name': root.get('name', 'robot')})
    options = ET.SubElement(robot, 'mujoco')
    ET.SubElement(options, 'compiler', {'fusestatic': 'false', 'strippath': 'true'})
    for element in root:
        if element.tag in DYNAMIC_TAGS:
            kept = ET.SubElement(robot, element.tag, element.attrib)
            kept.extend(e for e in element if e.tag not in ('visual', 'collision', 'dynamics'))
    try:
        specification = mujoco.MjSpec.from_string(ET.tostring(robot, encoding='unicode'))
        for joint in list(specification.joints) if elastic else ():
            # with an armature, as the rotors, which come later, keep the inertia matrix regular
            joint.parent.add_joint(type=joint.type, axis=joint.axis, pos=joint.pos, armature=1.0)
        return specification.compile()
    except ValueError as error:
        reason = ' '.join(str(error).split())
        raise CellError(f'{source} cannot be simulated: {reason}') from error


def _complete(joint: ET.Element, config: CellConfig, source: str) -> dict[str, float]:
    name = joint.get('name', '')
    limit = _limit(joint)
    try:
        return config.joints.get(name, config.defaults).fill_defaults(
            effort=limit.get('effort', 0.0),
            velocity=limit.get('velocity', 0.0),
            prismatic=joint.get('type') == 'prismatic',
        )
    except CellError as error:
        raise CellError(f'{source}: joint {name!r}: {error}') from error


def _limit(joint: ET.Element) -> dict[str, float]:
    element = joint.find('limit')
    attributes = {} if element is None else element.attrib
    try:
        return {name: float(value) for name, value in attributes.items()}
    except ValueError as error:
        raise CellError(f'joint {joint.get("name")!r}: <limit> is no number: {error}') from error


def _position_limits(joint: ET.Element) -> tuple[float, float]:
    if joint.get('type') == 'continuous':
        return -np.inf, np.inf
    limit = _limit(joint)
    return limit.get('lower', 0.0), limit.get('upper', 0.0)
