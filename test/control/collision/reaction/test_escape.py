# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from robodyn_ros.control.collision.reaction.escape import brake_on_path, leads_away, retract
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.spline import TrajectoryPoints
from robodyn_ros.models.interface import Array

JOINTS = ('joint1', 'joint2')
MOST_V, MOST_A = np.array([1.0, 0.5]), np.array([5.0, 2.0])


def dense(points: TrajectoryPoints, start: Array, velocity: Array) -> tuple[Array, Array]:
    """Cubic segments, as a joint_trajectory_controller interpolates them: velocity, position."""
    assert points.velocity is not None
    time = np.concatenate([[0.0], points.time])
    q = np.vstack([start, points.position])
    qd = np.vstack([velocity, points.velocity])
    rows, rates = [], []
    for k in range(len(points.time)):
        width = time[k + 1] - time[k]
        s = np.linspace(0.0, 1.0, 50)[:, None]
        h = [2 * s**3 - 3 * s**2 + 1, s**3 - 2 * s**2 + s, -2 * s**3 + 3 * s**2, s**3 - s**2]
        parts = [q[k], width * qd[k], q[k + 1], width * qd[k + 1]]
        rows.append(sum(a * b for a, b in zip(h, parts, strict=True)))
        rates.append(np.gradient(rows[-1], s[:, 0] * width, axis=0, edge_order=2))
    return np.concatenate(rows), np.concatenate(rates)


def test_braking_stays_on_the_line_and_within_the_limits() -> None:
    q, qd = np.array([0.3, -0.2]), np.array([1.0, -0.8])
    points = brake_on_path(JOINTS, q, qd, MOST_A)
    position, _velocity = dense(points, q, qd)
    away = position - q
    np.testing.assert_allclose(away[:, 0] * qd[1], away[:, 1] * qd[0], atol=1e-12)
    # joint 2 needs 0.4 s; the travel of constant deceleration is v T / 2
    assert points.time[-1] == pytest.approx(0.4)
    np.testing.assert_allclose(points.position[-1], q + qd * 0.2)
    assert points.velocity is not None and np.abs(points.velocity[-1]).max() == 0.0
    change = np.abs(np.diff(points.velocity, axis=0)).max(axis=0) / np.diff(points.time)[0]
    assert (change <= MOST_A * (1.0 + 1e-9)).all()
    still = brake_on_path(JOINTS, q, 0.0 * qd, MOST_A)
    assert (still.position == q).all() and still.velocity is not None and not still.velocity.any()


def test_the_work_of_a_force_at_the_tool_says_whether_the_way_back_leads_away() -> None:
    """A planar arm of two links of 1 m, force in its plane: an oracle without the torque."""
    rng = np.random.default_rng(3)

    def tool(q: Array) -> Array:
        return np.array([np.cos(q[0]) + np.cos(q.sum()), np.sin(q[0]) + np.sin(q.sum())])

    for _ in range(50):
        q, step, force = rng.uniform(-2, 2, 2), 1e-4 * rng.normal(size=2), rng.normal(size=2)
        jacobian = np.array([(tool(q + h) - tool(q - h)) / 2e-6 for h in 1e-6 * np.eye(2)]).T
        moved = tool(q + step) - tool(q)
        if abs(force @ moved) > 1e-6:
            path = np.array([q, q + 0.5 * step, q + step])
            assert leads_away(path, jacobian.T @ force) is bool(force @ moved > 0.0)
    assert not leads_away(np.array([q, q + step]), np.zeros(2)), 'without a contact it stays'


def test_a_way_back_that_first_leads_into_the_contact_is_refused() -> None:
    """The robot had reversed just before it was pushed."""
    path, push = np.array([[0.03], [0.0], [0.05]]), np.array([5.0])
    assert not leads_away(path, push)
    assert leads_away(path[1:], push) and not leads_away(path[1:], -push)
    assert leads_away(np.array([[0.0], [-0.001], [0.05]]), push), 'noise of a measurement'


@pytest.mark.parametrize('speed', [0.0, 0.7])
def test_retract_goes_back_along_the_path_within_all_limits(speed: float) -> None:
    s = np.linspace(0.0, -0.4, 30)
    path = np.column_stack([s, 0.3 * np.sin(3.0 * s)])
    qd = speed * np.array([1.0, 0.9])
    points = retract(JOINTS, path, qd, MOST_V, MOST_A)
    assert points.velocity is not None
    np.testing.assert_allclose(points.position[-1], path[-1], atol=1e-12)
    assert np.abs(points.velocity[-1]).max() == 0.0
    position, velocity = dense(points, path[0], qd)
    assert (np.abs(velocity).max(axis=0) <= np.maximum(1.02 * MOST_V, np.abs(qd))).all()
    steps = np.abs(np.diff(np.vstack([qd, points.velocity]), axis=0))
    assert (steps / np.diff(points.time, prepend=0.0)[:, None] <= 1.02 * MOST_A).all()
    assert (np.diff(points.position[11:, 0]) <= 0.0).all(), 'from where it has stopped'
    inside = position[:, 0] <= 0.0  # beyond it brakes; the path is a polyline of fine steps
    on_path = np.interp(position[inside, 0], path[::-1, 0], path[::-1, 1])
    np.testing.assert_allclose(position[inside, 1], on_path, atol=2e-3)


@pytest.mark.parametrize(('velocity', 'acceleration'), [(0.5, 100.0), (100.0, 2.0)])
def test_retract_takes_as_long_as_its_limit_needs(velocity: float, acceleration: float) -> None:
    """Minimum jerk over the length s: peaks 15/8 s/T and 10/sqrt(3) s/T^2."""
    path = np.linspace(0.0, -0.4, 30)[:, None]
    points = retract(['j'], path, np.zeros(1), np.array([velocity]), np.array([acceleration]))
    needed = max(1.875 * 0.4 / velocity, np.sqrt(10.0 / np.sqrt(3.0) * 0.4 / acceleration))
    duration = points.time[-1] - points.time[-101]
    assert duration == pytest.approx(1.05 * needed, rel=1e-3)


def test_without_a_path_there_is_no_way_back() -> None:
    with pytest.raises(MotionError, match='has not travelled'):
        retract(JOINTS, np.zeros((1, 2)), np.ones(2), MOST_V, MOST_A)
    with pytest.raises(MotionError, match='has not travelled'):
        retract(JOINTS, np.zeros((3, 2)), np.zeros(2), MOST_V, MOST_A)
