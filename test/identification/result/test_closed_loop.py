# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from servo_arm import servo_arm

from robodyn_ros.identification.result import mjcf
from robodyn_ros.identification.result.closed_loop import add_actuators, replay_error


@pytest.fixture(scope='module')
def planted():
    plant = servo_arm(101)
    columns = ('damping', plant.damping), ('frictionloss', plant.loss), ('armature', plant.rotors)
    dynamics = {
        name: {key: float(each[joint]) for key, each in columns}
        for joint, name in enumerate(plant.model.joint_names)
    }
    text = mjcf.write_mjcf(plant.model, plant.values, dynamics)
    gain = dict(zip(plant.model.joint_names, plant.gain, strict=True))
    recording = plant.record(0.0, seconds=10.0, seed=2)
    drive = replace(recording.drive, gain=plant.gain, delay=np.full(4, plant.delay))
    return add_actuators(text, gain), recording.with_drive(drive)


def test_actuators_have_the_gain(planted):
    robot = mujoco.MjModel.from_xml_string(planted[0])
    np.testing.assert_allclose(robot.actuator_gainprm[:, 0], planted[1].drive.gain)
    np.testing.assert_allclose(robot.actuator_biasprm[:, 1], -planted[1].drive.gain)


def test_the_planted_robot_repeats_the_motion_with_its_delay_only(planted):
    text, recording = planted
    errors = replay_error(text, recording)
    assert list(errors) == list(recording.joints)
    assert max(errors.values()) < 3e-3  # two counts of the encoder
    without = replay_error(text, recording, delayed=False)
    assert all(without[name] > 2.0 * errors[name] for name in errors)
