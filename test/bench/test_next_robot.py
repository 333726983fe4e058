# SPDX-License-Identifier: Apache-2.0
"""The references of the bench of unknown robots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from next_robot.arm import Arm
from next_robot.condensed import exact
from next_robot.plant import Plant
from next_robot.reference import expert, plain_wls

EXACT = replace(
    Plant.of(1, 2), axes=2, rate=200.0, seconds_recorded=20.0, speed=1.0, bits=30, noise=1e-4,
    torque='motor', friction='linear', masses=1.2, spring=0.0, flaw='',
)  # fmt: skip


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
