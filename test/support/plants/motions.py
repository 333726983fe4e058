# SPDX-License-Identifier: Apache-2.0
"""Random motions for tests, and derivatives by another way."""

import numpy as np

from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.fourier import FourierMotion
from robodyn_ros.excitation.motions.sine import SineMotion

JOINTS = ('a', 'b', 'c')


def limits(velocity=3.0, acceleration=10.0, position=3.0, joints=JOINTS, jerk=np.inf):
    def full(value):
        return np.full(len(joints), value)

    return JointLimits(
        tuple(joints),
        ('rad',) * len(joints),
        full(-position),
        full(position),
        full(velocity),
        full(acceleration),
        full(jerk),
        full(100.0),
    )


def random_sine(seed, **options):
    rng = np.random.default_rng(seed)
    return SineMotion(
        joints=JOINTS,
        start=rng.uniform(-1, 1, 3),
        target=rng.uniform(-1, 1, 3),
        frequency=rng.uniform(0.1, 1.0, 3),
        duration=rng.uniform(3, 8),
        **options,
    )


def random_fourier(seed, **options):
    rng = np.random.default_rng(seed)
    return FourierMotion(
        joints=JOINTS,
        center=rng.uniform(-1, 1, 3),
        a=rng.normal(size=(3, 4)) * 0.3,
        b=rng.normal(size=(3, 4)) * 0.3,
        base_frequency=rng.uniform(0.1, 0.3),
        **options,
    )


def assert_derivatives(trajectory, tolerance=2e-4):
    """Velocity and acceleration are the derivatives of what they derive from.

    By five-point central differences; checked off the places where a motion may have a step in
    its acceleration (less than 1 % of the times).
    """
    h = 1e-4
    time = np.linspace(0, trajectory.duration, 503)[1:-1]
    time = time[(time > 2 * h) & (time < trajectory.duration - 2 * h)]
    around = [trajectory.sample(time + k * h) for k in (-2, -1, 1, 2)]
    here = trajectory.sample(time)
    for name, derivative in (('position', 'velocity'), ('velocity', 'acceleration')):
        m2, m1, p1, p2 = (getattr(motion, name) for motion in around)
        expected = (m2 - 8 * m1 + 8 * p1 - p2) / (12 * h)
        error = np.abs(getattr(here, derivative) - expected).max(axis=1)
        scale = 1.0 + np.abs(expected).max()
        assert np.quantile(error, 0.98) < tolerance * scale, derivative


def assert_rest_at_ends(trajectory, tolerance=1e-9, acceleration=True):
    ends = trajectory.sample(np.array([-1.0, 0.0, trajectory.duration, trajectory.duration + 1]))
    assert np.abs(ends.velocity).max() < tolerance
    if acceleration:
        assert np.abs(ends.acceleration).max() < tolerance
    np.testing.assert_array_equal(ends.position[0], ends.position[1])
    np.testing.assert_array_equal(ends.position[2], ends.position[3])
