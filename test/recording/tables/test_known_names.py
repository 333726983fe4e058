# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from tables import column, table

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.tables.columns import signals_from


def read(names, joints=None, mapping=None):
    """Read columns of which the first begins at 0, the next at 1, and so on."""
    columns = {name: column(index) for index, name in enumerate(names.split())}
    return signals_from(table(**columns), mapping, joints)


def first(signals):
    return {name: values[0].tolist() for name, values in signals.values.items()}


@pytest.mark.parametrize(
    'position, torque',
    [
        ('q_{}', 'tau_{}'),
        ('position_{}', 'effort_{}'),
        ('Position.{}', 'Torque.{}'),
        ('pos:{}', 'eff:{}'),
        ('/joint_states/{}/position', '/joint_states/{}/effort'),
        ('{}.position', '{}.torque'),
        ('- {}_position', '- {}_effort'),
        ('{}_Pos', '{}_Force'),
    ],
)
def test_known_names_with_joints(position, torque):
    names = ['arm_2', 'elbow']
    columns = {position.format(name): column(index) for index, name in enumerate(names)}
    columns |= {torque.format(name): column(9 - index) for index, name in enumerate(names)}
    shuffled = dict(reversed(columns.items()))
    signals = signals_from(table(**shuffled), joints=names)
    assert signals.joints == ('arm_2', 'elbow')
    np.testing.assert_array_equal(signals.values['position'], np.stack([column(0), column(1)], 1))
    np.testing.assert_array_equal(signals.values['torque'], np.stack([column(9), column(8)], 1))
    assert signals.findings == []


@pytest.mark.parametrize(
    'position, torque',
    [
        ('q{}', 'tau{}'),
        ('q_{}', 'tau_{}'),
        ('q[{}]', 'tau[{}]'),
        ('q[{}]', 'tau_J[{}]'),
        ('/joint_states/position[{}]', '/joint_states/effort[{}]'),
        ('field.position{}', 'field.effort{}'),
        ('actual_q_{}', 'torque_{}'),
    ],
)
def test_numbered_columns_count_by_number(position, torque):
    columns = {position.format(number): column(number) for number in (10, 9, 2)}
    columns |= {torque.format(number): column(-number) for number in (2, 9, 10)}
    signals = signals_from(table(**columns), joints=['x', 'y', 'z'])
    assert signals.values['position'][0].tolist() == [2.0, 9.0, 10.0]
    assert signals.values['torque'][0].tolist() == [-2.0, -9.0, -10.0]
    assert [f.code for f in signals.findings] == ['joints_named_by_caller']


def test_columns_of_several_topics_are_not_mixed():
    columns = {f'{topic}q{k}': column(k) for topic in ('/a/', '/b/') for k in (1, 2)}
    columns |= {f'tau{k}': column(-k) for k in (1, 2)}
    with pytest.raises(RecordingError, match=r"'/a/', '/b/'.* could all be position"):
        signals_from(table(**columns))
    columns |= {f'q{k}': column(10 + k) for k in (1, 2)}
    assert signals_from(table(**columns)).values['position'][0].tolist() == [11.0, 12.0]


def test_a_suffix_names_joints_only_where_nothing_else_does():
    columns = {'q_a': column(1), 'target_position': column(2), 'tau_a': column(3)}
    assert signals_from(table(**columns)).joints == ('a',)


STATES = '/js/position[0] /js/position[1] /js/effort[0] /js/effort[1]'


@pytest.mark.parametrize(
    'names',
    [
        f'{STATES} /jtc/reference/velocities[0] /jtc/reference/velocities[1]',
        f'{STATES} /jtc/reference/effort[0] /jtc/reference/effort[1]',
        'q1 q2 tau1 tau2 cmd.dq1 cmd.dq2',
        'q1 q2 tau1 tau2 /cmd/velocity[0] /fb/velocity[0]',
        'q1 q2 tau1 tau2 tool_velocity',
        'q1 q2 tau1 tau2 tcp_vel tcp_acc',
        'q1 q2 tau1 tau2 motor_current_vel ext_motor_pos',
        'q1 q2 tau1 tau2 tau_J1 tau_J2',
        'q1 q2 tau1 tau2 tau_J',
        'a/position b/position a/effort b/effort cart_velocity',
        'a/position b/position a/effort b/effort /ref/effort[0] /ref/position[0]',
        '/js/a/position /js/b/position /js/a/effort /js/b/effort /ref/a/velocity /ref/b/velocity',
        '/js/a/position /js/b/position /js/a/effort /js/b/effort /ref/a/effort /ref/b/effort',
        'q_a q_b tau_a tau_b /ref/a/velocity /ref/b/velocity',
        'a_position b_position a_effort b_effort tool_velocity',
        '/js/a/position /js/b/position /js/a/effort /js/b/effort /cart/tool/velocity',
        'a/position b/position a/effort b/effort /ref/a/velocity vel_b',
    ],
)
def test_other_columns_change_nothing(names):
    signals = read(names)
    assert first(signals) == {'position': [0.0, 1.0], 'torque': [2.0, 3.0]}
    named = 'q1' not in names and '[0]' not in names.split()[0]
    assert signals.joints == (('a', 'b') if named else ('joint1', 'joint2'))


@pytest.mark.parametrize(
    'names',
    [
        f'{STATES} /js/velocity[0] /js/velocity[1] /ref/velocity[0] /ref/velocity[1]',
        'q1 q2 tau1 tau2 dq1 dq2 /ref/velocity[0]',
        'actual_q_0 actual_q_1 tau_0 tau_1 actual_qd_0 actual_qd_1',
        'a_position b_position a_effort b_effort a_velocity b_velocity tool_velocity',
        '/js/a/position /js/b/position /js/a/effort /js/b/effort /js/a/velocity /js/b/velocity '
        '/ref/a/velocity /ref/b/velocity',
        'q_J2 q_J1 tau_J2 tau_J1 dq_J2 dq_J1',
    ],
)
def test_velocities_of_the_topic_of_the_positions_are_taken(names):
    expected = {'position': [0.0, 1.0], 'torque': [2.0, 3.0], 'velocity': [4.0, 5.0]}
    assert first(read(names)) == expected


@pytest.mark.parametrize(
    'names, message',
    [
        ('q1 /ref/effort[0]', r"torque has only columns of \['/ref/'\]"),
        ('/js/q1 /a/tau1 /b/tau1', r"torque has only columns of \['/a/', '/b/'\]"),
        ('/js/a/position /ref/a/position tau_a', 'could all be position'),
        ('q_a /js/a/effort /ref/a/effort', 'could all be torque'),
        ('q_a tau_a effort_a', 'could all be torque'),
        ('q_a tau_a motor_q_A', "joint 'a' has no motor_position, only of \\['A'\\]"),
        ('a_pos a_position a_effort', 'could all be position'),
        ('q1 q2 tau1 tau2 tau3', r"torque has 3 columns for 2 joints \(\['joint1', 'joint2'\]\)"),
    ],
)
def test_what_does_not_fit_is_not_guessed(names, message):
    with pytest.raises(RecordingError, match=message):
        read(names)


def test_a_mapping_decides_between_topics():
    names = '/a/q1 /b/q1 /a/tau1 /b/tau1 /a/dq1 /b/dq1'
    expected = {'position': [1.0], 'torque': [3.0], 'velocity': [5.0]}
    assert first(read(names, mapping={'position': '/b/q1'})) == expected
    assert first(read('q tau effort', mapping={'torque': 'effort'}))['torque'] == [2.0]
