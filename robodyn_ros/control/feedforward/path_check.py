"""Is the robot on its way: whether a controller may be sent the rest of a motion again."""

from __future__ import annotations

import numpy as np

from robodyn_ros.control.feedforward.state_watchdog import MOVED, StateWatch
from robodyn_ros.control.feedforward.trajectory_effort import TorquePlan

LAG = 0.1
"""A drive may be so far behind a trajectory, in [s]."""
ASTRAY = 0.05
"""Farther from it, in [rad] or [m], the robot is not on it."""


def astray(plan: TorquePlan, states: StateWatch, *, start: float, now: float) -> str:
    """Say which joint was not on its way where the robot was seen at last, or nothing.

    A robot that was stopped, or never began, must not be sent on; nothing is said of one whose
    states are not watched.

    :param start: beginning of the plan on the clock of the states, in [s]
    :param now: time in the plan, in [s]
    """
    if not states.timeout:
        return ''
    if not np.isfinite(states.position).all():
        return '' if now <= LAG else 'no joint state has told where the robot is since it began'
    changed, known = states.changed - start, states.known - start
    if changed <= LAG < now - changed:  # not moved yet: the trajectory may have been lost
        distance, allowed = plan.distance(states.position, now, 0.0), MOVED
    elif known < plan.time[0]:  # on the controller's own way to the first point
        return ''
    else:
        distance, allowed = plan.distance(states.position, known, LAG), ASTRAY
    joint = int(np.argmax(distance))
    if distance[joint] <= allowed:
        return ''
    return (
        f'joint {plan.joints[joint]!r} was {distance[joint]:.3g} away from it, so the '
        f'controller may not be on it, and must not be sent there'
    )
