# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from healthy_arm import MODEL, VALUES, flat_law, recorded

from robodyn_ros.analysis.thresholds.events import rows_of, run_detector
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque

LEARNED = flat_law('', np.array([10.0, 5.0]), period=0.01)


def detector() -> TorqueErrorDetector:
    settings = LEARNED.settings(CollisionSettings(MODEL.joint_names, 1.0))
    return TorqueErrorDetector(
        torque=ModelTorque(MODEL, VALUES), settings=settings, thresholds=LEARNED.thresholds()
    )


def test_each_push_is_one_event_with_the_stamp_of_its_sample() -> None:
    pushes = {12.0: 4.0, 14.0: 9.0, 16.0: 40.0, 16.5: -40.0, 18.0: 0.5}
    watch = run_detector(detector(), recorded(10.0, 2, pushes))
    assert [each.level for each in watch.events] == [
        Level.CONTACT, Level.COLLISION, Level.COLLISION,
    ]  # fmt: skip
    assert {each.joint for each in watch.events} == {'joint2'}
    for each, start in zip(watch.events, (12.0, 14.0, 16.0), strict=True):
        assert start < each.contact <= each.time <= start + 0.1
    assert abs(watch.events[2].end - 16.85) < 0.1
    assert 35.0 < watch.events[2].torque_error < 45.0 and watch.events[2].threshold == 5.0
    assert watch.samples == 1000 and watch.unknown == 10
    rows = list(rows_of(watch, 1e9))
    assert rows[0][0] == 'time' and rows[1][3:5] == ('CONTACT', 'joint2')
    assert float(rows[1][0]) == round(1e9 + watch.events[0].time, 6)


def test_sensitivity_turns_a_contact_into_a_collision() -> None:
    sensitive = detector()
    sensitive.sensitivity = 1.6
    watch = run_detector(sensitive, recorded(4.0, 2, {12.0: 4.0}))
    assert [each.level for each in watch.events] == [Level.COLLISION]
    assert watch.events[0].threshold == 5.0 / 1.6
