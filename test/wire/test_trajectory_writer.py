import numpy as np
import pytest

pytest.importorskip('rclpy')
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.nodes.robot.trajectory_message import read_trajectory
from robodyn_ros.wire.trajectory_writer import write_trajectory

pytestmark = pytest.mark.ros


@pytest.mark.parametrize(
    'joints', [('a',), ('joint1', 'joint2'), ('x', 'yy', 'zzz'), ('abcdefg',)]
)
@pytest.mark.parametrize('frame', ['', 'base', 'world1'])
def test_ros_reads_what_was_written(joints, frame):
    random = np.random.default_rng(len(joints))
    time = np.array([0.0, 0.002, 0.9999999999, 12.5])
    fields = random.normal(size=(4, len(time), len(joints)))
    stamp = 1_700_000_000_123_456_789
    written = write_trajectory(stamp=stamp, joints=joints, time=time, fields=fields, frame=frame)
    message = deserialize_message(written, JointTrajectory)
    # Padding may hold anything, so only the length is compared.
    assert len(serialize_message(message)) == len(written)
    assert tuple(message.joint_names) == joints
    assert message.header.frame_id == frame
    assert message.header.stamp.sec == stamp // 10**9
    assert message.header.stamp.nanosec == stamp % 10**9
    for index, point in enumerate(message.points):
        row = (point.positions, point.velocities, point.accelerations, point.effort)
        np.testing.assert_array_equal(row, fields[:, index])
    stamps = [(p.time_from_start.sec, p.time_from_start.nanosec) for p in message.points]
    assert stamps == [(0, 0), (0, 2_000_000), (1, 0), (12, 500_000_000)]


def test_the_reader_gives_back_what_was_written():
    time = np.arange(50) * 0.002
    fields = np.random.default_rng(0).normal(size=(4, 50, 6))
    joints = tuple(f'joint{i}' for i in range(6))
    stamp, points = read_trajectory(
        write_trajectory(stamp=5, joints=joints, time=time, fields=fields)
    )
    assert stamp == 5
    assert points is not None
    np.testing.assert_allclose(points.time, time, atol=1e-12)
    np.testing.assert_array_equal(points.effort, fields[3])
