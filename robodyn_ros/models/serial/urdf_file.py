# SPDX-License-Identifier: Apache-2.0
"""Reading and checking of the dynamics in a URDF.

Meshes, visuals, collisions, transmissions and simulator tags are ignored, so that a robot
description works without the files that it refers to. All else is read or refused, see
`urdf_elements.py`.
"""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from robodyn_ros.bounds import JOINTS, NUMBER, check_bound, parse_xml, read_text
from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.inertia import pseudo_inertia
from robodyn_ros.models.serial.urdf_elements import check_elements
from robodyn_ros.models.serial.urdf_values import attribute, limits, numbers, transform

SNAP_TOLERANCE = 2e-3
"""Largest distance [rad] to a multiple of pi/2, or of an axis to a frame axis, that is corrected.

Many URDFs have angles that are rounded to 3 or 4 digits. Taken literally, they tilt parallel axes
by 1e-5, and parameters that are not identifiable appear as such with condition numbers of 1e6.
"""

JOINT_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')


class UrdfWarning(UserWarning):
    """Warning about a correction of a URDF."""


@dataclass(frozen=True)
class UrdfJoint:
    """One joint of a URDF; missing limits are infinite.

    `origin` is the joint frame in the parent link's frame (4, 4), `axis` a unit vector (3,) in
    the joint frame; limits in [rad] or [m], [rad/s] or [m/s], [Nm] or [N].
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Array
    axis: Array
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    mimic: bool = False


@dataclass(frozen=True)
class UrdfFile:
    """A checked URDF: one tree of links, joints ordered from the base outwards.

    `xml` is the same robot without visuals, collisions and meshes and with angles snapped;
    `pseudo_inertia` has the (4, 4) pseudo-inertia of each link about the link frame (zero without
    an <inertial>). `notes` are sentences for the user. `text` is the complete text that
    was read; empty if it has a DOCTYPE, whose entities may stand for elements.
    """

    name: str
    source: str
    xml: str
    root: str
    joints: tuple[UrdfJoint, ...]
    pseudo_inertia: dict[str, Array]
    notes: tuple[str, ...] = ()
    text: str = field(default='', compare=False, repr=False)

    @property
    def position_limits(self) -> dict[str, tuple[float, float]]:
        """Return the lowest and highest position of each joint with limits, in [rad] or [m]."""
        return {
            joint.name: (joint.lower, joint.upper)
            for joint in self.joints
            if np.isfinite(joint.lower) and np.isfinite(joint.upper)
        }


def read_urdf(path: str | Path) -> UrdfFile:
    """Read a URDF file.

    :raises ModelError: the file cannot be read, or see `parse_urdf`
    """
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f'the URDF {path} cannot be read: {error}') from error
    return parse_urdf(text, source=str(path))


def parse_urdf(xml: str, *, source: str = 'URDF', warn: bool = True) -> UrdfFile:
    """Read URDF text, named `source` in messages.

    :param warn: corrected angles, and an <origin> of several, cause a `UrdfWarning` too
    :raises ModelError: not XML, a xacro, a missing or non-numeric attribute, a name used twice,
        more than one root, a loop, or an element that would not be read, see `check_elements`
    """
    robot = robot_element(xml, source)
    check_elements(robot, source)
    links = robot.findall('link')
    _refuse_twice((attribute(link, 'name', source) for link in links), f'{source}: link')
    joint_elements = robot.findall('joint')
    _refuse_twice((attribute(item, 'name', source) for item in joint_elements), f'{source}: joint')
    if not links:
        raise ModelError(f'{source} has no links')
    check_bound(JOINTS, len(joint_elements), source)
    snapped: list[str] = []
    joints = [_read_joint(item, source, snapped) for item in joint_elements]
    root, joints = _tree_order([link.attrib['name'] for link in links], joints, source)
    exact = 'angles near a multiple of pi/2 were taken as exact in joint(s)'
    notes = _warn(snapped, f'{source}: {exact}', warn)
    twice = [item.attrib['name'] for item in joint_elements if len(item.findall('origin')) > 1]
    first = 'of several elements <origin>, the first one is used in fixed joint(s)'
    notes += _warn(twice, f'{source}: {first}', warn)
    names = [joint.name for joint in joints]
    notes += [note for item in joint_elements for note in _mimic_notes(item, names, source)]
    inertia = {}
    for link in links:
        where = f'{source}: link {link.attrib["name"]}'
        check_elements(link, where)
        pseudo = inertia[link.attrib['name']] = _read_inertial(link.find('inertial'), where)
        notes += _physical_notes(pseudo, where)
    if robot.find('inertial') is not None:
        notes.append(f'{source}: an <inertial> outside of links is ignored')
    return UrdfFile(
        name=robot.get('name', ''),
        source=source,
        xml=_dynamics_xml(robot),
        root=root,
        joints=tuple(joints),
        pseudo_inertia=inertia,
        notes=tuple(notes),
        text='' if '<!DOCTYPE' in xml else xml.lstrip(),
    )


def robot_element(xml: str, source: str) -> ET.Element:
    """Return the <robot> of URDF text, named `source` in messages.

    :raises ModelError: not XML, a xacro, or another element
    """
    try:
        robot = parse_xml(xml.strip())
    except ET.ParseError as error:
        if 'xacro:' in xml:
            raise ModelError(_xacro_text(source)) from error
        raise ModelError(f'{source} is not well-formed XML: {error}') from error
    if robot.tag != 'robot':
        raise ModelError(f'{source}: a URDF starts with <robot>, this file with <{robot.tag}>')
    if any('xacro' in str(item.tag) for item in robot.iter()):
        raise ModelError(_xacro_text(source))
    return robot


def _xacro_text(source: str) -> str:
    return f'{source} is a xacro: expand it first with "xacro FILE > robot.urdf"'


def _refuse_twice(names: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ModelError(f'{what} {name} is defined twice')
        seen.add(name)


def _read_joint(element: ET.Element, source: str, snapped: list[str]) -> UrdfJoint:
    """Read one joint and write corrected numbers back into the element."""
    name = element.attrib['name']
    where = f'{source}: joint {name}'
    kind = attribute(element, 'type', where)
    if kind not in JOINT_TYPES:
        raise ModelError(f'{where} has type "{kind}", expected one of {", ".join(JOINT_TYPES)}')
    check_elements(element, where)
    (parent,) = (attribute(end, 'link', where) for end in element.findall('parent'))
    (child,) = (attribute(end, 'link', where) for end in element.findall('child'))
    values = limits(element.find('limit'), kind, where)
    axis = _snap_joint(element, where, snapped)
    return UrdfJoint(
        name=name,
        type=kind,
        parent=parent,
        child=child,
        origin=transform(element.find('origin'), where),
        axis=axis,
        mimic=element.find('mimic') is not None,
        **values,
    )


def _mimic_notes(joint: ET.Element, names: Sequence[str], source: str) -> Iterator[str]:
    """Check the <mimic> of a joint, which is not used; yield a note if it names no joint."""
    where = f'{source}: joint {joint.attrib["name"]}'
    for item in joint.findall('mimic'):
        if (other := attribute(item, 'joint', where)) not in names:
            yield f'{where}: <mimic> refers to joint {other}, which is missing'
        for key, default in (('multiplier', 1.0), ('offset', 0.0)):
            numbers(item, key, where, (default,))


def _snap_joint(element: ET.Element, where: str, snapped: list[str]) -> Array:
    """Snap rpy and axis of a joint in place; return the unit axis."""
    name = element.attrib['name']
    origin = element.find('origin')
    if origin is not None and 'rpy' in origin.attrib:
        rpy = numbers(origin, 'rpy', where, (0.0, 0.0, 0.0))
        target = np.round(rpy / (np.pi / 2)) * (np.pi / 2)
        if _move_to(rpy, target):
            origin.set('rpy', ' '.join(repr(float(value)) for value in rpy))
            snapped.append(name)
    axis_element = element.find('axis')
    axis = np.array([1.0, 0.0, 0.0])
    if axis_element is not None:
        axis = numbers(axis_element, 'xyz', where, axis.tolist())
    length = float(np.linalg.norm(axis))
    if length < 1e-6 and element.get('type') in ('fixed', 'floating'):
        return np.array(
            [1.0, 0.0, 0.0]
        )  # a fixed joint has no axis, whatever is written (exporters write 0 0 0)
    if length < 1e-6:
        raise ModelError(f'{where}: the axis must not be zero, got {axis.tolist()}')
    axis = axis / length
    target = np.round(axis)
    meant = axis_element is not None and np.abs(axis - target).max() < SNAP_TOLERANCE
    if axis_element is not None and meant and _move_to(axis, target):
        axis_element.set('xyz', ' '.join(repr(float(value)) for value in axis))
        snapped.append(name)
    return axis


def _move_to(values: Array, target: Array) -> bool:
    """Set values near their target to it; return True if one changed noticeably."""
    near = np.abs(values - target) < SNAP_TOLERANCE
    visible = bool((np.abs(values - target)[near] > 1e-9).any())
    values[near] = target[near]
    return visible


def _warn(joints: list[str], text: str, warn: bool) -> list[str]:
    if not joints:
        return []
    text = f'{text} {", ".join(dict.fromkeys(joints))}'
    if warn:
        warnings.warn(text, UrdfWarning, stacklevel=4)
    return [text]


def _tree_order(
    links: list[str], joints: list[UrdfJoint], source: str
) -> tuple[str, list[UrdfJoint]]:
    """Return the root link, and the joints from it outwards (depth first, in file order)."""
    children: dict[str, list[UrdfJoint]] = {name: [] for name in links}
    parent: dict[str, str] = {}
    for joint in joints:
        for link in (joint.parent, joint.child):
            if link not in children:
                raise ModelError(
                    f'{source}: joint {joint.name} refers to link {link}, which is missing'
                )
        if joint.child in parent:
            raise ModelError(
                f'{source}: link {joint.child} has two parent joints, {parent[joint.child]} and '
                f'{joint.name}; closed chains are not supported'
            )
        parent[joint.child] = joint.name
        children[joint.parent].append(joint)
    roots = [name for name in links if name not in parent]
    if len(roots) > 1:
        raise ModelError(f'{source} has several root links: {", ".join(roots)}')
    order: list[UrdfJoint] = []
    stack = list(reversed(children[roots[0]])) if roots else []
    while stack:
        order.append(stack.pop())
        stack.extend(reversed(children[order[-1].child]))
    if len(order) < len(joints):
        loop = [joint.name for joint in joints if joint not in order]
        raise ModelError(f'{source}: joints {", ".join(loop)} form a loop')
    return roots[0], order


def _read_inertial(element: ET.Element | None, where: str) -> Array:
    """Read the pseudo-inertia (4, 4) about the link frame: integral of [x, 1] [x, 1]^T dm."""
    if element is None:
        return np.zeros((4, 4))
    check_elements(element, where)
    (mass,) = (numbers(item, 'value', where)[0] for item in element.findall('mass'))
    moments = [
        numbers(item, key, where)[0]
        for item in element.findall('inertia')
        for key in ('ixx', 'ixy', 'iyy', 'ixz', 'iyz', 'izz')
    ]
    placement = transform(element.find('origin'), where)
    central = pseudo_inertia(np.array([mass, 0.0, 0.0, 0.0, *moments]))
    pseudo: Array = placement @ central @ placement.T
    if not np.abs(pseudo).max() <= NUMBER.most:  # NaN too
        raise ModelError(f'{where}: its inertia is too large, at most {NUMBER.most:.0e}')
    return pseudo


def _physical_notes(pseudo: Array, where: str) -> list[str]:
    """Return a note if the inertia is physically impossible; it affects a-priori values only."""
    size = float(np.abs(pseudo).max())
    if size == 0.0 or np.linalg.eigvalsh(pseudo)[0] >= -1e-9 * size:
        return []
    return [f'{where} has an impossible inertia, which is used as an a-priori value only']


def _dynamics_xml(robot: ET.Element) -> str:
    """Return the robot with the dynamics only; the element is changed."""
    for item in list(robot):
        if item.tag not in ('link', 'joint'):
            robot.remove(item)
        elif item.tag == 'link':
            for part in list(item):
                if part.tag != 'inertial':
                    item.remove(part)
    ET.indent(robot)
    return ET.tostring(robot, encoding='unicode')
