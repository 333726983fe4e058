# SPDX-License-Identifier: Apache-2.0
"""Doubts about joint limits: values of another unit, and values without effect."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn_ros.excitation.limits.joint_limits import JointLimits

TURNS = 5.0
"""Largest range of a revolute joint, in turns: wrists have up to 4."""
FASTEST = 60.0
"""Velocity limit in [rad/s] that only motors without gears exceed, such as an axis of 70 rad/s."""
CROSSING = 0.1
"""Time in [s] in which even such a joint does not cross its range. In deg/s, joints of arms do:
they need 1 to 5 s, a factor of 57 more."""
SHORTEST = 0.02
"""Least time in which a joint reaches its velocity limit, in [s]: position controllers need tens
of milliseconds to follow a step of velocity. In deg/s^2, times up to 1 s appear shorter."""


def doubts(limits: JointLimits) -> Iterator[str]:
    """Yield a sentence about limits that no revolute joint has, and one about unused limits."""
    parts = [
        f'{name}: {", ".join(found)}'
        for joint, name in enumerate(limits.joints)
        if limits.units[joint] == 'rad' and (found := list(_implausible(limits, joint)))
    ]
    if parts:
        yield (
            f'limits that no revolute joint has: {"; ".join(parts)}. Are they in degrees, or '
            f'placeholders? Expected are at most {TURNS:g} turns, at least {CROSSING:g} s '
            f'through the range, and at least {1e3 * SHORTEST:g} ms to the velocity limit'
        )
    if limits.unused:
        yield f'limits without effect, because the URDF has stricter ones: {limits.unused}'


def _implausible(limits: JointLimits, joint: int) -> Iterator[str]:
    """Yield the values of a revolute joint that are probably in degrees."""
    span = float(limits.upper[joint] - limits.lower[joint])
    # more turns than that in degrees too: the joint has no end
    if TURNS * 2.0 * np.pi < span <= TURNS * 360.0:
        yield f'range {span:.4g} rad'
        span = float(np.radians(span))
    velocity, acceleration = float(limits.velocity[joint]), float(limits.acceleration[joint])
    if max(FASTEST, span / CROSSING) < velocity < np.inf:
        yield f'velocity {velocity:.4g} rad/s'
    elif velocity < SHORTEST * acceleration < np.inf:
        yield f'acceleration {acceleration:.4g} rad/s^2'
