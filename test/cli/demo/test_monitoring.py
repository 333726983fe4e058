# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from robodyn_ros.msg import CollisionState
from writers import write_rosbag

from robodyn_ros.cli.demo.monitoring import Alarms, thresholds
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.catalog import with_friction
from robodyn_ros.models.closed_forms.axis import AxisModel
from robodyn_ros.recording.recording import Recording

PERIOD = 0.002
INERTIA, COULOMB = 0.5, 2.0
DISTURBANCE = 0.3


def message(stamp, *levels):
    text = CollisionState(level=list(levels))
    text.header.stamp.sec = stamp
    return text


def test_alarms_are_counted_and_the_first_is_kept():
    alarms = Alarms()
    assert math.isnan(alarms.unmonitored)
    ok, unknown, collision = (
        CollisionState.OK, CollisionState.UNKNOWN, CollisionState.COLLISION,
    )  # fmt: skip
    for stamp, levels in enumerate([(ok, ok), (ok, unknown), (ok, collision), (collision, ok)]):
        alarms.take(message(stamp + 5, *levels))
    assert (alarms.samples, alarms.collisions, alarms.first_collision) == (4, 2, 7_000_000_000)
    assert alarms.unmonitored == 0.25


@pytest.fixture
def identified():
    body = AxisModel(dynamic_model=1, joints=['joint1'], type='rotary')
    model = with_friction(body, ['coulomb'])
    assert len(model.parameters) == 2
    values = np.array([INERTIA, COULOMB])
    return IdentifiedModel(model=model, values=values, stddevs=np.zeros(2), hash='')


@pytest.fixture
def recording(tmp_path):
    """A sine with a torque that the model cannot explain, of known amplitude."""
    time = np.arange(2500) * PERIOD
    position, velocity = np.sin(3.0 * time), 3.0 * np.cos(3.0 * time)
    torque = -9.0 * INERTIA * position + COULOMB * np.sign(velocity)
    torque += DISTURBANCE * np.sin(2.0 * time)
    data = Recording(
        time=time,
        joints=('joint1',),
        position=position[:, None],
        velocity=velocity[:, None],
        torque=torque[:, None],
        origin=1_700_000_000_000_000_000,
    )
    write_rosbag(data, tmp_path / 'motion')
    return tmp_path / 'motion'


def test_thresholds_follow_from_the_error_of_the_healthy_motion(identified, recording):
    given = {'period': PERIOD, 'low_velocity': [0.3], 'filter_cutoff': 40.0}
    proposal = thresholds(identified, [recording], given, 2.5)
    assert proposal.largest_error[0] == pytest.approx(DISTURBANCE, rel=0.2)
    assert proposal.max_torque_error[0] == pytest.approx(2.5 * proposal.largest_error[0])
    assert proposal.contact_threshold[0] == pytest.approx(2.0 * proposal.largest_error[0])
