# SPDX-License-Identifier: Apache-2.0
"""Lines and circles."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.segments import Segment

PLACES = st.tuples(*[st.floats(-1.0, 1.0)] * 3).map(np.array)


@settings(max_examples=60)
@given(PLACES, PLACES, PLACES)
def test_a_circle_passes_its_three_places_in_order_at_the_speed_asked_for(start, through, target):
    sides = [through - start, target - start, target - through]
    lengths = [np.linalg.norm(side) for side in sides]
    assume(min(lengths) > 0.05)
    assume(np.linalg.norm(np.cross(sides[0], sides[1])) > 0.02 * max(lengths) ** 2)
    segment = Segment(start, target, through=through)
    way = np.linspace(0.0, segment.length, 4001)
    value, slope, curve = segment.displacement(way)
    places = start + value
    np.testing.assert_allclose(places[-1], target, atol=1e-9)
    nearest = np.linalg.norm(places - through, axis=1).min()
    assert nearest < way[1]
    np.testing.assert_allclose(np.linalg.norm(slope, axis=1), 1.0, atol=1e-12)
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
    assert steps == pytest.approx(segment.length, rel=1e-6)
    # all in one plane, at one distance from one point, on the same side all the way
    centre = places[0] + curve[0] / (curve[0] @ curve[0])
    radius = np.linalg.norm(places - centre, axis=1)
    np.testing.assert_allclose(radius, radius[0], rtol=1e-8)
    inner = (value[2:] - value[:-2]) / (2 * way[1])
    np.testing.assert_allclose(slope[1:-1], inner, atol=1e-4 * (1 + np.abs(curve).max() ** 2))


def test_the_long_way_round_is_taken_where_the_place_between_is_there():
    points = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert Segment(*points[[0, 2]], through=points[1]).length == pytest.approx(1.5 * np.pi)
    assert Segment(*points[[0, 1]], through=points[2]).length == pytest.approx(np.pi)


def test_a_line_is_straight_and_turns_the_shorter_way():
    turn = Rotation.from_euler('xyz', [0.3, -0.2, 1.0])
    start = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.5])
    target = np.array([0.0, 3.0, 4.0, *-turn.as_quat(), 1.5])
    segment = Segment(start, target, rotates=True)
    assert segment.length == 5.0
    np.testing.assert_allclose(segment.rotation * 5.0, turn.as_rotvec(), atol=1e-12)
    value, slope, curve = segment.displacement(np.array([0.0, 2.5, 5.0]))
    np.testing.assert_allclose(value[1], [0, 1.5, 2.0, 0, 0, 0, 0, 0.5], atol=1e-15)
    np.testing.assert_allclose(slope[2], [0, 0.6, 0.8, 0, 0, 0, 0, 0.2], atol=1e-15)
    assert not curve.any()


def test_refuses_with_a_sentence():
    here, there = np.zeros(3), np.ones(3)
    with pytest.raises(MotionError, match='needs a target at another place than its start'):
        Segment(here, here)
    with pytest.raises(MotionError, match='three places that are not on one line'):
        Segment(here, there, through=0.3 * there)
