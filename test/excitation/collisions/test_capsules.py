# SPDX-License-Identifier: Apache-2.0
"""Capsules around points, checked against capsules and boxes whose size is known."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.capsules import around, between


def outside(capsule, points):
    """Largest distance of points from a capsule; below 0: all are inside."""
    start, way = capsule.ends[0], capsule.ends[1] - capsule.ends[0]
    share = np.clip((points - start) @ way / max(way @ way, 1e-300), 0.0, 1.0)
    return (np.linalg.norm(points - start - share[:, None] * way, axis=1) - capsule.radius).max()


@pytest.mark.parametrize('seed', range(4))
def test_a_known_capsule_is_found_however_it_lies(seed):
    random = np.random.default_rng(seed)
    radius, length = random.uniform(0.03, 0.1), random.uniform(0.1, 0.6)
    balls = random.normal(size=(4000, 3))
    balls *= radius / np.linalg.norm(balls, axis=1)[:, None]
    balls[:, 2] += np.where(balls[:, 2] > 0.0, length, 0.0)
    points = Rotation.random(rng=random).apply(balls) + random.normal(size=3)
    found = around('link', points)
    assert outside(found, points) < 1e-9
    assert found.radius == pytest.approx(radius, rel=0.03)
    assert found.length == pytest.approx(length, abs=0.1 * radius)
    # its frame has z along the segment
    frame = found.placement()
    along = found.length * frame[:3, 2]
    np.testing.assert_allclose(along, found.ends[1] - found.ends[0], atol=1e-12)
    assert np.linalg.det(frame[:3, :3]) == pytest.approx(1.0)


@pytest.mark.parametrize('size', [(0.1, 0.1, 0.5), (0.3, 0.3, 0.3), (0.5, 0.2, 0.0), (1, 0, 0)])
def test_flat_thin_and_even_bodies_are_inside_and_no_larger_than_needed(size):
    corners = np.array(np.meshgrid(*[(-0.5 * side, 0.5 * side) for side in size])).reshape(3, -1).T
    found = around('link', corners)
    assert outside(found, corners) < 1e-9
    volume = np.pi * found.radius**2 * (found.length + 4.0 / 3.0 * found.radius)
    half = np.sort(size)[:2] / 2.0
    simple = np.pi * (half @ half) * (max(size) + 4.0 / 3.0 * np.sqrt(half @ half))
    assert volume <= 1.001 * simple + 1e-12


def test_without_a_shape_it_reaches_from_joint_to_joint_and_says_so():
    found = between('arm', np.array([0.0, 0.3, 0.4]))
    assert (found.length, found.radius) == pytest.approx((0.5, 0.06))
    assert str(found) == (
        'arm: capsule of radius 0.06 m from its frame to its next joint, 12% of the length of '
        '0.5 m'
    )


@pytest.mark.parametrize('points', [np.empty((0, 3)), np.full((5, 3), np.nan)])
def test_a_mesh_without_usable_vertices_is_refused(points):
    with pytest.raises(MotionError, match="link 'arm': its visual mesh has no vertices"):
        around('arm', points)
