# SPDX-License-Identifier: Apache-2.0
"""Joint states in messages of a joint_state_broadcaster and of a trajectory controller."""

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.recording.readers import read_recording

DYNAMIC = 'control_msgs/msg/DynamicJointState'
INTERFACES = 'control_msgs/msg/InterfaceValue'
STATE = 'control_msgs/msg/JointTrajectoryControllerState'
POINT = 'trajectory_msgs/JointTrajectoryPoint'
NEW = ('reference', 'feedback', 'error', 'output')
OLD = ('desired', 'actual', 'error')
START = 1_700_000_000 * 10**9
TIME = np.arange(80) * 0.01
Q = np.column_stack([np.sin(TIME), np.cos(TIME)])
NONE = np.array([])


def store(points=NEW, more=''):
    types = get_typestore(Stores.ROS2_JAZZY)
    lines = [f'{POINT} {name}' for name in points]
    text = '\n'.join(['std_msgs/Header header', 'string[] joint_names', *lines, more])
    types.register(get_types_from_msg('string[] interface_names\nfloat64[] values\n', INTERFACES))
    text_of_dynamic = 'std_msgs/Header header\nstring[] joint_names\n'
    text_of_dynamic += 'control_msgs/InterfaceValue[] interface_values\n'
    types.register(get_types_from_msg(text_of_dynamic, DYNAMIC))
    types.register(get_types_from_msg(text, STATE))
    return types


def write(path, types, topics, plugin=StoragePlugin.MCAP, little=True):
    """Write the topics: name -> type, and a function of header and number of the message."""
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        for topic, (kind, make) in topics.items():
            link = writer.add_connection(topic, kind, typestore=types)
            for k in range(len(TIME)):
                stamp = START + k * 10**7
                time = types.types['builtin_interfaces/msg/Time'](*divmod(stamp, 10**9))
                head = types.types['std_msgs/msg/Header'](time, 'base')
                data = types.serialize_cdr(make(head, k), kind, little_endian=little)
                writer.write(link, stamp, bytes(data))
    return path


def dynamic(types, interfaces, names=('a', 'b'), extra=()):
    """Return a function that makes a message: factors of Q by the name of an interface."""

    def make(head, k):
        value = types.types[INTERFACES]
        rows = [
            value([*interfaces], np.array([factor * Q[k, j] for factor in interfaces.values()]))
            for j in range(len(names))
        ]
        rows += [value(['speed_scaling'], np.array([1.0])) for _ in extra]
        return types.types[DYNAMIC](head, [*names, *extra], rows)

    return make


def trajectory(types, points, more=()):
    """Return a function that makes a message: effort, if any, is a factor of Q by point."""

    def make(head, k):
        duration = types.types['builtin_interfaces/msg/Duration'](k, k)
        point = types.types['trajectory_msgs/msg/JointTrajectoryPoint']
        made = [
            point(
                factor * Q[k],
                2.0 * factor * Q[k],
                NONE,
                effort * Q[k] if effort else NONE,
                duration,
            )
            for factor, effort in points
        ]
        return types.types[STATE](head, ['a', 'b'], *made, *more)

    return make


def check(found, torque=3.0):
    assert found.joints == ('a', 'b')
    np.testing.assert_allclose(found.position, Q)
    np.testing.assert_allclose(found.velocity, 2.0 * Q)
    np.testing.assert_allclose(found.torque, torque * Q)


def codes(found):
    return [(item.code, item.severity) for item in found.findings]


@pytest.mark.parametrize('little', [True, False])
def test_the_usual_interfaces_are_read_in_any_order(tmp_path, little):
    types = store()
    given = {'effort': 3.0, 'temperature': 40.0, 'position': 1.0, 'velocity': 2.0, 'mode': 0.0}
    make = dynamic(types, given, extra=['gpio'])
    path = write(
        tmp_path / 'bag', types, {'/dynamic_joint_states': (DYNAMIC, make)}, little=little
    )
    found = read_recording(path)
    check(found)
    assert codes(found) == [('topic_chosen', 'info'), ('joints_left_out', 'warning')]
    check(read_recording(path, topic='dynamic_joint_states', joints=['a', 'b']))


