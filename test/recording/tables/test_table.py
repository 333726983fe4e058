# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy as np
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.tables.table import Table, convert_signal, table_of

TABLE = Table({}, 'test')


@pytest.mark.parametrize(
    'signal, unit, one',
    [
        ('time', 'ms', 1e-3),
        ('time', 'ns', 1e-9),
        ('position', 'deg', np.pi / 180),
        ('position', 'rev', 2 * np.pi),
        ('position', 'mm', 1e-3),
        ('velocity', 'rpm', 2 * np.pi / 60),
        ('velocity', 'deg/s', np.pi / 180),
        ('acceleration', 'mm/s^2', 1e-3),
        ('torque', 'mNm', 1e-3),
        ('torque', 'kN', 1e3),
    ],
)
def test_units(signal, unit, one):
    values = convert_signal(np.array([[2.0]]), signal, {'unit': unit}, ('a',), TABLE)
    assert values[0, 0] == pytest.approx(2 * one, rel=1e-15)


@pytest.mark.parametrize(
    ('unit', 'one'),
    [('A', 1.0), ('mA', 1e-3), ('V', 1.0), ('mV', 1e-3), ('percent', 0.01), ('permille', 1e-3)],
)
def test_signals_of_drives_become_torque_by_a_scale(unit, one):
    mapping = {'unit': unit, 'scale': 5.0}
    values = convert_signal(np.array([[2.0]]), 'torque', mapping, ('a',), TABLE)
    assert values[0, 0] == pytest.approx(10.0 * one, rel=1e-15)


def test_nothing_to_convert_is_no_copy():
    values = np.ones((3, 1))
    assert convert_signal(values, 'torque', 'tau', ('a',), TABLE) is values
    assert convert_signal(values, 'torque', {'unit': 'N'}, ('a',), TABLE) is values


def test_integers_become_floats_and_text_is_refused():
    assert (
        convert_signal(np.ones((2, 1), dtype=np.int16), 'torque', None, ('a',), TABLE).dtype
        == float
    )
    with pytest.raises(RecordingError, match='torque is not numeric'):
        convert_signal(np.array([['a']]), 'torque', None, ('a',), TABLE)


def test_joint_names_are_text():
    def joints(**arrays):
        return table_of(arrays.items(), Path('a')).joints

    assert joints(joint_names=np.array(['a ', 'b'])) == ('a', 'b')
    assert joints(joints=np.zeros(2)) is None
