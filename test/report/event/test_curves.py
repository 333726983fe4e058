# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
from dataclasses import replace

import numpy as np
import pytest
from collision_events import event

from robodyn_ros.control.collision.black_box.reported import Reported
from robodyn_ros.report.event.curves import event_curves


def numbers(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), '<f4')


def test_torque_error_lies_between_its_thresholds() -> None:
    made = event(6)
    begin = int(made.rows.times[0])
    found = event_curves(replace(made, reported=Reported(start=begin + 10**9 // 8)))
    assert [line[0] for line in found['lines']] == ['threshold', 'threshold below', 'torque error']
    time = numbers(found['time'])
    assert len(time) == len(made.rows.times) and (np.diff(time) >= 0.0).all()
    assert [joint['name'] for joint in found['joints']] == list(made.setup.settings.joints)
    for k, joint in enumerate(found['joints']):
        upper, lower, error = map(numbers, joint['series'])
        np.testing.assert_allclose(upper, made.rows.results[:, 1, k], rtol=1e-6)
        np.testing.assert_array_equal(lower, -upper)
        np.testing.assert_allclose(error, made.rows.results[:, 0, k], rtol=1e-6)
    assert 'started at 0.125 s' in found['sentence']
    end = 1e-9 * float(made.rows.times[-1] - begin)
    assert found['focus'] == [0.0, pytest.approx(min(2.125, end))]
