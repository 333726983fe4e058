# SPDX-License-Identifier: Apache-2.0
import numpy as np

from robodyn_ros.identification.friction.law_state import LawState, grid_of
from robodyn_ros.models.friction_terms import LAWS


def test_shape_coefficients_start_inside_the_velocities():
    reach = np.array([2.0, 0.5])
    state = LawState.begin(LAWS['smooth'], [{}, {}], None, reach)
    assert state.wanted == ('smoothing',) and not state.loaded
    for own, size in zip(state.shapes, reach, strict=True):
        assert own['smoothing'] in grid_of('smoothing', 0.0, size, None)
        assert 0.0 < own['smoothing'] < size


def test_known_coefficients_are_not_searched():
    given = [{'smoothing': 0.3}]
    state = LawState.begin((*LAWS['smooth'], 'load'), given, None, np.array([2.0]))
    assert state.wanted == () and state.shapes == given and state.loaded


def test_a_law_with_a_threshold_may_have_none():
    state = LawState.begin(LAWS['bidirectional'], [{}], None, np.array([1.5]))
    assert state.wanted == ('smoothing', 'threshold') and state.shapes[0]['reach'] == 1.5
    assert grid_of('threshold', 0.0, 1.5, None)[0] == 0.0
    assert grid_of('smoothing', 0.2, 1.5, (0.5, 1.0, 1.0)) == (0.1, 0.2)
