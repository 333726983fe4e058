# SPDX-License-Identifier: Apache-2.0
"""JointState messages matched by name."""

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robodyn_ros.nodes.robot.joint_states import JointStateReader
from robodyn_ros.wire.joint_state import FIELDS


def message(names=('c', 'a', 'b'), offset=0.0, stamp=(3, 500_000_000), **fields):
    values = {
        'position': [offset + 3.0, offset + 1.0, offset + 2.0],
        'velocity': [30.0, 10.0, 20.0],
        'effort': [300.0, 100.0, 200.0],
    }
    result = JointState(name=list(names), **{**values, **fields})
    result.header.stamp.sec, result.header.stamp.nanosec = stamp
    return result


def test_values_are_taken_by_name():
    reader = JointStateReader(['a', 'b'])
    assert reader.read(message()) == ''
    assert reader.position.tolist() == [1.0, 2.0] and reader.effort.tolist() == [100.0, 200.0]
    assert reader.velocity.tolist() == [10.0, 20.0] and reader.stamp == 3.5
    # the order may change while it runs
    assert reader.read(message(names=('a', 'b', 'c'), velocity=[1.0, 2.0, 3.0])) == ''
    assert reader.velocity.tolist() == [1.0, 2.0]
    assert reader.read(message()) == '' and reader.position.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ('fields', 'sentence'),
    [
        ({'names': ('a', 'b')}, '3 values in position for 2 names'),
        ({'names': ('a', 'x', 'y')}, "joint 'b' occurs 0 times among ['a', 'x', 'y']"),
        ({'names': ('a', 'b', 'b')}, "joint 'b' occurs 2 times among ['a', 'b', 'b']"),
        ({'effort': []}, '0 values in effort for 3 names'),
        ({'velocity': [0.0, np.nan, 0.0]}, "velocity of joint 'a' is nan"),
        ({'effort': [0.0, 0.0, np.inf]}, "effort of joint 'b' is inf"),
    ],
)
def test_sample_is_taken_whole_or_not_at_all(fields, sentence):
    reader = JointStateReader(['a', 'b'])
    reader.read(message())
    assert reader.read(message(offset=5.0, stamp=(9, 0), **fields)) == sentence
    assert reader.position.tolist() == [1.0, 2.0] and reader.stamp == 3.5
    assert reader.read(message(offset=5.0)) == '' and reader.position.tolist() == [6.0, 7.0]


def test_messages_of_another_publisher_are_foreign():
    reader = JointStateReader(['a', 'b'])
    for fields in ({'names': ('x', 'y', 'z')}, {'effort': []}, {'names': ()}):
        assert reader.read(message(**fields)) and reader.foreign
    for fields in ({'names': ('a', 'x', 'y')}, {'effort': [0.0, 0.0, np.nan]}):
        assert reader.read(message(**fields)) and not reader.foreign
    assert reader.read(message()) == '' and not reader.foreign


def test_optional_fields_may_be_missing_or_not_finite():
    reader = JointStateReader(['a', 'b'], ('position',), optional=('effort',))
    assert reader.missing == ('effort',)
    assert reader.read(message()) == '' and reader.missing == ()
    # an empty field says nothing: it stays as it was
    assert reader.read(message(offset=5.0, effort=[])) == '' and reader.missing == ('effort',)
    assert reader.position.tolist() == [6.0, 7.0] and reader.effort.tolist() == [100.0, 200.0]
    assert reader.read(message(effort=[0.0, np.nan, 0.0])) == ''
    assert reader.missing == ('effort',) and np.isnan(reader.effort).all()
    assert reader.read(message()) == '' and reader.missing == ()
    assert reader.read(message(effort=[1.0])) == '1 values in effort for 3 names'
    assert reader.missing == ('effort',) and reader.effort.tolist() == [100.0, 200.0]


def random_message(names, random, frame=''):
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
def test_bytes_and_messages_give_the_same_samples(joints, required, optional):
    random = np.random.default_rng(0)
    fast, slow = (JointStateReader(joints, required, optional=optional) for _ in range(2))
    names = [*joints[::-1], 'tool']
    for count in range(60):
        if count % 20 == 10:
            names = [names[-1], *names[:-1]]
        sample = random_message(names, random, frame='world' * (count % 7 == 3))
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
    reader = JointStateReader(['a', 'b'], (), optional=('position', 'effort'))
    plain, unknown = (random_message(['a', 'b'], random) for _ in range(2))
    plain.effort = []
    full = random_message(['a', 'b'], random)
    unknown.effort = [np.nan, 1.0]
    for sample, missing in ((full, ()), (plain, ('effort',)), (unknown, ('effort',))):
        data = serialize_message(sample)
        assert reader.read_bytes(data) == '' and reader.missing == missing
        reader.position[:] = 0.0
        assert reader._read_known(data) and reader.missing == missing
        np.testing.assert_array_equal(reader.position, sample.position)
        assert reader.time.nanosec == 123
    assert np.isnan(reader.effort).all()


def test_a_sentence_about_a_message_with_many_joints_is_short():
    names = [f'other{number}' for number in range(3000)]
    problem = JointStateReader(['a']).read(JointState(name=names))
    assert problem.startswith("joint 'a' occurs 0 times among ['other0', ")
    assert problem.endswith("'other19'] and 2980 more")
