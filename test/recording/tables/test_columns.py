# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from tables import TIME, column, table

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.tables.columns import load_columns, signals_from
from robodyn_ros.recording.tables.table import Table


def test_matrices_with_names_in_the_file():
    positions, torques = np.arange(8.0).reshape(4, 2), np.ones((4, 2))
    full = table(('a', 'b'), positions=positions, torques=torques, velocities=2 * positions)
    signals = signals_from(full, joints=['b', 'a'])
    np.testing.assert_array_equal(signals.values['position'], positions[:, ::-1])
    np.testing.assert_array_equal(signals.values['velocity'], 2 * positions[:, ::-1])
    assert signals.findings == []
    with pytest.raises(RecordingError, match="joint 'c' has no position, only of"):
        signals_from(full, joints=['c'])


def test_matrices_without_names():
    positions = np.arange(12.0).reshape(3, 4)
    matrices = {'positions': positions, 'torques': np.zeros((4, 3))}
    signals = signals_from(table(**matrices))
    np.testing.assert_array_equal(signals.values['position'], positions.T)
    assert signals.joints == ('joint1', 'joint2', 'joint3')
    assert [f.code for f in signals.findings] == ['joints_unnamed']
    with pytest.raises(RecordingError, match='has 3 columns of position, got 2 names'):
        signals_from(table(**matrices), joints=['a', 'b'])


@pytest.mark.parametrize('missing', ['time', 'position', 'torque'])
def test_what_cannot_be_found_is_named(missing):
    columns = {'time': TIME, 'position': column(1), 'torque': column(2)}
    del columns[missing]
    with pytest.raises(RecordingError, match=f'no column for {missing} was recognised'):
        signals_from(Table(columns, 'test'))


def test_mapping_with_units_scales_and_offsets():
    full = Table(
        {
            'ms': 1000 * TIME,
            'p1': column(180),
            'p2': column(90),
            'i1': column(1000),
            'i2': column(2000),
            'Kt': np.array([[2.0]]),
        },
        'test',
    )
    mapping = {
        'joints': ['a', 'b'],
        'time': {'columns': 'ms', 'unit': 'ms'},
        'position': {'columns': ['p1', 'p2'], 'unit': 'deg', 'offset': [0.5, 0.0]},
        'torque': {'columns': ['i1', 'i2'], 'unit': 'mA', 'scale': ['Kt', 3]},
    }
    signals = signals_from(full, load_columns(mapping), ['b', 'a'])
    np.testing.assert_allclose(signals.time, TIME)
    assert signals.values['position'][0] == pytest.approx([np.pi / 2, np.pi + 0.5])
    assert signals.values['torque'][0] == pytest.approx([2 * 3, 1 * 2])


def test_scale_by_joint_name_for_columns_known_by_their_name():
    full = table(('a', 'b'), position=np.ones((4, 2)), torque=np.ones((4, 2)))
    signals = signals_from(full, {'torque': {'unit': 'A', 'scale': {'b': 7.0, 'a': 5.0}}})
    assert signals.values['torque'][0].tolist() == [5.0, 7.0]
    with pytest.raises(RecordingError, match="scale of torque has no value for 'b'"):
        signals_from(full, {'torque': {'scale': {'a': 5.0}}})


def test_time_by_its_period():
    signals = signals_from(
        Table({'q': column(1), 'tau': column(2)}, 'x'), {'time': {'period': 0.5}}
    )
    assert signals.time.tolist() == [0.0, 0.5, 1.0, 1.5]


def test_time_in_a_matrix_of_one_column():
    for time in (TIME[:, None], TIME[None]):
        signals = signals_from(Table({'time': time, 'q': column(1), 'tau': column(2)}, 'x'))
        np.testing.assert_array_equal(signals.time, TIME)
    with pytest.raises(RecordingError, match=r'must be one column, its shape is \(4, 2\)'):
        signals_from(Table({'time': np.ones((4, 2)), 'q': column(1), 'tau': column(2)}, 'x'))


