import time

import numpy as np
import pytest

pytest.importorskip('rclpy')
from builtin_interfaces.msg import Time
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robodyn_ros.nodes.robot.joint_state_bytes import JointStateBytes
from robodyn_ros.nodes.robot.joint_states import JointStateReader
from robodyn_ros.wire.joint_state import FIELDS

pytestmark = pytest.mark.ros


def message(names, random, frame=''):
    result = JointState(name=list(names))
    result.header.frame_id = frame
    result.header.stamp = Time(sec=int(random.integers(1, 2**31)), nanosec=123)
    for field in FIELDS:
        setattr(result, field, random.normal(size=len(names)).tolist())
    return result


@pytest.mark.parametrize(
    ('required', 'optional'),
    [
        (FIELDS, ()), (('effort',), ()), (('position', 'velocity'), ()),
        ((), ('position', 'effort')), (('position',), ('effort', 'velocity')),
    ],
)  # fmt: skip
@pytest.mark.parametrize('joints', [('a', 'b'), ('joint2', 'x', 'joint1'), ('joint1',)])
def test_it_reads_what_the_ordinary_reader_reads(joints, required, optional):
    random = np.random.default_rng(0)
    fast, slow = (
        kind(joints, required, optional=optional) for kind in (JointStateBytes, JointStateReader)
    )
    names = [*joints[::-1], 'tool']
    for count in range(60):
        if count % 20 == 10:
            names = [names[-1], *names[:-1]]
        sample = message(names, random, frame='world' * (count % 7 == 3))
        if count % 5 == 4:
            getattr(sample, FIELDS[count % 3])[count % len(joints)] = random.choice(
                [np.nan, np.inf, 1e200]
            )
        if count % 11 == 10:
            setattr(sample, FIELDS[count % 3], [])
        if count % 13 == 12:
            sample.name[0] = 'other'
        assert fast.read_bytes(serialize_message(sample)) == slow.read(sample)
        assert fast.stamp == slow.stamp and fast.missing == slow.missing
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(fast, field), getattr(slow, field))


def test_layouts_whose_optional_fields_are_empty_or_not_finite_are_known_too():
    random = np.random.default_rng(1)
    reader = JointStateBytes(['a', 'b'], (), optional=('position', 'effort'))
    plain, unknown = (message(['a', 'b'], random) for _ in range(2))
    plain.effort = []
    unknown.effort = [np.nan, 1.0]
    for sample, missing in ((plain, ('effort',)), (unknown, ('effort',))):
        data = serialize_message(sample)
        assert reader.read_bytes(data) == '' and reader.missing == missing
        reader.position[:] = 0.0
        assert reader._read_known(data) and reader.missing == missing
        np.testing.assert_array_equal(reader.position, sample.position)
    assert np.isnan(reader.effort).all()


def test_known_layouts_are_read_without_message_objects():
    random = np.random.default_rng(1)
    names = [f'joint{number}' for number in range(1, 7)]
    reader = JointStateBytes(names)
    data = [serialize_message(message(names, random)) for _ in range(2)]
    assert reader.read_bytes(data[0]) == ''
    assert reader._read_known(data[1])
    assert reader.time.nanosec == 123
    begin = time.process_time()
    for _ in range(2000):
        reader.read_bytes(data[0])
    assert (time.process_time() - begin) / 2000 < 200e-6
