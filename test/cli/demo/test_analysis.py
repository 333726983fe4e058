# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from writers import write_rosbag

from robodyn_ros.cli.demo.analysis import (
    TrackingError,
    common_samples,
    residual_against_plant,
    segments,
    tracking_error,
)
from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.closed_forms.axis import AxisModel
from robodyn_ros.recording.recording import Recording

ORIGIN = 1_700_000_000_000_000_000
PERIOD = 0.002


def recording(time, position, origin=ORIGIN):
    return Recording(
        time=time,
        joints=('joint1',),
        position=position[:, None],
        velocity=np.cos(time)[:, None],
        torque=np.sin(time)[:, None],
        origin=origin,
    )


def test_common_samples_are_matched_by_stamp_whatever_the_origin():
    time = np.arange(1000) * PERIOD
    first = recording(time, time)
    second = recording(time[:-5], time[5:], origin=ORIGIN + round(5 * PERIOD * 1e9))
    one, other = common_samples(first, second)
    assert len(one) == len(other) == 995
    np.testing.assert_allclose(one.position, other.position)
    np.testing.assert_allclose(one.position[0], 5 * PERIOD)


def test_recordings_of_other_times_are_refused():
    time = np.arange(1000) * PERIOD
    with pytest.raises(RecordingError, match='share only 500'):
        common_samples(recording(time, time), recording(time + 1.0, time))


def test_tracking_error_knows_the_delay(tmp_path):
    """A plant that follows 3.5 cycles late with an offset shows the offset alone."""
    time = np.arange(2000) * PERIOD
    offset = 1e-3
    late = np.sin(2.0 * (time - 3.5 * PERIOD)) + offset
    write_rosbag(
        recording(time, np.sin(2.0 * time)),
        tmp_path / 'reference',
        topic='/joint_trajectory_controller/reference',
    )
    write_rosbag(recording(time, late), tmp_path / 'plant', topic='/cell/plant')
    span = (ORIGIN, ORIGIN + 4_000_000_000)
    names = tmp_path / 'reference', tmp_path / 'plant', span
    error = tracking_error(*names, delay=3.5 * PERIOD, topic='/cell/plant')
    assert error.pool(['joint1']) == pytest.approx(offset, rel=1e-3)
    early = tracking_error(*names, delay=0.0, topic='/cell/plant')
    assert early.pool(['joint1']) > 5 * offset


def test_errors_of_chosen_joints_are_pooled():
    deviation = np.array([[3e-3, 5.0, 4e-3], [-3e-3, 5.0, -4e-3]])
    error = TrackingError(('a', 'lift', 'b'), np.arange(2.0), deviation)
    assert error.pool(['a', 'b']) == pytest.approx(np.sqrt(12.5e-6))
    assert error.pool(['lift']) == pytest.approx(5.0)


def test_segments_between_gaps():
    """A gap splits; one lost sample and what is short between two gaps do not count."""
    time = np.arange(5000) * PERIOD
    keep = np.ones(5000, dtype=bool)
    keep[1500:1600] = keep[2000:2010] = False
    keep[4000] = False
    parts = segments(recording(time[keep], time[keep]))
    assert [len(rows) for rows in parts] == [1500, 2989]
    assert np.concatenate(parts).max() == keep.sum() - 1
    assert [len(rows) for rows in segments(recording(time, time))] == [5000]


def test_residual_against_the_plant_is_relative_to_its_torque(tmp_path):
    """The model has half of the plant's inertia, so half of the torque is unexplained."""
    model = AxisModel(dynamic_model=1, joints=['joint1'], type='rotary')
    identified = IdentifiedModel(model=model, values=np.array([0.5]), stddevs=np.zeros(1), hash='')
    time = np.arange(3000) * PERIOD
    motion = recording(time, np.sin(3.0 * time))
    write_rosbag(motion, tmp_path / 'measured')
    plant = replace(motion, torque=-9.0 * motion.position)
    write_rosbag(plant, tmp_path / 'plant', topic='/cell/plant')
    span = (ORIGIN, ORIGIN + 6_000_000_000)
    names = tmp_path / 'measured', tmp_path / 'plant', span
    assert residual_against_plant(identified, *names) == pytest.approx(0.5, abs=0.02)
