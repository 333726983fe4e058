"""Factors against the power balance: motor torque times speed is joint force times speed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.control.effort.units import Drives
from robodyn_ros.errors import ConfigError

positive = st.floats(0.1, 50.0)
CURRENT = {'rated_current': 5200.0, 'peak_current': 15600.0, 'torque_constant': 0.62}


def joint_force(drives, permille):
    """Force at the joint from 0x6078, by TorqueFactor."""
    return permille / drives.torque_factor()[0]


@given(positive, positive, positive, st.floats(100.0, 1e5), st.floats(-3000.0, 3000.0))
def test_power_of_motor_and_screw_is_the_same(constant, gear, lead, rated, permille):
    lead /= 1e3
    drives = Drives.of(
        1, rated_current=rated, torque_constant=constant, gear_ratio=gear, screw_lead=lead
    )
    ampere = permille / 1e3 * rated / 1e3
    speed = 0.2  # m/s of the slide
    motor_speed = 2.0 * np.pi * speed / lead * gear  # rad/s: counted in revolutions
    assert constant * ampere * motor_speed == pytest.approx(
        joint_force(drives, permille) * speed, rel=1e-12, abs=1e-9
    )


@given(positive, positive, positive, st.floats(-3000.0, 3000.0))
def test_power_of_motor_and_pulley_is_the_same(constant, gear, radius, permille):
    radius /= 1e2
    drives = Drives.of(
        1, rated_current=4e3, torque_constant=constant, gear_ratio=gear, pulley_radius=radius
    )
    belt_speed = 0.3
    motor_speed = belt_speed / radius * gear
    power = constant * 4.0 * permille / 1e3 * motor_speed
    assert power == pytest.approx(joint_force(drives, permille) * belt_speed, rel=1e-12, abs=1e-9)


@given(positive, positive, st.floats(-3000.0, 3000.0))
def test_power_of_motor_and_gear_is_the_same(constant, gear, permille):
    drives = Drives.of(1, rated_current=4e3, torque_constant=constant, gear_ratio=gear)
    power = constant * 4.0 * permille / 1e3 * (1.5 * gear)
    assert power == pytest.approx(joint_force(drives, permille) * 1.5, rel=1e-12, abs=1e-9)


def test_the_formulas_of_the_document():
    mkt, micont, gr, sl, mipeak = 0.62, 5200.0, 50.0, 0.02, 15600.0
    drives = Drives.of(1, **CURRENT, gear_ratio=gr)
    tfac = 1e6 / (mkt * micont * gr)
    np.testing.assert_allclose(drives.torque_factor(), tfac)
    np.testing.assert_allclose(drives.rated(), 1000 / tfac)
    np.testing.assert_allclose(drives.peak(), 1000 * mipeak / (tfac * micont))
    np.testing.assert_allclose(Drives.of(1, **CURRENT).torque_factor(), 1e6 / (mkt * micont))
    linear = Drives.of(1, rated_current=micont, force_constant=35.0)
    np.testing.assert_allclose(linear.torque_factor(), 1e6 / (35.0 * micont))
    # The document prints pi where the work of a revolution says 2 pi.
    screw = Drives.of(1, **CURRENT, gear_ratio=gr, screw_lead=sl).torque_factor()
    printed = 1e6 * sl / (mkt * micont * gr * np.pi)
    np.testing.assert_allclose(screw, 0.5 * printed)


def test_rated_torque_where_it_is_declared_and_rated_current_where_not():
    drives = Drives.of(
        3, rated_torque=[3200.0, 0.0, 0.0], rated_current=[0.0, 5200.0, 0.0],
        torque_constant=[0.0, 0.62, 0.62], gear_ratio=[50.0, 50.0, 50.0],
    )  # fmt: skip
    np.testing.assert_allclose(drives.rated(), [160.0, 161.2, 0.0])
    both = Drives.of(1, **CURRENT, rated_torque=3000.0, screw_lead=0.02)
    np.testing.assert_allclose(both.rated(), 3.0 * 2.0 * np.pi / 0.02)


def test_a_pulley_is_a_screw_of_its_circumference():
    pulley = Drives.of(1, **CURRENT, pulley_radius=0.03)
    screw = Drives.of(1, **CURRENT, screw_lead=2.0 * np.pi * 0.03)
    np.testing.assert_allclose(pulley.torque_factor(), screw.torque_factor())


class Quantity:
    """A number with powers of (kg, m, s, A), enough to add up dimensions."""

    def __init__(self, kilogram, metre, second, ampere=0):
        self.powers = np.array([kilogram, metre, second, ampere])

    def times(self, other, power=1):
        return Quantity(*(self.powers + power * other.powers))


def test_dimensions_add_up():
    """TFac is a current value per torque or force; angles and per mille have no dimension."""
    ampere, metre = Quantity(0, 0, 0, 1), Quantity(0, 1, 0)
    newton, newton_metre = Quantity(1, 1, -2), Quantity(1, 2, -2)
    mkt, mkf = newton_metre.times(ampere, -1), newton.times(ampere, -1)
    none = Quantity(0, 0, 0)
    rotary = none.times(mkt, -1).times(ampere, -1)
    screw = metre.times(mkt, -1).times(ampere, -1)
    linear = none.times(mkf, -1).times(ampere, -1)
    for factor, torque in ((rotary, newton_metre), (screw, newton), (linear, newton)):
        assert not factor.times(torque).powers.any()


@pytest.mark.parametrize(
    ('facts', 'sentence'),
    [
        ({'rated_current': 5.2}, r'object 0x6075 in mA, at least 50, got 5.2: is that in A\?'),
        ({'rated_torque': 3.2}, r'object 0x6076 in mNm, at least 10, got 3.2: is that in Nm\?'),
        ({'gear_ratio': -50.0}, "effort.gear_ratio of joint 'b' must be above 0, got -50"),
        ({'torque_constant': np.nan}, "effort.torque_constant of joint 'b' must be above 0"),
        ({'screw_lead': 0.01, 'pulley_radius': 0.1}, "'b' has both effort.screw_lead and"),
        ({'force_constant': 3.0, 'gear_ratio': 2.0}, 'and effort.gear_ratio, which is of a r'),
        ({'rated_current': 5e3, 'peak_current': 4e3}, 'is 4000 mA, below its rated_current'),
    ],
)
def test_facts_that_cannot_be(facts, sentence):
    columns = {name: [0.0, value] for name, value in facts.items()}
    with pytest.raises(ConfigError, match=sentence):
        Drives.of(2, **columns).check(['a', 'b'])
