# SPDX-License-Identifier: Apache-2.0
"""The bench on public recordings takes contacts and healthy time from the labels."""

from __future__ import annotations

import numpy as np
import pytest
from bench_collision_public import Touched, position_errors

from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.ramp_law import ErrorSamples

PERIOD = 0.01


def touched(labels: list[tuple[float, float]], unsettled: tuple[float, float] = (0.0, 0.2)):
    """Return 20 s of one joint, with contacts from and to these times."""
    time = PERIOD * np.arange(2000)
    zero = np.zeros((len(time), 1))
    label = np.any([(time >= start) & (time < end) for start, end in labels], axis=0)
    used = (time < unsettled[0]) | (time >= unsettled[1])
    samples = ErrorSamples(time, *[zero] * 4, rests=~used)
    return Touched(Session('', samples, used, used, ~used), label, None)


@pytest.mark.parametrize('gap', [(8.5, 8.6), (9.2, 9.3)])
def test_a_contact_without_a_settled_detector_does_not_count(gap):
    assert touched([(5.0, 5.1), (9.0, 9.5)], gap).onsets().tolist() == [500]


def test_time_around_contacts_is_not_healthy():
    own = touched([(5.0, 6.0)])
    assert [(each.start, each.stop) for each in own.healthy()] == [(20, 450), (700, 2000)]


def test_position_error_needs_a_reference(tmp_path):
    path = tmp_path / 'touched_1.csv'
    path.write_text('time,q_a,reference_a,label\n0,1,1.5,0\n0.01,1,0.75,1\n')
    used = np.ones(2, dtype=bool)
    session = position_errors(path, used, ('a',))
    assert session is not None
    assert session.samples.error.tolist() == [[0.5], [0.25]]
    path.write_text('time,q_a,label\n0,1,0\n0.01,1,1\n')
    assert position_errors(path, used, ('a',)) is None
