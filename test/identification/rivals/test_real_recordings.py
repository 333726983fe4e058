# SPDX-License-Identifier: Apache-2.0
"""Real machines: nothing is wrong with clean recordings, and planted flaws are named."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from diagnosis_case import constant, exchanged, found, late, moved, one, scaled
from robots import DATA, LWR4, UR10
from scipy.io import loadmat

from robodyn_ros.findings import has_error
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import split_motion

CART = """<robot name="emps"><link name="base"/><link name="cart"/><joint name="axis"
type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/><limit lower="-1"
upper="1" effort="200" velocity="1"/></joint></robot>"""


def folder(name):
    if not (DATA / name).is_dir():
        pytest.skip(f'{DATA / name} is not there; set ROBODYN_DATA')
    return DATA / name


def read(urdf, file):
    model = robot_model(urdf)
    return model, read_recording(file, joints=model.joint_names)


@cache
def lwr4():
    return read(LWR4, folder('kuka_lwr4') / 'measurements_1.npz')


def codes(change):
    model, recording = lwr4()
    return found(model, change(recording))


PARTS = {
    'last 10 %': (0.9, 1.0),
    '2.5 s of the middle': (0.45, 0.55),
}


@pytest.mark.parametrize('part', PARTS)
def test_lost_torque(part):
    start, end = PARTS[part]
    (item,) = codes(lambda each: constant(each, start, end))
    assert item.code == 'torque_lost', item.text
    share = float(item.text.split(' in ')[1].split('%')[0])
    assert share == pytest.approx(100.0 * (end - start), abs=1.0)


@pytest.mark.parametrize('pair', [(1, 2), (0, 2)])
def test_exchanged_columns(pair):
    (item,) = codes(lambda each: exchanged(each, *pair))
    words = ' and '.join(f'lwr_{k}_joint' for k in pair)
    assert item.code == 'joint_order' and f'torques of {words} are exchanged' in item.text


def test_a_second_half_that_is_late():
    (item,) = codes(lambda each: late(each, 37, start=len(each.torque) // 2))
    assert item.code == 'delay_changes', item.text
    assert float(item.text.split(' is ')[1].split(' ms')[0]) == pytest.approx(185.0, abs=25.0)


@pytest.mark.parametrize(('joints', 'degrees'), [([1], 90.0), ([1, 2], 30.0)])
def test_zeros_that_gravity_shows(joints, degrees):
    planted = np.deg2rad(one(lwr4()[1], joints, degrees, 0.0))
    (item,) = codes(lambda each: moved(each, offset=planted))
    assert item.code == 'encoder_offset', item.text
    named = dict(re.findall(r'(lwr_\d_joint) (-?[\d.]+) deg', item.text))
    light = {'lwr_5_joint'}  # its torque is mostly friction: any zero may suit it a little better
    assert set(named) - light == {f'lwr_{k}_joint' for k in joints}, item.text
    shown = [float(each) for name, each in named.items() if name not in light]
    assert shown == pytest.approx([degrees] * len(joints), abs=10.0)


def test_clean_recordings_name_nothing():
    assert not codes(lambda each: each)
    assert not found(*read(UR10, folder('ur10')))
    data = loadmat(folder('emps') / 'DATA_EMPS.mat')
    force = data['gtau'].item() * data['vir']
    cart = Recording(data['t'].ravel(), ('axis',), data['qm'], force)
    assert not found(robot_model(CART, rotor_inertia=False), cart)


def test_the_torque_of_a_wrist_with_the_wrong_sign_as_published():
    """It has a negative mean power: friction would drive it."""
    robot = folder('robots') / 'shanghai_6r'
    model, recording = read(robot / 'robot.urdf', robot / 'motion_1.npz')
    item = found(model, recording)[0]
    assert (item.code, item.joint) == ('torque_sign', 'joint6'), item.text
    assert not has_error(found(model, scaled(recording, one(recording, 5, -1.0))))


@pytest.mark.parametrize(('name', 'share'), [('A', 0.5), ('A', 0.6), ('B', 0.3), ('C', 0.6)])
def test_a_few_seconds_name_nothing(name, share):
    """Held-out blocks of them differ from each other more than any convention explains."""
    robot = folder('robots') / 'kr300'
    model, recording = read(robot / 'robot.urdf', robot / f'{name}.npz')
    assert not has_error(found(model, split_motion(recording, share)[0]))


def test_the_factor_of_a_joint_that_hardly_moves_is_not_seen():
    robot = folder('robots') / 'wam'
    model, recording = read(robot / 'robot.urdf', robot / 'motion.npz')
    assert not has_error(found(model, split_motion(recording, 0.3)[0]))


@pytest.mark.parametrize('share', [0.5, 0.6, 0.7])
def test_a_current_taken_for_a_torque_is_no_gear_ratio(share):
    """Masses alone ask for it: the motion of one pendulum shows no factor."""
    robot = folder('robots') / 'xl330'
    model, recording = read(robot / 'robot.urdf', robot / 'updown_400.npz')
    assert not has_error(found(model, split_motion(recording, share)[0]))


def test_a_machine_that_no_model_explains():
    robot = folder('robots') / 'maxon_hej90'
    (item,) = found(*read(robot / 'robot.urdf', robot / 'tms_42.npz'))
    assert item.code == 'not_explained'


@pytest.mark.parametrize('factor', [3.0, 0.4])
def test_masses_of_a_urdf_that_are_all_wrong_are_no_convention(factor):
    """The recording is clean: a fit that finds a part of the gravity has found gravity."""
    _, recording = lwr4()

    def scale(match: re.Match[str]) -> str:
        number = re.compile(r'(?<=")[-+.eE0-9]+(?=")')
        return number.sub(lambda text: repr(factor * float(text[0])), match[0])

    text = re.sub(r'<(mass|inertia)\s[^>]*>', scale, Path(LWR4).read_text())
    assert not found(UrdfModel.from_xml(text), recording)
