# SPDX-License-Identifier: Apache-2.0
"""Construction of motions from their description (YAML), and writing of it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robodyn_ros.bounds import MOTION, NUMBER, BoundError, check_bound
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.arguments import joint_names, per_joint
from robodyn_ros.excitation.motions.bidirectional import BidirectionalMotion
from robodyn_ros.excitation.motions.fourier import FourierMotion
from robodyn_ros.excitation.motions.joint_moves import RISE, JointMoves
from robodyn_ros.excitation.motions.line import LineMotion
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.excitation.motions.sinesum import SineSumMotion
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.motions.tool_moves import ToolMoves
from robodyn_ros.excitation.stopping import StoppedMotion
from robodyn_ros.excitation.trajectory import Chain, Trajectory
from robodyn_ros.models.kinematics import FILES
from robodyn_ros.output_files import write_file
from robodyn_ros.yaml_file import read_yaml


def build_motion(description: object) -> Trajectory:
    """Build a motion from its description, the inverse of `Trajectory.describe`.

    :raises MotionError: an unknown kind or key, a missing key, a value of the wrong form, or a
        motion that is too long
    """
    if not isinstance(description, Mapping):
        got = type(description).__name__
        raise MotionError(f'a motion description must be a mapping, got {got}')
    kind = description.get('kind')
    if not isinstance(kind, str) or kind not in KINDS:
        raise MotionError(f'there is no motion kind {kind!r}, there are: {", ".join(KINDS)}')
    allowed = inspect.signature(KINDS[kind]).parameters
    given = {key: _check_type(key, value) for key, value in description.items() if key != 'kind'}
    for key in given:
        if key not in allowed:
            keys = ', '.join(allowed)
            raise MotionError(f'a motion of kind {kind} has no {key!r}, it has: kind, {keys}')
    for key, parameter in allowed.items():
        if key not in given and parameter.default is parameter.empty:
            raise MotionError(f'a motion of kind {kind} needs {key!r}')
    motion = KINDS[kind](**given)
    try:
        check_bound(MOTION, 1000.0 * motion.duration * len(motion.joints))
    except BoundError as error:
        raise MotionError(str(error)) from error
    return motion


def load_motion(path: str | Path) -> Trajectory:
    """Build the motion that a YAML file describes; paths in it are relative to its folder.

    :raises MotionError: the file cannot be read, is no YAML, or see `build_motion`
    """
    description = read_yaml(path, 'the motion file', MotionError)
    try:
        _check_numbers(description)
        return build_motion(_resolve_paths(Path(path).parent, description))
    except (MotionError, BoundError) as error:
        raise MotionError(f'{path}: {error}') from error
    except (ArithmeticError, TypeError, ValueError) as error:
        raise MotionError(f'{path}: its values give no motion ({error})') from error


def _check_numbers(description: object) -> None:
    """Check all numbers of a description."""
    if isinstance(description, (list, dict)):
        values = description.values() if isinstance(description, dict) else description
        for value in values:
            _check_numbers(value)
    elif isinstance(description, (int, float)) and not math.isnan(description):
        check_bound(NUMBER, abs(description))


def _resolve_paths(folder: Path, description: object) -> object:
    """Make the paths in a description relative to its folder."""
    if isinstance(description, list):
        return [_resolve_paths(folder, item) for item in description]
    if not isinstance(description, dict):
        return description
    result = {key: _resolve_paths(folder, value) for key, value in description.items()}
    robot = result.get('robot')
    if isinstance(robot, dict):
        for key in set(FILES) & set(robot):
            if isinstance(robot[key], str):
                robot[key] = str(folder / robot[key])
    return result


def write_motion(trajectory: Trajectory, path: str | Path) -> None:
    """Write a motion as YAML, completely or not at all; `load_motion` reads it back exactly.

    :raises MotionError: the file cannot be written
    """
    text = yaml.safe_dump(trajectory.describe(), sort_keys=False, default_flow_style=None)
    write_file(
        path,
        lambda file: file.write_text(text, encoding='utf-8'),
        MotionError,
        what='the motion file',
    )


_NUMBERS = ('duration', 'lead_in', 'lead_out', 'base_frequency', 'follow')


def _check_type(key: str, value: object) -> object:
    """Refuse values of a wrong type, before a constructor uses them."""
    if key in _NUMBERS and value is not None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise MotionError(f'{key} of a motion must be a number, got {value!r:.60}')
        return float(value)
    if key == 'joints' and not (
        isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value)
    ):
        raise MotionError(f'joints of a motion must be a list of names, got {value!r:.60}')
    return value


def _points(
    *, joints: list[str], time: Any, position: Any, velocity: Any = None, acceleration: Any = None
) -> Trajectory:
    try:
        points = TrajectoryPoints(tuple(joints), time, position, velocity, acceleration)
        return SplineTrajectory(points=points)
    except (TypeError, ValueError) as error:
        raise MotionError(f'the points of a motion must be rows of numbers: {error}') from error


def _chain(*, parts: Any) -> Trajectory:
    if not isinstance(parts, list):
        raise MotionError(f'parts of a chain must be a list of motions, got {parts!r:.60}')
    return Chain(parts=[build_motion(part) for part in parts])


def _build_stopped(
    *, motion: Any, time: Any, max_acceleration: Any, follow: float = 0.0
) -> Trajectory:
    if isinstance(time, bool) or not isinstance(time, (int, float)):
        raise MotionError(f'time of a stopped motion must be a number, got {time!r:.60}')
    path = build_motion(motion)
    return StoppedMotion(
        motion=path,
        time=float(time),
        max_acceleration=per_joint(path.joints, 'max_acceleration', max_acceleration),
        follow=follow,
    )


def _joint_moves(
    *, joints: Any, points: Any, durations: Any = None, ramp: Any = None, velocity: Any = None,
    acceleration: Any = None, jerk: Any = None, speed: Any = None, rise: Any = RISE,
    fly_by: Any = 0.0,
) -> Trajectory:  # fmt: skip
    """Build moves of given durations, or the shortest ones within given limits."""
    if durations is not None:
        if any(value is not None for value in (speed, velocity, acceleration, jerk)):
            raise MotionError('joint moves have durations or limits, both are given')
        shape = {} if ramp is None else {'ramp': ramp}
        return JointMoves(
            joints=joints, points=points, durations=durations, rise=rise, fly_by=fly_by, **shape
        )
    if velocity is None or acceleration is None or ramp is not None:
        raise MotionError(
            'joint moves need durations (and ramp), or velocity and acceleration (and jerk)'
        )
    endless = np.full(len(joints), np.inf)
    given = {'velocity': velocity, 'acceleration': acceleration, 'jerk': jerk}
    figures: dict[str, Any] = {
        name: endless if value is None else per_joint(joints, name, value)
        for name, value in given.items()
    }
    limits = JointLimits(
        joint_names(joints), ('rad',) * len(joints), lower=-endless, upper=endless,
        effort=endless, **figures,
    )  # fmt: skip
    share = 1.0 if speed is None else per_joint(joints[:1], 'speed', speed)[0]
    return JointMoves.within(limits, points=points, speed=share, rise=rise, fly_by=fly_by)


KINDS: dict[str, Callable[..., Trajectory]] = {
    'sine': SineMotion,
    'fourier': FourierMotion,
    'move': PointToPoint,
    'line': LineMotion,
    'joint_moves': _joint_moves,
    'tool_moves': ToolMoves,
    'points': _points,
    'chain': _chain,
    'sine_sum': SineSumMotion,
    'stopped': _build_stopped,
    'bidirectional': BidirectionalMotion,
}
"""Builders of all kinds of motions by name; their arguments are the keys of a description."""
