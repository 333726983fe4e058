# SPDX-License-Identifier: Apache-2.0
"""The identified robot as MJCF for MuJoCo, and the joint values of Isaac Lab.

The MJCF is written here and not by MuJoCo's MjSpec, which rounds numbers; MuJoCo reads it back and
computes the torque that it is checked by.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.bounds import parse_xml
from robodyn_ros.errors import ConfigError, IdentificationError
from robodyn_ros.identification.physical.consistency import bodies_of
from robodyn_ros.identification.result.urdf import linear_friction
from robodyn_ros.models.interface import Array, DynamicModel, parts_of
from robodyn_ros.models.serial.inertia import body_of, pseudo_inertia
from robodyn_ros.models.serial.urdf import UrdfModel, rigid_part
from robodyn_ros.models.serial.urdf_file import UrdfFile
from robodyn_ros.models.springs import SpringModel
from robodyn_ros.paths import resource

MESHES = ('.stl', '.obj', '.msh')
"""Formats that MuJoCo reads."""

EXACT = 1e-6
"""Largest difference between the torques of the file and of the model, as a share of the largest
torque: rounding of both."""


Dynamics = dict[str, dict[str, float]]
"""Armature, damping and frictionloss by joint, as simulators have them."""


def joint_dynamics(
    model: DynamicModel, values: Array, fastest: Mapping[str, float] | None = None
) -> Dynamics:
    """Return what simulators have of a joint beside its link; nothing is negative.

    Friction of any law is the nearest viscous and Coulomb friction.

    :param fastest: see `linear_friction`
    """
    index = {item.name: number for number, item in enumerate(model.parameters)}
    friction, result = linear_friction(model, values, fastest), {}
    for name in model.joint_names:
        rotor = index.get(f'{name}.rotor_inertia')
        armature = 0.0 if rotor is None else max(float(values[rotor]), 0.0)
        linear = friction.get(name, {})
        result[name] = {
            'armature': armature,
            'damping': linear.get('damping', 0.0),
            'frictionloss': linear.get('friction', 0.0),
        }
    return result


def write_mjcf(model: DynamicModel, values: Array, dynamics: Dynamics) -> str:
    """Return the MJCF of the robot: inertials, armature, damping, frictionloss, visual meshes.

    Everything fixed to a link is in its inertial. Joints that the model holds at zero are fixed.
    Meshes are named by their absolute path; those that MuJoCo cannot read are left out.

    :raises IdentificationError: the model has no URDF, or MuJoCo's torque differs from the model's
    """
    body = rigid_part(model)
    if body is None:
        raise IdentificationError('only a model of a URDF can be written as MJCF')
    meshes = _visuals(body.urdf)
    text = _text(body, model, values, dynamics, meshes)
    try:
        _check(text, model, values, dynamics)
    except ValueError:  # a mesh that MuJoCo refuses
        text = _text(body, model, values, dynamics, {})
        _check(text, model, values, dynamics)
    return text


def isaac_lab_values(dynamics: Dynamics) -> dict[str, dict[str, float]]:
    """Return the fields of Isaac Lab's actuator configurations by joint, SI units."""
    return {
        name: {
            'armature': each['armature'],
            'friction': each['frictionloss'],
            'dynamic_friction': each['frictionloss'],
            'viscous_friction': each['damping'],
        }
        for name, each in dynamics.items()
    }


def simulator_torque(
    model: DynamicModel, values: Array, dynamics: Dynamics, motion: tuple[Array, Array, Array]
) -> Array:
    """Return the torque (N, n) of links, armature, damping and frictionloss for a motion.

    :param motion: q, qd, qdd, each of shape (N, n)
    """
    rigid = values.copy()
    for part, place in parts_of(model):
        if not isinstance(part, UrdfModel):
            rigid[place] = 0.0
    for index, item in enumerate(model.parameters):
        if item.name.endswith('.rotor_inertia'):
            rigid[index] = 0.0
    rotors, damping, loss = (
        np.array([dynamics[name][key] for name in model.joint_names])
        for key in ('armature', 'damping', 'frictionloss')
    )
    torque = model.torque(*motion, rigid)
    return np.asarray(
        torque + rotors * motion[2] + damping * motion[1] + loss * np.sign(motion[1])
    )


