# SPDX-License-Identifier: Apache-2.0
"""The view takes positions from the monitor, or else from the joint states."""

import json
from pathlib import Path

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from robodyn_ros.models.serial.urdf_file import parse_urdf
from robodyn_ros.nodes.watch import scene_input
from robodyn_ros.watch.source import DataAge

URDF = Path(__file__).resolve().parents[3] / 'urdf/six_axis.urdf'
NAMES = [f'joint{number}' for number in range(1, 7)]


class NoTaps:
    """Takes subscriptions, and brings no messages."""

    def add(self, *_):
        pass


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(scene_input, 'DataAge', lambda limit: DataAge(limit, lambda: now[0]))
    return now


@pytest.fixture
def scene(clock):
    return scene_input.SceneInput(NoTaps(), parse_urdf(URDF.read_text()))


def poses(scene):
    return json.loads(scene.frame([]))['poses']


def test_the_positions_of_the_monitor_are_enough_until_it_is_silent(scene, clock):
    assert scene.frame([]) is None and not scene.monitored
    position = np.linspace(-0.5, 0.5, 6)
    scene.take(JointState(name=NAMES, position=position.tolist()))
    expected = poses(scene)
    assert not scene.monitored
    scene.take_monitored(NAMES, [0.0] * 6)
    assert scene.monitored and poses(scene) != expected
    scene.take_monitored(NAMES[::-1], position[::-1].tolist())
    assert poses(scene) == expected
    clock[0] += 1.0
    assert not scene.monitored and not json.loads(scene.frame([]))['fresh']


@pytest.mark.parametrize(
    ('names', 'position'),
    [(NAMES[:5], [0.0] * 5), (NAMES, [0.0] * 5), (NAMES, [0.0] * 5 + [np.nan]), (NAMES, [])],
)
def test_positions_that_are_not_all_there_are_left_to_the_joint_states(scene, names, position):
    scene.take_monitored(names, position)
    assert not scene.monitored and scene.frame([]) is None
