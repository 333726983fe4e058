# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.control.effort.joint_effort import INT16, EffortConversion
from robodyn_ros.control.effort.units import Drives
from robodyn_ros.errors import ConfigError
from robodyn_ros.models.interface import Joint

FACTS = {
    'rated_current': 5200.0, 'rated_torque': 3200.0, 'torque_constant': 0.62, 'gear_ratio': 50.0,
}  # fmt: skip
PERMILLE = 'permille_rated_torque'


def conversion(unit='Nm', side='joint', *, command=None, direction=1.0, count=1, **facts):
    names = [f'joint{number + 1}' for number in range(count)]
    unit = [unit] * count if isinstance(unit, str) else unit
    return EffortConversion(
        names,
        unit=unit,
        command_unit=[command] * count if command else unit,
        side=[side] * count,
        gravity=['included'] * count,
        direction=[direction] * count,
        drives=Drives.of(count, **facts),
    )


@pytest.mark.parametrize(
    ('unit', 'side', 'facts', 'expected'),
    [
        ('Nm', 'joint', {}, 7.0),
        ('SI', 'joint', {}, 7.0),
        ('Nm', 'joint', {'gear_ratio': 50.0}, 7.0),
        ('Nm', 'motor', {'gear_ratio': 50.0}, 350.0),
        ('Nm', 'motor', {'gear_ratio': 2.0}, 14.0),
        ('A', 'joint', {'torque_constant': 0.5}, 3.5),
        ('Nm', 'motor', {'gear_ratio': 2.0, 'screw_lead': 0.01}, 7.0 * 2.0 * 2.0 * np.pi / 0.01),
        ('Nm', 'motor', {'pulley_radius': 0.05}, 140.0),
        ('N', 'motor', {'force_constant': 30.0}, 7.0),
        ('A', 'motor', FACTS, 7.0 * 0.62 * 50.0),
        ('A', 'motor', {'torque_constant': 0.1, 'gear_ratio': 1.0}, 0.7),
        ('A', 'joint', {'torque_constant': 12.5}, 87.5),
        ('raw', 'joint', {'torque_constant': 0.02}, 0.14),
        ('raw', 'joint', {'force_constant': 3.0}, 21.0),
        ('A', 'motor', {'force_constant': 30.0}, 210.0),
        ('permille_rated_current', 'motor', FACTS, 7e-3 * 5.2 * 0.62 * 50.0),
        (PERMILLE, 'motor', FACTS, 7e-3 * 3.2 * 50.0),
        (PERMILLE, 'joint', {'rated_torque': 3200.0}, 7e-3 * 3.2),
    ],
)
def test_seven_units_at_the_joint_and_back(unit, side, facts, expected):
    for direction in (1.0, -1.0):
        found = conversion(unit, side, direction=direction, **facts)
        torque = found.feedback(np.array([7.0]))
        np.testing.assert_allclose(torque, direction * expected, rtol=1e-12)
        np.testing.assert_allclose(found.commands(torque[None]), [[7.0]], rtol=1e-12)


def test_current_of_feedback_and_torque_of_command_as_cia402_has_them():
    """0x6078 comes in per mille of 0x6075, 0x60B2 goes in per mille of 0x6076."""
    found = conversion('permille_rated_current', 'motor', command=PERMILLE, **FACTS)
    torque = found.feedback(np.array([1000.0]))
    np.testing.assert_allclose(torque, 5.2 * 0.62 * 50.0)
    np.testing.assert_allclose(found.commands(torque[None])[0], 1000.0 * 5.2 * 0.62 / 3.2)


@given(st.floats(-1e9, 1e9))
def test_per_mille_is_clamped_and_never_wraps(torque):
    found = conversion(PERMILLE, 'motor', **FACTS)
    value = float(found.commands(np.array([[torque]]))[0, 0])
    exact = torque / (3.2e-3 * 50.0)
    assert value == pytest.approx(np.clip(exact, -INT16, INT16), rel=1e-12)
    assert np.int16(round(value)) == round(value)


def test_each_joint_has_its_own_unit():
    facts = {'torque_constant': 2.0, 'rated_torque': 5e5}
    for unit in (
        ['Nm', 'A', PERMILLE],
        [PERMILLE, 'A', 'Nm'],
        ['Nm', 'A', 'A'],
        ['Nm', 'SI', PERMILLE],
    ):
        scale = np.array([{'A': 2.0, PERMILLE: 0.5}.get(word, 1.0) for word in unit])
        found = conversion(unit, count=3, **facts)
        torque = found.feedback(np.array([[3.0, 4.0, 5.0]]))
        np.testing.assert_allclose(torque, [[3.0, 4.0, 5.0] * scale])
        np.testing.assert_allclose(found.commands(torque), [[3.0, 4.0, 5.0]])
        # Per mille of one joint stop at their limit, the other units have none.
        expected = np.where(np.array(unit) == PERMILLE, -INT16, -1e6)
        np.testing.assert_allclose(found.commands(-1e6 * scale), expected)


