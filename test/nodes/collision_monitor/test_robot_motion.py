# SPDX-License-Identifier: Apache-2.0
"""The way back of a retraction, without messages."""

from types import SimpleNamespace

import numpy as np
import pytest

from robodyn_ros.control.collision.reaction.travelled_path import TravelledPath
from robodyn_ros.nodes.collision_monitor.reactions.robot_motion import RobotMotion


@pytest.fixture
def motion():
    """A retraction of one joint by at most 0.05 rad, without calls of its services."""
    made = RobotMotion.__new__(RobotMotion)
    state = SimpleNamespace(position=np.zeros(1), velocity=np.full(1, 0.01))
    one = np.ones(1)
    made._limits = SimpleNamespace(joints=('a',), velocity=one, acceleration=one)
    made._inputs = SimpleNamespace(state=state)
    made._kind, made._latched = 'retract', 0
    made._path = TravelledPath(np.full(1, 0.05))
    made._torque_error = np.zeros(1)
    made._retry = made._cancel = SimpleNamespace(
        start=lambda *_: None, stop=lambda: None, available=False
    )
    made._period, made.tick = 0.1, lambda: None
    return made


def move(motion, positions, *, latched=False, external_torque=-9.0):
    settings = SimpleNamespace(enabled=np.array([True]))
    detector = SimpleNamespace(
        settled=True,
        latched=latched,
        external_torque=np.array([external_torque]),
        settings=settings,
    )
    for position in positions:
        motion._inputs.state.position = np.array([position])
        motion.sample(detector)


def points(motion):
    """Positions of the commanded trajectory."""
    return motion._points(goes_back=True)[0].position[:, 0]


def test_a_retraction_goes_back_on_the_path_and_a_second_one_not_into_the_contact(motion):
    move(motion, np.linspace(0.4, 0.5, 101))
    move(motion, [0.5], latched=True)
    motion.start()
    assert points(motion)[-1] == pytest.approx(0.45, abs=0.003)
    move(motion, np.linspace(0.5, 0.44, 20), latched=True)
    motion.start()
    assert points(motion).max() < 0.4401 and points(motion).min() > 0.4399


def test_a_robot_that_is_pushed_from_behind_is_not_sent_back_into_what_pushes_it(motion):
    move(motion, np.linspace(0.4, 0.5, 101))
    move(motion, [0.5], latched=True, external_torque=9.0)
    motion.start()
    move(motion, [0.5], latched=True, external_torque=-20.0)  # it swings: the first one counts
    found, text = motion._points(goes_back=True)
    assert found.position.min() > 0.4999 and 'pushes the robot in its direction' in text


def test_after_a_reset_only_the_path_since_then_is_known(motion):
    move(motion, np.linspace(0.4, 0.5, 101))
    move(motion, np.linspace(0.5, 0.45, 51), latched=True)
    move(motion, np.linspace(0.45, 0.47, 21))
    move(motion, [0.47], latched=True)
    motion.start()
    assert points(motion).max() < 0.4702 and points(motion)[-1] == pytest.approx(0.45, abs=0.002)
