# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.recording.tables.units import is_time, split_unit, unit_of


@pytest.mark.parametrize(
    'name, base, unit',
    [
        ('q1 [deg]', 'q1', 'deg'), ('q1(°)', 'q1', 'deg'), ('q1_deg', 'q1', 'deg'),
        ('q1/deg', 'q1', 'deg'), ('qd_a [°/s]', 'qd_a', 'deg/s'), ('qd [1/min]', 'qd', 'rpm'),
        ('tau_a [N m]', 'tau_a', 'Nm'), ('tau_a [N·m]', 'tau_a', 'Nm'), ('i [mA]', 'i', 'mA'),
        ('load [%]', 'load', 'percent'), ('Time [µs]', 'Time', 'us'), ('time_ms', 'time', 'ms'),
        ('acc [rad/s²]', 'acc', 'rad/s^2'), ('acc [rad/s^2]', 'acc', 'rad/s^2'),
        ('ms', 'ms', 'ms'),
        ('position[0]', 'position[0]', None), ('tau_J[0]', 'tau_J[0]', None),
        ('q_left', 'q_left', None), ('joint_a', 'joint_a', None), ('q1 [x]', 'q1 [x]', None),
        ('time_s', 'time', 's'), ('time [min]', 'time', 'min'), ('tau_min', 'tau_min', None),
        ('tau [kNm]', 'tau', 'kNm'), ('tau1 [N cm]', 'tau1', 'Ncm'), ('q1_mrad', 'q1', 'mrad'),
        ('m_s', 'm_s', None), ('[deg]', '[deg]', None),
    ],
)  # fmt: skip
def test_units_at_the_end_of_names(name, base, unit):
    assert split_unit(name) == (base, unit)


def test_units_in_brackets_and_times():
    assert unit_of('[m]') == 'm' and unit_of('Nm') == 'Nm' and unit_of('axis') is None
    assert is_time('Time [s]') and is_time('time_ms') and not is_time('tau')
