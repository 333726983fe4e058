# SPDX-License-Identifier: Apache-2.0
import mujoco
import numpy as np
import pytest
from prg_results import model_of
from robots import random_urdf
from simulation import random_values

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.result import mjcf
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import parts_of
from robodyn_ros.models.springs import SpringModel
from robodyn_ros.paths import resource

ROBOTS = ('ur10', 'lwr4', 'scara', 'six_axis')


def motion_of(model, samples=100, seed=1):
    random = np.random.default_rng(seed).uniform(-0.9, 0.9, (3, samples, len(model.joints)))
    return model.positions(random[0]), model.velocities(random[1]), 5.0 * random[2]


def write(model, values):
    return mjcf.write_mjcf(model, values, mjcf.joint_dynamics(model, values))


def omissions(model, values, motion):
    return mjcf.measure_omissions(model, values, mjcf.joint_dynamics(model, values), motion)


@pytest.mark.parametrize('name', ROBOTS)
def test_mujoco_has_the_torque_of_the_model_but_for_the_offset(name):
    """Torque offsets are the only term that the file does not have."""
    model = robot_model(resource(f'urdf/{name}.urdf'))
    values = random_values(model)
    motion = motion_of(model)
    index = {item.name: number for number, item in enumerate(model.parameters)}
    offsets = [values[index[f'{joint}.torque_offset']] for joint in model.joint_names]
    expected = model.torque(*motion, values) - offsets
    torque = mjcf.mujoco_torque(write(model, values), model.joint_names, motion)
    np.testing.assert_allclose(torque, expected, atol=1e-6 * np.abs(expected).max())
    assert all(each['other'] < 1e-9 for each in omissions(model, values, motion).values())


def test_links_behind_held_joints_and_fixed_links_are_in_the_torque():
    xml = random_urdf(4, 5)
    model = robot_model(xml, joints=['joint1', 'joint2', 'joint4'], gravity=(1.0, 2.0, -9.0))
    values, motion = random_values(model), motion_of(model)
    torque = mjcf.mujoco_torque(write(model, values), model.joint_names, motion)
    expected = mjcf.simulator_torque(model, values, mjcf.joint_dynamics(model, values), motion)
    np.testing.assert_allclose(torque, expected, atol=1e-6 * np.abs(expected).max())


def test_what_is_left_out_is_a_share_of_the_torque():
    model = robot_model(resource('urdf/scara.urdf'), friction=['power', 'asymmetry'])
    values, motion = random_values(model), motion_of(model, 2000)
    torque = model.torque(*motion, values)
    missing = torque - mjcf.simulator_torque(
        model, values, mjcf.joint_dynamics(model, values), motion
    )
    shares = omissions(model, values, motion)
    for joint, name in enumerate(model.joint_names):
        index = [item.name for item in model.parameters].index(f'{name}.torque_offset')
        size = np.sqrt(np.mean(torque[:, joint] ** 2))
        rest = np.sqrt(np.mean((missing[:, joint] - values[index]) ** 2)) / size
        assert shares[name]['offset'] == pytest.approx(values[index] / size)
        assert shares[name]['other'] == pytest.approx(rest) and rest > 1e-3


def test_a_rotor_below_zero_is_left_out():
    model = robot_model(random_urdf(2, 3, types=('revolute',)))
    values = random_values(model)
    place = [item.name for item in model.parameters].index('joint1.rotor_inertia')
    values[place] = -0.1
    assert mjcf.joint_dynamics(model, values)['joint1']['armature'] == 0.0
    assert omissions(model, values, motion_of(model))['joint1']['other'] > 0.0


def test_friction_is_fitted_up_to_the_fastest_velocity():
    """The root makes a larger damping where only low velocities count."""
    model = robot_model(random_urdf(2, 3, types=('revolute',)), friction=['power'])
    values = random_values(model)
    slow = mjcf.joint_dynamics(model, values, {'joint1': 0.1, 'joint2': 0.1})
    usual = mjcf.joint_dynamics(model, values)
    assert slow['joint1']['damping'] > 2.0 * usual['joint1']['damping']


