# SPDX-License-Identifier: Apache-2.0
"""Errors about columns show lines of YAML that solve them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.tables.columns import load_columns, signals_from
from robodyn_ros.recording.tables.example import mapping_error
from robodyn_ros.recording.tables.table import Table

TIME = np.arange(4.0)


def table(names: str, joints: tuple[str, ...] | None = None) -> Table:
    times = ('time', 'ms', 'zeit')
    columns = {name: TIME if name in times else np.ones(4) for name in names.split()}
    return Table(columns, 'log.csv', joints)


def mapping_of(error: RecordingError) -> dict[str, object]:
    found = yaml.safe_load('\n'.join(error.lines))
    assert list(found)[:3] == ['time', 'position', 'torque']
    assert len([line for line in error.lines if line[0] != '#']) == len(found)
    return dict(found)


@pytest.mark.parametrize(
    ('names', 'mapping', 'expected'),
    [
        # names that are not known
        ('ms m1_pos m2_pos m1_cur m2_cur m1_vel m2_vel', {},
         ('ms', 'm1_pos m2_pos', 'm1_cur m2_cur')),
        ('zeit a1_angle a1_current', {}, ('zeit', 'a1_angle', 'a1_current')),
        ('time q1 q2 m10 m2', {}, ('time', 'q1 q2', 'm2 m10')),
        # several candidates: of topics, of matrices, of named joints
        ('time /a/q1 /a/q2 /b/q1 /b/q2 tau1 tau2', {}, ('time', '/a/q1 /a/q2', 'tau1 tau2')),
        ('time q tau effort', {}, ('time', 'q', 'tau')),
        ('time /js/a/position /js/b/position /ref/a/position /ref/b/position tau_a tau_b', {},
         ('time', '/js/a/position /js/b/position', 'tau_a tau_b')),
        ('time q_left q_right tau_left tau_right effort_left effort_right', {},
         ('time', 'q_left q_right', 'tau_left tau_right')),
        # torque has only columns of another topic
        ('time q1 q2 /ref/effort[0] /ref/effort[1]', {},
         ('time', 'q1 q2', '/ref/effort[0] /ref/effort[1]')),
        # a wrong width
        ('time q1 q2 tau1 tau2 tau3', {}, ('time', 'q1 q2', 'tau1 tau2')),
        # a column that is not there, or no column at all
        ('time q1 q2 tau1 tau2', {'torque': ['i1', 'i2']}, ('time', 'q1 q2', 'tau1 tau2')),
        ('time q1 q2 tau1 tau2', {'velocity': ['w1', 'w2']}, ('time', 'q1 q2', 'tau1 tau2')),
        ('time q1 tau1', {'time': 'ms'}, ('time', 'q1', 'tau1')),
        ('time q1 tau1', {'time': ['a', 'b']}, ('time', 'q1', 'tau1')),
        ('time q1 tau1', {'torque': {'columns': 'no'}}, ('time', 'q1', 'tau1')),
    ],
)  # fmt: skip
def test_the_lines_name_plausible_columns_and_solve_the_error(names, mapping, expected) -> None:
    source = table(names)
    with pytest.raises(RecordingError, match=r'--columns can say .*recordings\.md') as e:
        signals_from(source, load_columns(mapping))
    lines = mapping_of(e.value)
    time, position, torque = expected
    time = {'columns': time, 'unit': time} if time == 'ms' else time
    columns = torque.split()
    if 'cur' in torque:  # only the user knows the scale
        columns = {'columns': columns, 'unit': 'A', 'scale': 'NM_PER_A'}
    assert (lines['time'], lines['position'], lines['torque']) == (
        time, position.split(), columns
    )  # fmt: skip
    if 'cur' in torque:
        with pytest.raises(RecordingError, match='NM_PER_A stands for the scale of torque: write'):
            signals_from(source, load_columns(lines))
        lines['torque']['scale'] = 0.1
    signals = signals_from(source, load_columns(lines))
    assert signals.values['torque'].shape == (4, len(torque.split()))


def test_units_and_words_of_joints_give_columns_of_all_joints() -> None:
    names = 'Zeit_ms Dreh_Grad Arm_Grad M_Dreh M_Arm'
    columns = {name: TIME if name == 'Zeit_ms' else np.ones(4) for name in names.split()}
    error = mapping_error('', columns)
    assert mapping_of(error) == {
        'time': {'columns': 'Zeit_ms', 'unit': 'ms'},
        'position': {'columns': ['Dreh_Grad', 'Arm_Grad'], 'unit': 'deg'},
        'torque': ['M_Dreh', 'M_Arm'],
    }
    assert error.lines[-1].startswith('# joints: ')
    signals = signals_from(Table(columns, 'log.csv'), load_columns(mapping_of(error)))
    np.testing.assert_allclose(signals.values['position'], np.deg2rad(np.ones((4, 2))))
    assert signals.time[-1] == 0.003


def test_columns_that_could_be_anything_are_not_named() -> None:
    columns = table('time Grad_eins zwei drei').columns
    assert mapping_error('', columns).lines[1:] == ('position: [COLUMN]', 'torque: [COLUMN]')
    only = table('time Dreh_Grad Arm_Grad').columns
    assert mapping_error('', only).lines[2] == 'torque: [COLUMN]'


def test_a_signal_that_is_asked_for_gets_a_line_too() -> None:
    columns = table('time q1 q2 tau1 tau2 dq1 dq2').columns
    error = mapping_error('which is it', columns, {'motor_position': ['dq2']}, signal='velocity')
    assert mapping_of(error) == {
        'time': 'time', 'position': ['q1', 'q2'], 'torque': ['tau1', 'tau2'],
        'motor_position': ['dq2'], 'velocity': ['dq1'],
    }  # fmt: skip


def test_a_file_without_enough_columns_shows_where_they_belong() -> None:
    assert mapping_error('', table('time').columns).lines == (
        'time: time',
        'position: [COLUMN]',
        'torque: [COLUMN]',
    )


@pytest.mark.parametrize('name', ["it's", 'a, b', 'yes', '12', '[0]', 'off', 'q: 1', 'null'])
def test_names_are_text_for_yaml(name: str) -> None:
    error = mapping_error('', {}, {'position': [name], 'time': [name], 'torque': [name]})
    assert mapping_of(error) == {'time': name, 'position': [name], 'torque': [name]}


def test_no_name_of_a_column_gives_a_further_line() -> None:
    error = mapping_error('', {}, {'position': ['a\nb\x1b[31m']})
    assert not any('\n' in line or '\x1b' in line for line in error.lines)


def six(*words: str) -> str:
    return ' '.join(f'{word}{k}' for word in words for k in range(1, 7))


@pytest.mark.parametrize(
    ('names', 'position', 'velocity', 'torque'),
    [
        ('t posDes posAct velAct torAct i', 'posAct', 'velAct', 'torAct'),
        ('t i posDes torDes torAct posAct', 'posAct', None, 'torAct'),
        (f'time {six("posDes", "posAct", "velDes", "velAct", "torAct")}',
         six('posAct'), six('velAct'), six('torAct')),
        (f'time {six("Axis.SetPos", "Axis.ActPos", "Axis.ActTorque", "Axis.SetTorque")}',
         six('Axis.ActPos'), None, six('Axis.ActTorque')),
        ('stamp shoulder_pos elbow_pos shoulder_vel elbow_vel shoulder_trq elbow_trq tool_force',
         'shoulder_pos elbow_pos', 'shoulder_vel elbow_vel', 'shoulder_trq elbow_trq'),
        (f'time {six("theta", "omega", "load", "ref_theta")}',
         six('theta'), six('omega'), six('load')),
        (f'time {six("angle", "tau_ext_", "torque_")}', six('angle'), None, six('torque_')),
    ],
)  # fmt: skip
def test_columns_that_belong_together_are_offered(names, position, velocity, torque) -> None:
    columns = table(names).columns
    columns |= {name: TIME for name in ('t', 'stamp') if name in columns}
    lines = mapping_of(mapping_error('', columns, count=len(position.split())))
    assert lines['position'] == position.split() and lines['torque'] == torque.split()
    assert lines.get('velocity') == (velocity.split() if velocity else None)


def test_a_current_asks_for_unit_and_scale() -> None:
    for names, unit in (('i1 i2', 'A'), ('cur1_[mA] cur2_[mA]', 'mA')):
        (line,) = (
            line
            for line in mapping_error('', table(f'time q1 q2 {names}').columns).lines
            if line.startswith('torque')
        )
        assert line.endswith(f'unit: {unit}, scale: NM_PER_A}}  # Nm per A')


def test_the_header_and_names_of_the_file_are_shown(tmp_path: Path) -> None:
    path = tmp_path / 'a.csv'
    path.write_text('Drive 3\nt;Weg [deg];I [mA]\n0;1;2\n1;2;3\n')
    with pytest.raises(RecordingError, match=r"the header is 't;Weg \[deg\];I \[mA\]'") as error:
        read_recording(path)
    assert error.value.lines == (
        'time: t', "position: {columns: ['Weg [deg]'], unit: deg}",
        "torque: {columns: ['I [mA]'], unit: mA, scale: NM_PER_A}  # Nm per A",
    )  # fmt: skip


def test_names_of_the_robot_are_offered_for_those_of_the_file() -> None:
    columns = {'time': TIME, 'q_j1': TIME, 'q_j2': TIME, 'tau_j1': TIME, 'tau_j2': TIME}
    source = Table(columns, 'log.csv')
    with pytest.raises(
        RecordingError, match=r"joint 'a' has no position, only of .*'j1'"
    ) as error:
        signals_from(source, None, ['a', 'b'])
    lines = mapping_of(error.value)
    assert lines['joints'] == ['a', 'b']
    assert signals_from(source, load_columns(lines), ['a', 'b']).joints == ('a', 'b')


def test_a_file_without_time_shows_how_to_give_a_period() -> None:
    columns = {'sample': np.arange(4), 'q1': np.ones(4), 'tau1': np.ones(4)}
    assert mapping_error('', columns).lines[0] == 'time: {period: SECONDS}  # from row to row'


def test_a_joint_is_preferred_to_its_motor_and_strom_is_a_current() -> None:
    sides = ' '.join(f'{side}_{kind}_{k}' for side in ('motor', 'link') for kind in
                     ('pos_meas', 'torque_meas') for k in (1, 2))  # fmt: skip
    mapping = mapping_of(mapping_error('', table(f'time {sides}').columns))
    assert mapping['position'] == ['link_pos_meas_1', 'link_pos_meas_2']
    assert mapping['torque'] == ['link_torque_meas_1', 'link_torque_meas_2']
    mapping = mapping_of(mapping_error('', table('time Ist_1 Strom_1').columns))
    assert mapping['torque'] == {'columns': ['Strom_1'], 'unit': 'A', 'scale': 'NM_PER_A'}


@pytest.mark.parametrize('header', [
    'time,q1,tau1 [lbf*in]\n', 'time,q1,tau1\ns,deg,lbf*in\n', 'time,q1,tau1\ns,deg,[lbf*in]\n',
])  # fmt: skip
def test_a_unit_that_is_not_known_is_never_dropped(tmp_path: Path, header: str) -> None:
    path = tmp_path / 'a.csv'
    path.write_text(header + ''.join(f'{k / 10},{k},{3 * k}\n' for k in range(40)))
    with pytest.raises(RecordingError) as caught:
        read_recording(path)
    torque = mapping_of(caught.value)['torque']
    assert isinstance(torque, dict) and {**torque, 'columns': 0} == {
        'columns': 0, 'unit': 'Nm', 'scale': 'SCALE'}  # fmt: skip
    with pytest.raises(RecordingError, match=r"the unit 'lbf.in' of column 'tau1.* is not known"):
        read_recording(path, columns={'position': ['q1'], 'torque': torque['columns']})
    torque['scale'] = 0.113
    recording = read_recording(path, columns={'position': ['q1'], 'torque': torque})
    np.testing.assert_allclose(recording.torque[:, 0], 0.339 * np.arange(40))


def test_units_that_differ_stay_those_of_the_columns() -> None:
    columns = {'time': TIME, 'axis1 pos [deg]': TIME, 'axis2 pos [mm]': TIME, 'tau1': TIME}
    mapping = mapping_of(mapping_error('', columns))
    assert mapping['position'] == ['axis1 pos [deg]', 'axis2 pos [mm]']


def test_units_of_some_joints_only_are_refused() -> None:
    with pytest.raises(RecordingError, match='some columns of position have the unit deg'):
        signals_from(table('time q1_deg q2 tau1 tau2'))


def test_joints_in_brackets_are_no_units() -> None:
    mapping = {'position': ['q [le]', 'q [ri]'], 'torque': ['m [le]', 'm [ri]']}
    columns = {name: np.ones(4) for names in mapping.values() for name in names}
    assert signals_from(Table({'time': TIME, **columns}, 'x'), mapping).values['torque'].all()


@pytest.mark.parametrize(
    ('shapes', 'mapping', 'command'),
    [
        # of other width: no position as the torque
        ({'q': 2, 'action': 3}, {}, 'COLUMN'),
        ({'q': 2, 'action': 3, 'wish_target': 2}, {}, 'wish_target'),
        ({'angles': 2, 'commands': 2}, {}, 'commands'),
        ({'angles': 2, 'pos_soll': 2}, {}, 'pos_soll'),
        ({'q': 2, 'action_wish': 2}, {'torque': {'unit': 'position_error'}}, 'action_wish'),
        ({'q': 2, 'action': 2}, {'command': {'columns': 'no'}}, 'action'),
    ],
)
def test_commands_are_never_proposed_as_torque(shapes, mapping, command) -> None:
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=(4, width)) for name, width in shapes.items()}
    with pytest.raises(RecordingError) as error:
        signals_from(Table({'time': TIME, **columns}, 'log.npz'), load_columns(mapping))
    lines = yaml.safe_load('\n'.join(error.value.lines))
    assert lines['command'] == [command] and 'torque' not in lines
    if command != 'COLUMN':
        source = Table({'time': TIME, **columns}, 'log.npz')
        assert signals_from(source, load_columns({**mapping, **lines})).drive is not None


def test_single_columns_of_commands_are_as_many_as_positions() -> None:
    with pytest.raises(RecordingError, match='command has 3 columns for 2 joints') as error:
        signals_from(table('time q1 q2 command1 command2 command3'))
    lines = yaml.safe_load('\n'.join(error.value.lines))
    assert lines['command'] == ['command1', 'command2'] and 'torque' not in lines