def test_many_samples_at_once_and_in_place():
    found = conversion('A', 'motor', count=3, **FACTS)
    found.scale[:] = [1.0, 2.0, -3.0]
    values = np.arange(12.0).reshape(4, 3)
    result = found.feedback(values)
    assert result is values
    np.testing.assert_array_equal(result, np.arange(12.0).reshape(4, 3) * [1.0, 2.0, -3.0])


def test_a_limit_beyond_int16_is_refused():
    found = conversion(PERMILLE, 'motor', **FACTS)
    found.check_limit(np.array([5000.0]))
    with pytest.raises(ConfigError, match=r"of joint 'joint1' is 37500 .*takes at most 32767"):
        found.check_limit(np.array([6000.0]))
    conversion().check_limit(np.array([1e9]))
    found = conversion(PERMILLE, direction=-1.0, rated_torque=1e6)  # 1 Nm per unit
    found.check_limit(np.array([INT16]))
    with pytest.raises(ConfigError, match='takes at most 32767'):
        found.check_limit(np.array([INT16 + 1.0]))
    assert conversion(PERMILLE, rated_torque=1e6).commands(np.array([1e5])) == INT16


def test_what_is_declared_is_reported_for_each_joint():
    found = EffortConversion(
        ['a', 'b'], unit=['Nm', 'A'], command_unit=['Nm', 'Nm'], side=['joint', 'motor'],
        gravity=['excluded', 'included'], direction=[1.0, -1.0],
        drives=Drives.of(2, torque_constant=0.5, gear_ratio=10.0),
    )  # fmt: skip
    assert found.gravity_excluded.tolist() == [True, False]
    assert found.describe(0) == 'Nm on the joint side, gravity excluded (1 Nm or N per unit)'
    text = 'A on the motor side, gravity included, direction reversed (-5 Nm or N per unit)'
    assert found.describe(1) == text


@pytest.mark.parametrize(
    ('unit', 'side', 'facts', 'sentence'),
    [
        ('A', 'motor', {}, 'in A, which needs effort.torque_constant .of a linear motor'),
        ('permille_rated_current', 'motor', {'torque_constant': 1.0}, 'needs effort.rated_cur'),
        (PERMILLE, 'motor', {}, 'in permille_rated_torque, which needs effort.rated_torque'),
        ('A', 'joint', FACTS, 'in A on the joint side, so gear, screw and pulley have no effect'),
        ('SI', 'motor', {}, 'is declared as SI, which is a joint-side unit'),
        ('A', 'motor', {'torque_constant': -1.0}, 'must be above 0, got -1'),
        ('A', 'motor', {'torque_constant': 0.1}, 'motor side, .*; set gear_ratio: 1 for a direct'),
        ('Nm', 'motor', {}, 'motor side, which needs effort.gear_ratio, effort.screw_lead or eff'),
        ('N', 'motor', {}, 'of a linear motor: effort.force_constant.; set gear_ratio: 1 for a d'),
        (PERMILLE, 'motor', {'rated_torque': 3200.0}, 'set gear_ratio: 1 for a direct drive'),
    ],
)
def test_what_cannot_be_converted(unit, side, facts, sentence):
    with pytest.raises(ConfigError, match=f"joint 'joint1'.*{sentence}"):
        conversion(unit, side, **facts)


@pytest.mark.parametrize(
    ('unit', 'side', 'facts', 'type_', 'wrong'),
    [
        ('Nm', 'joint', {}, 'prismatic', 'Nm'),
        ('N', 'joint', {}, 'revolute', 'N'),
        ('Nm', 'joint', {'screw_lead': 0.01}, 'prismatic', 'Nm'),
        ('Nm', 'motor', {'screw_lead': 0.01}, 'revolute', 'N'),
        ('Nm', 'motor', {'pulley_radius': 0.05}, 'revolute', 'N'),
        ('A', 'motor', {'torque_constant': 1.0, 'pulley_radius': 0.05}, 'revolute', 'N'),
        ('Nm', 'motor', {'gear_ratio': 3.0}, 'prismatic', 'Nm'),
        ('A', 'motor', {'force_constant': 20.0}, 'continuous', 'N'),
        ('permille_rated_current', 'motor', FACTS, 'prismatic', 'Nm'),
    ],
)
def test_unit_and_type_of_a_joint(unit, side, facts, type_, wrong):
    found = conversion(unit, side, **facts)
    with pytest.raises(ConfigError, match=f"'joint1' is {type_}.*declares {wrong} at the joint"):
        found.check_joints([Joint('joint1', type_)])
    found.check_joints([Joint('joint1', 'prismatic' if wrong == 'N' else 'revolute')])
    conversion('SI').check_joints([Joint('joint1', type_)])
