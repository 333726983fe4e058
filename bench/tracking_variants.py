# SPDX-License-Identifier: Apache-2.0
"""Sensitivity of the figures to drives, windows, delays and modes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from tracking_cell import with_drives
from tracking_demos import Case, flag_time, tool_settling_time

from robodyn_ros.excitation.catalog import build_motion

Variant = Callable[[Case], Case]


def drives(factor: float) -> Variant:
    """All bandwidths of the drives times a factor."""
    return lambda case: replace(case, config=with_drives(case.config, factor))


def no_velocity_feedforward(case: Case) -> Case:
    """Drives that follow the position command by its error alone."""
    joints = {
        name: replace(joint, velocity_feedforward=0.0)
        for name, joint in case.config.joints.items()
    }
    return replace(case, config=replace(case.config, joints=joints))


def window(factor: float) -> Variant:
    """PESETTLE times a factor."""

    def change(case: Case) -> Case:
        demonstration = case.demonstration
        wide = replace(demonstration, pesettle=factor * demonstration.pesettle)
        return replace(case, demonstration=wide)

    return change


def settings(**changes: float) -> Variant:
    """Other settings of the feed-forward."""

    def change(case: Case) -> Case:
        other = replace(case.feed.settings, **changes)  # type: ignore[arg-type]
        feed = replace(case.feed, settings=other)
        return replace(case, feed=feed, effort=feed.streaming)

    return change


def trajectory(hold: bool, lead: float = 0.0) -> Variant:
    """Effort points of a joint trajectory instead of the law of every cycle."""
    return lambda case: replace(case, effort=case.feed.trajectory(hold, lead))


def friction_dropped(case: Case) -> Case:
    """Friction torque falls to zero with the reference velocity."""
    torque = copy.copy(case.feed.torque)
    torque.velocity_window = np.full(len(case.model.joints), np.inf)  # nothing counts as moving
    feed = replace(case.feed, torque=torque)
    return replace(case, feed=feed, effort=feed.streaming)


def without_jerk_limit(case: Case) -> Case:
    """The same line with a trapezoidal profile."""
    return replace(case, motion=build_motion({**case.motion.describe(), 'jerk': None}))


VARIANTS: dict[str, Variant] = {
    'as configured': lambda case: case,
    'drives: bandwidths x 0.7': drives(0.7),
    'drives: bandwidths x 1.4': drives(1.4),
    'drives: no velocity feed-forward': no_velocity_feedforward,
    'additive torque a cycle too early': settings(additive_torque_delay=2),
    'additive torque a cycle too late': settings(additive_torque_delay=4),
    'half the model torque': settings(feedforward_scale=0.5),
    'friction torque zero at standstill': friction_dropped,
    'trajectory mode': trajectory(hold=False),
    'trajectory mode, hold_at_end': trajectory(hold=True),
    'trajectory mode, 0.4 s of rest first': trajectory(hold=False, lead=0.4),
    'trajectory mode, 0.4 s of rest first, hold_at_end': trajectory(hold=True, lead=0.4),
}
LINE_VARIANTS: dict[str, Variant] = {
    'PESETTLE x 0.5': window(0.5),
    'PESETTLE x 2': window(2.0),
    'PESETTLE in mm at the tool': lambda case: replace(case, measure=tool_settling_time),
    'until ISSETTLED, the 20 ms of TIMESETTLE included': lambda case: replace(
        case, measure=flag_time
    ),
    'profile without jerk limit': without_jerk_limit,
}
