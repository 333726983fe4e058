# SPDX-License-Identifier: Apache-2.0
"""Capsules around points, checked against capsules and boxes whose size is known."""

import numpy as np
import pytest

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.capsules import around, between


def outside(capsule, points):
    """Largest distance of points from a capsule; below 0: all are inside."""
    start, way = capsule.ends[0], capsule.ends[1] - capsule.ends[0]
    share = np.clip((points - start) @ way / max(way @ way, 1e-300), 0.0, 1.0)
    return (np.linalg.norm(points - start - share[:, None] * way, axis=1) - capsule.radius).max()


@pytest.mark.parametrize('size', [(0.1, 0.1, 0.5), (0.3, 0.3, 0.3), (0.5, 0.2, 0.0), (1, 0, 0)])
def test_flat_thin_and_even_bodies_are_inside_and_no_larger_than_needed(size):
    corners = np.array(np.meshgrid(*[(-0.5 * side, 0.5 * side) for side in size])).reshape(3, -1).T
    capsule = around('link', corners)
    assert outside(capsule, corners) < 1e-9
    # its frame has z along the segment
    along = capsule.length * capsule.placement()[:3, 2]
    np.testing.assert_allclose(along, capsule.ends[1] - capsule.ends[0], atol=1e-12)
    volume = np.pi * capsule.radius**2 * (capsule.length + 4.0 / 3.0 * capsule.radius)
    half = np.sort(size)[:2] / 2.0
    simple = np.pi * (half @ half) * (max(size) + 4.0 / 3.0 * np.sqrt(half @ half))
    assert volume <= 1.001 * simple + 1e-12


def test_without_a_shape_it_reaches_from_joint_to_joint_and_says_so():
    capsule = between('arm', np.array([0.0, 0.3, 0.4]))
    assert (capsule.length, capsule.radius) == pytest.approx((0.5, 0.06))
    assert str(capsule) == (
        'arm: capsule of radius 0.06 m from its frame to its next joint, 12% of the length of '
        '0.5 m'
    )


@pytest.mark.parametrize('points', [np.empty((0, 3)), np.full((5, 3), np.nan)])
def test_a_mesh_without_usable_vertices_is_refused(points):
    with pytest.raises(MotionError, match="link 'arm': its visual mesh has no vertices"):
        around('arm', points)
