# SPDX-License-Identifier: Apache-2.0
"""The plant behind the local identification bench, against Pinocchio and its own figures."""

import numpy as np
import pytest

from bench.ns16_plant import (
    FULL_SPEED,
    ROTOR,
    STIFFNESS,
    URDF,
    Plant,
    friction,
)
from robodyn_ros.excitation.motions.joint_moves import JointMoves
from robodyn_ros.models.serial.urdf import UrdfModel

JOINTS = tuple(f'joint{number}' for number in range(1, 7))
BENT = np.array([0.0, 0.5, -1.75, 0.0, 0.9, 0.0])
WAY = np.array([0.5, -0.3, 0.4, 0.6, -0.5, 0.8])


def move(duration=1.5, way=WAY):
    return JointMoves(joints=JOINTS, points=[BENT, BENT + way], durations=[duration], rise=0.5)


@pytest.fixture(scope='module')
def runs():
    return {
        'smooth': Plant(friction=False).run([move()])[0],
        'both': Plant().run([move()]),
    }


def test_without_friction_it_is_the_rigid_robot_with_its_rotors(runs):
    model, run = UrdfModel.from_file(URDF), runs['smooth']
    values = model.prior()
    values[-6:] = ROTOR
    motion = move().sample(run.time)
    rigid = model.torque(motion.position, motion.velocity, motion.acceleration, values)
    # vibration and deflection are what is left, an order below the torques of the motion
    error = np.sqrt(((run.torque - rigid) ** 2).mean(axis=0))
    assert (error < 0.06 * np.sqrt((rigid**2).mean(axis=0))).all()
    assert np.abs(run.position - run.reference).max() < 1e-3


def test_at_rest_springs_carry_the_weight(runs):
    run, model = runs['smooth'], UrdfModel.from_file(URDF)
    link, still = run.link[:1], np.zeros((1, 6))
    weight = model.torque(link, still, still, model.prior())
    np.testing.assert_allclose(run.torque[:1], weight, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(run.position[:1] - link, weight / STIFFNESS, rtol=1e-6, atol=1e-12)


def test_friction_is_what_the_motor_needs_more(runs):
    run, smooth = runs['both'][0], runs['smooth']
    speed = np.gradient(run.position, run.time, axis=0)
    middle = slice(len(run.time) // 2 - 15, len(run.time) // 2 + 15)
    assert (np.abs(speed[middle]) > 0.05 * FULL_SPEED).all()
    more = (run.torque - smooth.torque)[middle].mean(axis=0)
    expected = np.sign(speed) * friction(speed, smooth.torque)
    np.testing.assert_allclose(more, expected[middle].mean(axis=0), rtol=0.1)