def measure_omissions(
    model: DynamicModel, values: Array, dynamics: Dynamics, motion: tuple[Array, Array, Array]
) -> dict[str, dict[str, float]]:
    """Return what the simulators cannot express by joint: RMS as a share of the joint's torque.

    `offset` is the torque offset, `other` all else: friction of another shape or with load, the
    hysteresis of slips, rotors below zero.
    """
    torque = model.torque(*motion, values)
    springs, offsets = np.zeros_like(torque), np.zeros(len(model.joints))
    for part, place in parts_of(model):
        if isinstance(part, SpringModel):
            elastic = np.tile(part.yields[:, 0] == 0.0, len(part.joints))
            springs += part.torque(*motion, np.where(elastic, values[place], 0.0))
    index = {item.name: number for number, item in enumerate(model.parameters)}
    for joint, name in enumerate(model.joint_names):
        if f'{name}.torque_offset' in index:
            offsets[joint] = values[index[f'{name}.torque_offset']]
    other = torque - simulator_torque(model, values, dynamics, motion) - springs - offsets
    size = np.maximum(_rms(torque), 1e-300)
    kinds = {'offset': np.abs(offsets), 'springs': _rms(springs), 'other': _rms(other)}
    return {
        name: {kind: float(each[joint] / size[joint]) for kind, each in kinds.items()}
        for joint, name in enumerate(model.joint_names)
    }


def _rms(values: Array) -> Array:
    """Return the root mean square of each column."""
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def _check(text: str, model: DynamicModel, values: Array, dynamics: Dynamics) -> None:
    """Compare the inverse dynamics of the file with the torque of the model at random states."""
    random = np.random.default_rng(0)
    share, speed, qdd = random.uniform(-0.9, 0.9, (3, 50, len(model.joints)))
    motion = model.positions(share), model.velocities(speed), 5.0 * qdd
    expected = simulator_torque(model, values, dynamics, motion)
    error = np.abs(mujoco_torque(text, model.joint_names, motion) - expected).max()
    if not error <= EXACT * np.abs(expected).max():
        raise IdentificationError(
            f'the torque of the MJCF differs from that of the model by {error:.3g}'
        )


def mujoco_torque(text: str, joints: tuple[str, ...], motion: tuple[Array, Array, Array]) -> Array:
    """Return MuJoCo's torque (N, n) for a motion, with the frictionloss of sliding joints.

    :param text: MJCF
    :raises ValueError: MuJoCo cannot read it
    """
    import mujoco  # it takes a quarter of a second, and only this needs it

    robot: Any = mujoco.MjModel.from_xml_string(text)
    flags = mujoco.mjtDisableBit
    robot.opt.disableflags |= int(flags.mjDSBL_FRICTIONLOSS | flags.mjDSBL_LIMIT)
    robot.opt.disableflags |= int(flags.mjDSBL_CONTACT)
    data: Any = mujoco.MjData(robot)
    at = [robot.joint(name).dofadr[0] for name in joints]
    result = np.empty_like(motion[0])
    for row, (q, qd, qdd) in enumerate(zip(*motion, strict=True)):
        data.qpos[at], data.qvel[at], data.qacc[at] = q, qd, qdd
        mujoco.mj_inverse(robot, data)
        result[row] = data.qfrc_inverse[at] + robot.dof_frictionloss[at] * np.sign(qd)
    return result


