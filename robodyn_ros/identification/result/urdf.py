"""A URDF with the identified inertials, for simulators and other tools."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.physical.consistency import (
    bodies_of,
    links_are_consistent,
)
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.friction_terms import DEFAULT_TERMS
from robodyn_ros.models.interface import Array, DynamicModel, SumModel
from robodyn_ros.models.serial.inertia import pseudo_inertia
from robodyn_ros.models.serial.urdf import UrdfModel, rigid_part


def identified_urdf(model: DynamicModel, values: Array) -> str:
    """Return the URDF text of a robot with identified values.

    It is the URDF that the model computes with (no meshes, angles snapped), with new inertials:
    the parameters of a moving link include everything fixed to it, so they are written to the
    link behind the moving joint, and the links fixed to that one lose their own. Links fixed to
    the base keep theirs: they have no effect. Viscous and Coulomb friction become
    `<dynamics damping friction>`; of any other law it is the nearest such friction, without what
    depends on the load. A URDF has no place for rotor inertias, torque offsets and
    springs; they stay in the result file.

    :param values: parameter values of the model, shape (p,)
    :raises IdentificationError: the model has no URDF, or its links are not physically
        possible
    """
    body = rigid_part(model)
    if body is None:
        raise IdentificationError('only a model of a URDF can be written as a URDF')
    if not links_are_consistent(model, values):
        raise IdentificationError(
            'the identified links are not physically consistent (positive masses and inertias), '
            'no URDF is written'
        )
    robot = ET.fromstring(body.urdf.xml)
    links = {str(link.get('name')): link for link in robot.findall('link')}
    carried = _carried(body)
    for link, carrier in carried.items():
        if carrier is not None:
            _remove(links[link], 'inertial')
    for name, own in bodies_of(model).links:
        links[name].insert(0, _inertial(values[list(own)]))
    _write_friction(robot, model, values)
    ET.indent(robot)
    return ET.tostring(robot, encoding='unicode', xml_declaration=True) + '\n'


def _carried(body: UrdfModel) -> dict[str, str | None]:
    """Return per link the moving link it is fixed to (itself if it moves), None for the base."""
    carrier: dict[str, str | None] = {body.urdf.root: None}
    for joint in body.urdf.joints:  # from the base outwards
        moves = joint.name in body.joint_names
        carrier[joint.child] = joint.child if moves else carrier[joint.parent]
    return carrier


def _inertial(ten: Array) -> ET.Element:
    """Build `<inertial>` from m, m c and the inertia about the link frame's origin.

    The centre of mass is c = m c / m; moments about it by the parallel-axis theorem.
    """
    pseudo = pseudo_inertia(ten)
    mass = pseudo[3, 3]
    centre = pseudo[:3, 3] / mass
    spread = pseudo[:3, :3] - mass * np.outer(centre, centre)
    inertia = np.trace(spread) * np.eye(3) - spread
    element = ET.Element('inertial')
    ET.SubElement(element, 'origin', xyz=' '.join(map(_text, centre)), rpy='0 0 0')
    ET.SubElement(element, 'mass', value=_text(mass))
    pairs = {'ixx': (0, 0), 'ixy': (0, 1), 'ixz': (0, 2), 'iyy': (1, 1), 'iyz': (1, 2)}
    pairs['izz'] = (2, 2)
    ET.SubElement(element, 'inertia', {key: _text(inertia[at]) for key, at in pairs.items()})
    return element


def _write_friction(robot: ET.Element, model: DynamicModel, values: Array) -> None:
    """Replace `<dynamics>` of every joint whose identified friction is not negative."""
    index = {item.name: number for number, item in enumerate(model.parameters)}
    other = _curves(model, values)
    for joint in robot.findall('joint'):
        found = {
            key: values[index[f'{joint.get("name")}.{name}']]
            for key, name in (('damping', 'viscous_friction'), ('friction', 'coulomb_friction'))
            if f'{joint.get("name")}.{name}' in index
        }
        if joint.get('name') in other:
            found = _nearest_linear(joint, *other[str(joint.get('name'))])
        if found and min(found.values()) >= 0.0:
            _remove(joint, 'dynamics')
            ET.SubElement(joint, 'dynamics', {key: _text(v) for key, v in found.items()})


def _curves(
    model: DynamicModel, values: Array, first: int = 0
) -> dict[str, tuple[FrictionModel, Array, int]]:
    """Return nonlinear friction by joint: model, values and index of the joint."""
    if isinstance(model, FrictionModel) and not set(model.terms) <= set(DEFAULT_TERMS):
        own = values[first : first + len(model.parameters)]
        return {name: (model, own, k) for k, name in enumerate(model.joint_names)}
    found: dict[str, tuple[FrictionModel, Array, int]] = {}
    for part in model.parts if isinstance(model, SumModel) else ():
        found |= _curves(part, values, first)
        first += len(part.parameters)
    return found


def _nearest_linear(
    element: ET.Element, friction: FrictionModel, values: Array, joint: int
) -> dict[str, float]:
    """Return the linear friction nearest to a law, over the joint's velocities."""
    limit = element.find('limit')
    top = float('nan' if limit is None else limit.get('velocity', 'nan'))
    if 'reach' in friction.coefficients:
        top = float(friction.coefficients['reach'][joint])
    speed = np.linspace(0.0, top if np.isfinite(top) and top > 0.0 else 1.0, 101)[1:]
    states = np.zeros((2, len(speed), len(friction.joints)))
    states[0, :, joint], states[1, :, joint] = speed, -speed
    ahead, back = (friction.loaded_regressor(state, 0.0)[:, joint] @ values for state in states)
    law = (ahead - back) / 2.0
    damping, coulomb = np.polyfit(speed, law, 1)
    if damping < 0.0:
        damping, coulomb = 0.0, law.mean()
    elif coulomb < 0.0:
        damping, coulomb = (speed @ law) / (speed @ speed), 0.0
    return {'damping': float(damping), 'friction': float(coulomb)}


def _remove(parent: ET.Element, tag: str) -> None:
    for child in parent.findall(tag):
        parent.remove(child)


def _text(value: float) -> str:
    """Return the shortest text that gives the same number again."""
    return repr(float(value))
