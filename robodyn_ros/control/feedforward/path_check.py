# SPDX-License-Identifier: Apache-2.0
"""Check that the robot follows a motion, before its remainder is sent to a controller again."""

from __future__ import annotations

import numpy as np

from robodyn_ros.control.feedforward.state_watchdog import MOVED, StateWatch
from robodyn_ros.control.feedforward.torque_plan import TorquePlan

LAG = 0.1
"""Largest delay of a drive behind a trajectory, in [s]."""


def astray(plan: TorquePlan, states: StateWatch, *, start: float, now: float) -> str:
    """Return a sentence about a joint that did not follow the motion, or ''.

    A robot that was stopped, or never started, must not continue. The result is '' if states are
    not watched.

    :param start: start of the plan on the clock of the states, in [s]
    :param now: time in the plan, in [s]
    """
    if not states.timeout:
        return ''
    if not np.isfinite(states.position).all():
        return '' if now <= LAG else 'no joint state has shown the robot since its start'
    changed, known = states.changed - start, states.known - start
    if changed <= LAG < now - changed:  # no motion yet: the trajectory may have been lost
        distance, allowed = plan.distance(states.position, now, 0.0), MOVED
    elif known < plan.time[0]:  # the controller is still moving to the first point
        return ''
    else:  # 0.05 rad or m: far above the tracking error of a robot that follows
        distance, allowed = plan.distance(states.position, known, LAG), 0.05
    joint = int(np.argmax(distance))
    if distance[joint] <= allowed:
        return ''
    return (
        f'joint {plan.joints[joint]!r} was {distance[joint]:.3g} away from it, so the '
        f'controller may not be executing it, and it is not sent again'
    )
