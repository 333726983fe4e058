import numpy as np
import pytest
from bags import JOINT_STATE, TYPES, cdr, message
from hypothesis import given, settings
from hypothesis import strategies as st

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.writers import joint_states, write_csv, write_rosbag


def recording(count=50, joints=('elbow', 'wrist_1'), **changes):
    rng = np.random.default_rng(0)
    time = 0.5 + np.arange(count) * 0.004
    data = rng.normal(size=(4, count, len(joints)))
    return Recording(
        time, joints, data[0], data[1], **{'velocity': data[2], 'acceleration': data[3], **changes}
    )


@settings(deadline=None)
@given(
    names=st.lists(st.text('abcdü_/1', min_size=1), min_size=1, max_size=4, unique=True),
    with_velocity=st.booleans(),
)
def test_messages_are_those_of_rosbags(names, with_velocity):
    data = recording(5, tuple(names), origin=10**18)
    velocity = data.velocity if with_velocity else None
    data = Recording(data.time, data.joints, data.position, data.torque, velocity, origin=10**18)
    for row, (stamp, encoded) in enumerate(joint_states(data)):
        assert stamp == 10**18 + 500_000_000 + row * 4_000_000
        speed = data.velocity[row] if with_velocity else []
        state = message(stamp, names, data.position[row], speed, data.torque[row])
        assert encoded == cdr(state)
        assert TYPES.deserialize_cdr(encoded, JOINT_STATE).name == names


def test_a_rosbag_is_read_back_exactly(tmp_path):
    data = recording(5000, origin=1_700_000_000 * 10**9)
    write_rosbag(data, tmp_path / 'bag')
    back = read_recording(tmp_path / 'bag')
    assert back.joints == data.joints
    assert back.origin == data.origin + 500_000_000
    np.testing.assert_allclose(back.time, data.time - 0.5, atol=1e-12)
    for name in ('position', 'velocity', 'torque'):
        np.testing.assert_array_equal(getattr(back, name), getattr(data, name))
    assert sorted(path.name for path in tmp_path.rglob('*')) == [
        'bag',
        'bag_0.mcap',
        'metadata.yaml',
    ]


def test_a_csv_is_read_back_exactly(tmp_path):
    data = recording(3000)
    write_csv(data, tmp_path / 'a.csv')
    header = (tmp_path / 'a.csv').read_text().splitlines()[0]
    assert header.startswith('time,q_elbow,q_wrist_1,qd_elbow,')
    back = read_recording(tmp_path / 'a.csv')
    assert back.joints == data.joints
    for name in ('time', 'position', 'velocity', 'acceleration', 'torque'):
        np.testing.assert_array_equal(getattr(back, name), getattr(data, name))


def test_what_is_missing_is_not_written(tmp_path):
    data = recording(velocity=None, acceleration=None)
    write_csv(data, tmp_path / 'a.csv')
    write_rosbag(data, tmp_path / 'bag')
    for name in ('a.csv', 'bag'):
        back = read_recording(tmp_path / name)
        assert back.velocity is None and back.acceleration is None


def test_an_existing_bag_is_kept_an_existing_csv_replaced(tmp_path):
    (tmp_path / 'bag').mkdir()
    with pytest.raises(RecordingError, match='exists already'):
        write_rosbag(recording(), tmp_path / 'bag')
    (tmp_path / 'a.csv').write_text('old')
    write_csv(recording(), tmp_path / 'a.csv')
    assert len(read_recording(tmp_path / 'a.csv')) == 50


@pytest.mark.parametrize('write', [write_rosbag, write_csv])
def test_nothing_half_written_is_left(tmp_path, monkeypatch, write):
    def broken(*_):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr('robodyn_ros.recording.bags.joint_state_bag.JointStateBag.add', broken)
    monkeypatch.setattr('os.fsync', broken)
    with pytest.raises(RecordingError, match=r'cannot be written|No space left'):
        write(recording(), tmp_path / 'out')
    assert list(tmp_path.iterdir()) == []


def test_stamps_and_names_that_do_not_fit(tmp_path):
    with pytest.raises(RecordingError, match='do not fit into a ROS time'):
        write_rosbag(recording(origin=-(10**12)), tmp_path / 'bag')
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RecordingError, match="the name of joint 'a,b' does not fit"):
        write_csv(recording(joints=('a,b', 'c')), tmp_path / 'a.csv')