def test_isaac_lab_has_the_same_values():
    model = robot_model(random_urdf(2, 3, types=('revolute',)))
    values = random_values(model)
    joint = mjcf.joint_dynamics(model, values)['joint2']
    assert mjcf.isaac_lab_values(mjcf.joint_dynamics(model, values))['joint2'] == {
        'armature': joint['armature'],
        'friction': joint['frictionloss'],
        'dynamic_friction': joint['frictionloss'],
        'viscous_friction': joint['damping'],
    }


def write_tetrahedron(path):
    lines = [
        'v 0 0 0',
        'v 1 0 0',
        'v 0 1 0',
        'v 0 0 1',
        'f 1 3 2',
        'f 1 2 4',
        'f 1 4 3',
        'f 2 3 4',
    ]
    path.write_text('\n'.join(lines) + '\n')


def with_mesh(folder, file):
    visual = (
        f'<visual><origin xyz="0.1 0 0" rpy="0 0 0.5"/><geometry><mesh filename="{file}" '
        'scale="0.01 0.01 0.01"/></geometry></visual></link>'
    )
    xml = random_urdf(2, 3, types=('revolute',))
    head, found, tail = xml.partition('<link name="link1">')
    assert found
    path = folder / 'robot.urdf'
    path.write_text(head + found + tail.replace('</link>', visual, 1))
    return robot_model(path)


def test_meshes_are_kept_by_reference(tmp_path):
    write_tetrahedron(tmp_path / 'part.obj')
    model = with_mesh(tmp_path, 'part.obj')
    text = write(model, random_values(model))
    assert f'file="{tmp_path}/part.obj"' in text
    robot = mujoco.MjModel.from_xml_string(text)
    assert robot.ngeom == 1 and robot.geom_contype[0] == 0


@pytest.mark.parametrize(
    'file', ['part.dae', 'missing.stl', 'package://nowhere/part.stl', 'bad.stl']
)
def test_meshes_that_cannot_be_read_are_left_out(tmp_path, file):
    (tmp_path / 'bad.stl').write_bytes(b'no mesh')
    (tmp_path / 'part.dae').write_text('<COLLADA/>')
    model = with_mesh(tmp_path, file)
    robot = mujoco.MjModel.from_xml_string(write(model, random_values(model)))
    assert robot.ngeom == 0


def test_a_file_with_another_torque_is_not_written(monkeypatch):
    model = robot_model(random_urdf(2, 3, types=('revolute',)))
    monkeypatch.setattr(mjcf, 'mujoco_torque', lambda text, joints, motion: 0.0 * motion[0])
    with pytest.raises(IdentificationError, match='differs from that of the model'):
        write(model, random_values(model))


def test_springs_are_listed():
    model = robot_model(random_urdf(2, 3, types=('revolute',)), friction=['linear', 'spring'])
    assert any(isinstance(part, SpringModel) for part, _ in parts_of(model))
    values = np.where(
        ['spring' in item.name for item in model.parameters], 5.0, random_values(model)
    )
    shares = omissions(model, values, motion_of(model))
    assert shares['joint1']['springs'] > 0.01 and shares['joint1']['other'] < 1e-9


def test_only_a_urdf_can_be_written():
    model = model_of('rotary3')
    with pytest.raises(IdentificationError, match='only a model of a URDF'):
        mjcf.write_mjcf(model, np.ones(len(model.parameters)), {})


def test_slips_are_frictionloss_and_their_hysteresis_is_left_out():
    xml = random_urdf(2, 3, types=('revolute',))
    model = robot_model(xml, friction=['viscous', 'coulomb', 'slip', 'spring'])
    values = np.zeros(len(model.parameters))
    for place, item in enumerate(model.parameters):
        values[place] = (
            1.0 if item.name.endswith(('coulomb_friction', 'medium_slip_friction')) else 0.0
        )
    assert mjcf.joint_dynamics(model, values)['joint1']['frictionloss'] == pytest.approx(2.0)
    time = np.linspace(0.0, 20.0, 4000)[:, None] * [1.0, 1.3]
    shares = omissions(model, values, (np.sin(time), np.cos(time) * [1.0, 1.3], 0.0 * time))
    assert {each['springs'] for each in shares.values()} == {0.0}
    assert max(each['other'] for each in shares.values()) < 0.15
