# SPDX-License-Identifier: Apache-2.0
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


@pytest.mark.parametrize('transmission', ['screw_lead', 'pulley_radius', 'none'])
@given(positive, positive, positive, st.floats(100.0, 1e5), st.floats(-3000.0, 3000.0))
def test_power_of_motor_and_joint_is_the_same(transmission, constant, gear, size, rated, permille):
    size /= 1e3
    facts = {} if transmission == 'none' else {transmission: size}
    drives = Drives.of(1, rated_current=rated, torque_constant=constant, gear_ratio=gear, **facts)
    turn = {'screw_lead': size / (2.0 * np.pi), 'pulley_radius': size, 'none': 1.0}[transmission]
    speed = 0.2  # m/s of the slide or the belt, rad/s of the joint
    power = constant * permille / 1e3 * rated / 1e3 * speed / turn * gear
    assert power == pytest.approx(joint_force(drives, permille) * speed, rel=1e-12, abs=1e-9)


def test_the_formulas_of_the_document():
    mkt, micont, gr, sl, mipeak = 0.62, 5200.0, 50.0, 0.02, 15600.0
    drives = Drives.of(1, **CURRENT, gear_ratio=gr)
    tfac = 1e6 / (mkt * micont * gr)
    np.testing.assert_allclose(drives.torque_factor(), tfac)
    np.testing.assert_allclose(drives.continuous_torque(), 1000 / tfac)
    np.testing.assert_allclose(drives.peak(), 1000 * mipeak / (tfac * micont))
    np.testing.assert_allclose(Drives.of(1, **CURRENT).torque_factor(), 1e6 / (mkt * micont))
    linear = Drives.of(1, rated_current=micont, force_constant=0.35)
    np.testing.assert_allclose(linear.torque_factor(), 1e6 / (0.35 * micont))
    # The document prints pi where the work of a revolution says 2 pi.
    screw = Drives.of(1, **CURRENT, gear_ratio=gr, screw_lead=sl).torque_factor()
    printed = 1e6 * sl / (mkt * micont * gr * np.pi)
    np.testing.assert_allclose(screw, 0.5 * printed)


def test_rated_torque_where_it_is_declared_and_rated_current_where_not():
    drives = Drives.of(
        3, rated_torque=[3200.0, 0.0, 0.0], rated_current=[0.0, 5200.0, 0.0],
        torque_constant=[0.0, 0.62, 0.62], gear_ratio=[50.0, 50.0, 50.0],
    )  # fmt: skip
    np.testing.assert_allclose(drives.continuous_torque(), [160.0, 161.2, 0.0])
    both = Drives.of(1, **CURRENT, rated_torque=3000.0, screw_lead=0.02)
    np.testing.assert_allclose(both.continuous_torque(), 3.0 * 2.0 * np.pi / 0.02)


@pytest.mark.parametrize(
    ('facts', 'sentence'),
    [
        ({'rated_current': 0.52}, r'object 0x6075 in mA, at least 50, got 0.52: is that in A\?'),
        ({'rated_torque': 9.9}, r'object 0x6076 in mNm, at least 10, got 9.9: is that in Nm\?'),
        ({'peak_current': 49.9}, 'in mA, at least 50, got 49.9: is that in A'),
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
