# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from control_arm import small_arm

from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError


def make(**changes: object) -> CollisionSettings:
    options: dict[str, object] = {
        'max_torque_error': [10.0, 5.0], 'contact_threshold': [6.0, 3.0], **changes
    }  # fmt: skip
    return CollisionSettings(('joint1', 'joint2'), **options)  # type: ignore[arg-type]


def test_contact_is_70_percent_of_a_collision_unless_given() -> None:
    np.testing.assert_allclose(make(contact_threshold=None).contact, [7.0, 3.5])
    np.testing.assert_allclose(make(contact_threshold=2.0).contact, [2.0, 2.0])
    make(contact_threshold=[10.0, 5.0])


def test_the_check_of_frozen_values_can_be_switched_off() -> None:
    assert make(frozen_timeout=0.0).frozen_timeout == 0.0
    for bad in (-0.1, np.nan):
        with pytest.raises(ControlError, match='frozen_timeout at least 0'):
            make(frozen_timeout=bad)


@pytest.mark.parametrize(
    ('changes', 'text'),
    [
        ({'max_torque_error': [1.0, 0.0]}, 'max_torque_error of joint joint2 must be above 0'),
        ({'contact_threshold': [11.0, 1.0]}, 'joint1: contact_threshold 11 is above'),
        ({'torque_error_filter': 0.0}, 'torque_error_filter must be above 0'),
        ({'torque_error_enable': [True]}, 'torque_error_enable needs one value for each'),
        *(
            (
                {'low_velocity_torque': [1.0, bad]},
                'low_velocity_torque of joint joint2 must be at least 0',
            )
            for bad in (np.nan, np.inf, -np.inf, -1.0)
        ),
        ({'low_velocity_torque': [1.0]}, 'low_velocity_torque needs one value'),
        ({'filter_cutoff': 0.0}, 'filter_cutoff must be above 0'),
        ({'debounce': 0}, 'debounce must be from 1 to 1000 and'),
        ({'debounce': 1001}, 'debounce must be from 1 to 1000 and'),
        ({'debounce': 1000}, 'filters and debounce delay collisions 2.01 s'),
        ({'torque_error_filter': 1e-12}, 'delay collisions 2e+'),
        ({'filter_cutoff': 1e-9}, 'delay collisions 2.25e+'),
        ({'period': 0.1, 'stale_timeout': 0.3}, 'delay collisions 0.206 s, expected at most 0.2'),
        (  # each of them alone is possible
            {'debounce': 30, 'torque_error_filter': 0.03, 'filter_cutoff': 2.0},
            'delay collisions',
        ),
        ({'stale_timeout': 0.001}, 'stale_timeout must be above'),
        ({'period': 1e-9}, 'stale_timeout must be at most 100 000 periods of 1e-09 s, got 0.05 s'),
    ],
)
def test_settings_that_cannot_be_used_are_refused(changes: dict[str, object], text: str) -> None:
    with pytest.raises(ControlError, match=text):
        make(**changes)


def test_a_collision_is_found_within_the_delay_of_the_settings() -> None:
    """The largest delays that are possible: a step of three times the threshold."""
    model, values = small_arm()
    given = make(torque_error_filter=0.02, filter_cutoff=5.0, debounce=25)
    assert 0.15 < given.delay < 0.2
    detector = TorqueErrorDetector(torque=ModelTorque(model, values), settings=given)
    q, still = np.zeros(2), np.zeros(2)
    held = model.torque(q[None], still[None], still[None], values)[0]
    for sample in range(200):
        q[0] += 1e-9  # no frozen values
        detector.update(100.0 + 0.002 * sample, q, still, held - (sample >= 100) * 30.0)
        if detector.latched:
            break
    assert 0.002 * (sample - 100) < 0.2
