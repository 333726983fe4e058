# SPDX-License-Identifier: Apache-2.0
"""Random plants, their flaws, the references and the table of the bench of unknown robots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from next_robot.arm import Arm
from next_robot.condensed import exact
from next_robot.flaws import FLAWS
from next_robot.plant import Plant
from next_robot.reference import expert, plain_wls

EXACT = replace(
    Plant.of(1, 2), axes=2, rate=200.0, seconds_recorded=20.0, speed=1.0, bits=30, noise=1e-4,
    torque='motor', friction='linear', masses=1.2, spring=0.0, flaw='',
)  # fmt: skip
SIGNALS = {
    'time': np.arange(1000) / 100.0,
    'position': np.arange(2000.0).reshape(1000, 2),
    'torque': np.arange(2000.0).reshape(1000, 2),
}


def test_plants_are_reproducible_alone() -> None:
    plant = Plant.of(3, 7)
    assert plant == Plant.of(3, 7) != Plant.of(3, 8)
    first, second = Arm(plant).recording(), Arm(plant).recording()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name])
    assert len(first['time']) == round(plant.seconds_recorded * plant.rate)


@pytest.mark.parametrize('rate', [200.0, 2000.0])
def test_references_recover_a_plant_that_their_model_describes(rate: float) -> None:
    arm = Arm(replace(EXACT, rate=rate))
    moved, torque = arm.truth()
    truth, size = exact(arm.body, moved, torque), np.sqrt(np.mean(torque**2, axis=0))
    best, choices = expert(arm.body, arm.recording(), truth, np.arange(2), size)
    assert best < 0.002, choices
    plain = plain_wls(arm.body, arm.recording(), truth) / size
    assert (plain < 0.1).all()
    assert best < np.sqrt(np.mean(plain**2))


@pytest.mark.parametrize('name', FLAWS)
def test_mended_recordings_hold_samples_of_the_clean_one_only(name: str) -> None:
    flaw = FLAWS[name]
    made = flaw.make(SIGNALS, np.random.default_rng(5))
    at_measurement = name in ('', 'short', 'resting')
    assert (made is SIGNALS) == at_measurement
    if flaw.mend:
        mended = flaw.mend(made, np.random.default_rng(5))
        rows = np.rint(mended['position'][:, 0] / 2.0).astype(int)
        assert 300 < len(rows) <= 1000
        for signal in ('position', 'torque'):
            np.testing.assert_allclose(mended[signal], SIGNALS[signal][rows], atol=1e-6)
