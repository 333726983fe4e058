# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from servo_arm import servo_arm

from robodyn_ros.analysis.gains.command_delay import with_delay
from robodyn_ros.analysis.gains.estimate import estimate_gains
from robodyn_ros.analysis.gains.known_load import check_load
from robodyn_ros.findings import finding


@pytest.fixture(scope='module')
def runs():
    plant = servo_arm(101)
    recordings = [plant.record(mass, seed=101) for mass in (0.0, 0.2, 0.12)]
    return plant, *with_delay(recordings, plant.model)


def test_the_delay_of_commands_is_found(runs):
    plant, recordings, findings = runs
    assert recordings[0].drive.delay == pytest.approx([plant.delay] * 4, abs=2e-3)
    assert [each.code for each in findings] == ['torque_of_position_error', 'gain_delay']


def test_gains_and_another_load_come_from_positions_alone(runs):
    plant, (empty, loaded, other), _ = runs
    gains = estimate_gains(empty, loaded, plant.model, plant.load(0.2), center_known=True)
    factors = [each.factor for each in gains.joints]
    np.testing.assert_allclose(factors, plant.gain, rtol=0.02)
    assert all(
        gain.low < true < gain.high for gain, true in zip(gains.joints, plant.gain, strict=True)
    )
    checked = check_load(gains, other, plant.load(0.12), center_known=True)
    assert checked.agrees and checked.half_width < 0.012
    assert not check_load(gains, other, plant.load(0.2), center_known=True).agrees


def test_missing_commands_are_reported(runs):
    plant, (empty, *_), _ = runs
    lost = finding('missing_commands', source='bag', topic='/reference', count=3, all=9)
    _, findings = with_delay([replace(empty, findings=(lost,))], plant.model)
    assert lost in findings


def test_a_given_delay_is_kept_and_a_slow_motion_shows_none(runs):
    plant, recordings, _ = runs
    kept, findings = with_delay(recordings, plant.model)
    assert kept[0] is recordings[0] and len(findings) == 1
    still = plant.record(0.0, seconds=4.0, rate=20.0, seed=3)
    (slow,), findings = with_delay([still], plant.model)
    assert findings[1].severity == 'warning' and not slow.drive.delay.any()