@pytest.mark.parametrize('name', ['torque', 'measured_torque', 'motor_current', 'force'])
def test_the_only_torque_with_another_name_is_read_and_named(tmp_path, name):
    types = store()
    make = dynamic(types, {'position': 1.0, 'velocity': 2.0, name: 3.0, 'external_torque': 9.0})
    found = read_recording(write(tmp_path / 'bag', types, {'/d': (DYNAMIC, make)}))
    check(found)
    assert found.findings[0].code == 'torque_chosen' and name in found.findings[0].text


@pytest.mark.parametrize(
    'names',
    [['external_torque'], ['commanded_torque', 'tau_ext'], ['joint_torque', 'motor_torque']],
)
def test_a_torque_that_may_be_another_one_is_not_read_unless_it_is_named(tmp_path, names):
    types = store()
    torques = {name: 3.0 + k for k, name in enumerate(names)}
    make = dynamic(types, {'position': 1.0, 'velocity': 2.0, **torques})
    path = write(tmp_path / 'bag', types, {'/d': (DYNAMIC, make)})
    with pytest.raises(MissingSignalError, match=f'no measured effort.*{names[0]}') as error:
        read_recording(path)
    assert error.value.lines == tuple(f'torque: {name}' for name in names)
    check(read_recording(path, columns={'torque': names[-1]}), torque=2.0 + len(names))


def test_a_second_torque_beside_the_effort_is_named(tmp_path):
    types = store()
    make = dynamic(types, {'position': 1.0, 'velocity': 2.0, 'torque': 5.0, 'effort': 3.0})
    path = write(tmp_path / 'bag', types, {'/d': (DYNAMIC, make)})
    found = read_recording(path)
    check(found)
    assert codes(found)[0] == ('torque_chosen', 'warning')
    assert 'torque: torque' in found.findings[0].remedy
    check(read_recording(path, columns={'torque': 'torque'}), torque=5.0)
    with pytest.raises(RecordingError, match="no column 'twist' for torque"):
        read_recording(path, columns={'torque': 'twist'})


@pytest.mark.parametrize('plugin', [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
@pytest.mark.parametrize('points', [NEW, OLD])
def test_the_measured_point_of_a_trajectory_controller_is_read(tmp_path, points, plugin):
    types = store(points, 'float64 speed_scaling_factor' if points == NEW else '')
    factors = [(7.0, 0.0), (1.0, 3.0), (0.1, 0.0), (8.0, 4.0)][: len(points)]
    make = trajectory(types, factors, [0.5] if points == NEW else [])
    path = write(tmp_path / 'bag', types, {'/arm/controller_state': (STATE, make)}, plugin)
    found = read_recording(path)
    check(found)
    assert codes(found) == [('topic_chosen', 'info')]
    other = f'{points[0]}.positions'
    wanted = read_recording(path, columns={'position': other})
    np.testing.assert_allclose(wanted.position, 7.0 * Q)


def test_a_commanded_effort_is_not_taken_for_a_measured_one(tmp_path):
    types = store()
    make = trajectory(types, [(1.0, 0.0), (1.0, 0.0), (0.1, 0.0), (8.0, 4.0)])
    path = write(tmp_path / 'bag', types, {'/arm/controller_state': (STATE, make)})
    with pytest.raises(MissingSignalError, match=r'no measured effort.*output\.effort') as error:
        read_recording(path)
    assert error.value.lines == ('torque: output.effort',)
    check(read_recording(path, columns={'torque': 'output.effort'}), torque=4.0)


def test_joint_states_come_before_other_messages_unless_they_have_no_effort(tmp_path):
    types = store()
    joint_state = 'sensor_msgs/msg/JointState'

    def state(head, k, effort=3.0):
        return types.types[joint_state](
            head, ['a', 'b'], Q[k], 2.0 * Q[k], effort * Q[k] if effort else NONE
        )

    values = {'position': 1.0, 'velocity': 2.0, 'effort': 3.0}
    topics = {
        '/controller_state': (STATE, trajectory(types, [(5.0, 5.0)] * 4)),
        '/dynamic_joint_states': (DYNAMIC, dynamic(types, values)),
        '/arm/joint_states': (joint_state, state),
    }
    found = read_recording(write(tmp_path / 'three', types, topics))
    assert found.topic == '/arm/joint_states'
    topics['/arm/joint_states'] = (joint_state, lambda head, k: state(head, k, 0.0))
    found = read_recording(write(tmp_path / 'without', types, topics))
    assert found.topic == '/dynamic_joint_states'
    check(found)
