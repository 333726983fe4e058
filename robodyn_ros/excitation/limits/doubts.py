# SPDX-License-Identifier: Apache-2.0
"""Doubts about joint limits: values of another unit, and values without effect."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn_ros.excitation.limits.joint_limits import JointLimits


def find_doubts(limits: JointLimits) -> Iterator[str]:
    """Yield a sentence about limits that are probably in degrees, and one about unused ones."""
    parts = [
        f'{name}: {", ".join(odd)}'
        for joint, name in enumerate(limits.joints)
        if limits.units[joint] == 'rad' and (odd := list(_implausible(limits, joint)))
    ]
    if parts:
        yield (
            f'limits that hardly any joint has: {"; ".join(parts)}. Are they in degrees, or '
            f'placeholders? Expected are at most 5 turns, at least 0.1 s through the range, and '
            f'at least 20 ms to the velocity limit'
        )
    if limits.unused:
        yield f'limits without effect, because the URDF has stricter ones: {limits.unused}'


def _implausible(limits: JointLimits, joint: int) -> Iterator[str]:
    """Yield the values of a revolute joint that are probably in degrees."""
    span = float(limits.upper[joint] - limits.lower[joint])
    # Wrists have up to 4 turns; more than 5 in degrees too: the joint has no end.
    if 5.0 * 2.0 * np.pi < span <= 5.0 * 360.0:
        yield f'range {span:.4g} rad'
        span = float(np.radians(span))
    velocity, acceleration = float(limits.velocity[joint]), float(limits.acceleration[joint])
    # Only motors without gears exceed 60 rad/s, and even they need 0.1 s through their range. Arms
    # need 1 to 5 s, so that a factor of 57 shows.
    if max(60.0, span / 0.1) < velocity < np.inf:
        yield f'velocity {velocity:.4g} rad/s'
    # Position controllers need tens of milliseconds to follow a step of velocity. In deg/s^2,
    # times up to 1 s to the velocity limit appear shorter.
    elif velocity < 0.02 * acceleration < np.inf:
        yield f'acceleration {acceleration:.4g} rad/s^2'