@pytest.mark.parametrize(
    'mapping, message',
    [
        ({'position': {'columns': 'nothing'}}, "no column 'nothing' for position"),
        ({'position': {'unit': 'inch'}}, "unit 'inch' of position is not known"),
        ({'torque': {'unit': 'mA'}}, 'torque in mA needs a scale'),
        ({'torque': {'scale': 'q'}}, "'q' must be one number"),
        ({'torque': {'scale': True}}, 'torque: scale must be a finite number or .*, got True'),
        ({'torque': {'scale': [1, 2]}}, 'must have 1 numbers, got 2'),
        ({'torque': {'columns': 5}}, 'torque: columns must be a text or a list, got 5'),
        ({'velocity': {'unit': 'rad/s'}}, 'mapping of velocity names no columns'),
        ({'joints': 'a'}, "joints must be a list, got 'a'"),
        ({'joints': ['a', 'b']}, r'position has 1 columns for 2 joints'),
        ({'time': ['a', 'b']}, 'time must name one column'),
        ({'time': {'period': 'x'}}, "no column 'x'"),
    ],
)
def test_mappings_that_do_not_fit(mapping, message):
    with pytest.raises(RecordingError, match=message):
        signals_from(table(q=column(1), tau=column(2)), load_columns(mapping))


def test_columns_of_another_length():
    with pytest.raises(RecordingError, match="'tau' must have 4 rows as time has"):
        signals_from(table(q=column(1), tau=np.zeros(3)))


@pytest.mark.parametrize(
    'text, message',
    [
        ('speed: x', "unknown entry 'speed', expected some of"),
        ('torque: {colums: x}', "torque: unknown entry 'colums'"),
        ('[1, 2]', 'expected a mapping of names to values'),
        ('a: [', 'cannot be read'),
        ('!!python/object/apply:os.system ["true"]', 'cannot be read'),
    ],
)
def test_mapping_files_are_checked(tmp_path, text, message):
    file = tmp_path / 'map.yaml'
    file.write_text(text)
    with pytest.raises(RecordingError, match=message) as caught:
        load_columns(file)
    assert 'map.yaml' in str(caught.value)
    with pytest.raises(RecordingError, match='cannot be read'):
        load_columns(tmp_path / 'absent.yaml')


def motors(scale=1.0):
    position = np.stack([column(0), column(1)], 1)
    return {'q': position, 'tau': position, 'motor_q': scale * (position + 0.001)}


def test_motor_side_comes_to_the_joint_side_by_the_gear_ratio():
    full = table(('a', 'b'), **motors(), motor_qd_a=column(3), motor_qd_b=column(4))
    mapping = load_columns({'gear_ratio': {'a': 50, 'b': -100}})
    signals = signals_from(full, mapping, joints=['b', 'a'])
    assert signals.gear_ratio.tolist() == [-100.0, 50.0]
    expected = motors()['motor_q'][:, ::-1] / [-100.0, 50.0]
    np.testing.assert_allclose(signals.values['motor_position'], expected)
    np.testing.assert_allclose(signals.values['motor_velocity'][:, 1], column(3) / 50.0)


def test_a_motor_side_without_gear_ratio_is_at_the_joint_side():
    signals = signals_from(table(('a', 'b'), **motors()))
    np.testing.assert_array_equal(signals.values['motor_position'], motors()['motor_q'])
    assert signals.gear_ratio.tolist() == [1.0, 1.0]
    assert signals_from(table(('a', 'b'), q=motors()['q'], tau=motors()['q'])).gear_ratio is None


@pytest.mark.parametrize('ratio', [0, [1.0], 'nothing', {'a': 1.0}])
def test_a_gear_ratio_that_is_none_is_refused(ratio):
    with pytest.raises(RecordingError, match='gear_ratio'):
        signals_from(table(('a', 'b'), **motors()), {'gear_ratio': ratio})