def _text(
    body: UrdfModel,
    model: DynamicModel,
    values: Array,
    dynamics: Dynamics,
    meshes: dict[str, list[ET.Element]],
) -> str:
    root = ET.Element('mujoco', {'model': body.urdf.name or 'robot'})
    ET.SubElement(root, 'compiler', {
        'angle': 'radian', 'autolimits': 'true', 'inertiafromgeom': 'false',
        'eulerseq': 'XYZ', 'discardvisual': 'false',
    })  # fmt: skip
    ET.SubElement(root, 'option', {'gravity': _words(body.gravity)})
    asset = ET.SubElement(root, 'asset')
    inertias = {
        name: pseudo_inertia(values[list(indices)]) for name, indices in bodies_of(model).links
    }
    bodies = {body.urdf.root: ET.SubElement(root, 'worldbody')}
    _add_meshes(bodies[body.urdf.root], asset, meshes.get(body.urdf.root, []))
    for joint in body.urdf.joints:
        element = ET.SubElement(bodies[joint.parent], 'body', {
            'name': joint.child, 'pos': _words(joint.origin[:3, 3]),
            'quat': _words(_quaternion(joint.origin[:3, :3])),
        })  # fmt: skip
        bodies[joint.child] = element
        if joint.name in dynamics:
            _add_joint(element, joint, dynamics[joint.name])
        if joint.child in inertias:
            _add_inertial(element, inertias[joint.child])
        _add_meshes(element, asset, meshes.get(joint.child, []))
    ET.indent(root)
    return ET.tostring(root, encoding='unicode') + '\n'


def _add_joint(element: ET.Element, joint: Any, dynamics: dict[str, float]) -> None:
    attributes = {
        'name': joint.name,
        'type': 'slide' if joint.type == 'prismatic' else 'hinge',
        'axis': _words(joint.axis),
        **{key: repr(value) for key, value in dynamics.items()},
    }
    if joint.type != 'continuous' and np.isfinite([joint.lower, joint.upper]).all():
        attributes['range'] = _words(np.array([joint.lower, joint.upper]))
    if 0.0 < joint.effort < np.inf:
        attributes['actuatorfrcrange'] = _words(np.array([-joint.effort, joint.effort]))
    ET.SubElement(element, 'joint', attributes)


def _add_inertial(element: ET.Element, pseudo: Array) -> None:
    center, mass, inertia = body_of(pseudo)
    full = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    ET.SubElement(element, 'inertial', {
        'pos': _words(center), 'mass': repr(mass), 'fullinertia': _words(full),
    })  # fmt: skip


def _add_meshes(element: ET.Element, asset: ET.Element, visuals: list[ET.Element]) -> None:
    for visual in visuals:
        mesh, origin = visual.find('geometry/mesh'), visual.find('origin')
        assert mesh is not None
        name, place = f'mesh{len(asset)}', {} if origin is None else origin.attrib
        scale = mesh.get('scale', '1 1 1')
        ET.SubElement(
            asset, 'mesh', {'name': name, 'file': mesh.get('filename', ''), 'scale': scale}
        )
        ET.SubElement(element, 'geom', {
            'type': 'mesh', 'mesh': name, 'pos': place.get('xyz', '0 0 0'),
            'euler': place.get('rpy', '0 0 0'), 'contype': '0', 'conaffinity': '0', 'group': '2',
        })  # fmt: skip


def _visuals(urdf: UrdfFile) -> dict[str, list[ET.Element]]:
    """Return the visuals with a mesh that MuJoCo reads by link, with absolute file names."""
    result: dict[str, list[ET.Element]] = {}
    for link in parse_xml(urdf.text).findall('link') if urdf.text else ():
        for visual in link.findall('visual'):
            mesh = visual.find('geometry/mesh')
            if mesh is None:
                continue
            with suppress(ConfigError):  # of a package that is not here
                name = mesh.get('filename', '').removeprefix('file://')
                path = (Path(urdf.source).parent / resource(name)).absolute()
                if path.suffix.lower() in MESHES and path.is_file():
                    mesh.set('filename', str(path))
                    result.setdefault(link.get('name', ''), []).append(visual)
    return result


def _quaternion(rotation: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.roll(Rotation.from_matrix(rotation).as_quat(), 1)


def _words(values: Array) -> str:
    return ' '.join(repr(float(value)) for value in values)
