"""Construction of motions from their description (YAML), and writing of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.bidirectional import BidirectionalMotion
from robodyn_ros.excitation.motions.fourier import FourierMotion
from robodyn_ros.excitation.motions.joint_moves import JointMoves
from robodyn_ros.excitation.motions.line import LineMotion
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.excitation.motions.ramp import joint_names, per_joint
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.excitation.motions.sinesum import SineSumMotion
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.motions.tool_moves import ToolMoves
from robodyn_ros.excitation.stopping import StoppedMotion
from robodyn_ros.excitation.trajectory import Chain, Trajectory
from robodyn_ros.models.kinematics import FILES
from robodyn_ros.output_files import write_whole
from robodyn_ros.yaml_file import read_yaml

Description = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind of motion: its builder, and the required and optional keys of its description."""

    build: Callable[..., Trajectory]
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


def build_motion(description: object) -> Trajectory:
    """Build a motion from its description, the inverse of `Trajectory.describe`.

    :raises MotionError: an unknown kind or key, a missing key or a value of the wrong form
    """
    if not isinstance(description, Mapping):
        raise MotionError(f'a motion description must be a mapping, got {description!r:.80}')
    kind = description.get('kind')
    if not isinstance(kind, str) or kind not in KINDS:
        raise MotionError(f'there is no motion kind {kind!r}, there are: {", ".join(KINDS)}')
    entry = KINDS[kind]
    allowed = ('kind', *entry.required, *entry.optional)
    for key in description:
        if key not in allowed:
            raise MotionError(
                f'a motion of kind {kind} has no {key!r}, it has: {", ".join(allowed)}'
            )
    for key in entry.required:
        if key not in description:
            raise MotionError(f'a motion of kind {kind} needs {key!r}')
    given = {key: _checked(key, value) for key, value in description.items() if key != 'kind'}
    return entry.build(**given)


def load_motion(path: str | Path) -> Trajectory:
    """Build the motion that a YAML file describes; paths in it are relative to its folder.

    :raises MotionError: the file cannot be read, is no YAML, or see `build_motion`
    """
    description = read_yaml(path, 'the motion file', MotionError)
    try:
        return build_motion(_beside(Path(path).parent, description))
    except MotionError as error:
        raise MotionError(f'{path}: {error}') from error


def _beside(folder: Path, description: object) -> object:
    """Make the paths in a description relative to its folder."""
    if isinstance(description, list):
        return [_beside(folder, item) for item in description]
    if not isinstance(description, dict):
        return description
    result = {key: _beside(folder, value) for key, value in description.items()}
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
    write_whole(
        path,
        lambda file: file.write_text(text, encoding='utf-8'),
        MotionError,
        what='the motion file',
    )


_NUMBERS = ('duration', 'lead_in', 'lead_out', 'base_frequency', 'follow')


def _checked(key: str, value: object) -> object:
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


def _points(*, joints: list[str], time: Any, **rows: Any) -> Trajectory:
    try:
        arrays: dict[str, Any] = {
            name: None if value is None else np.asarray(value, dtype=float)
            for name, value in rows.items()
        }
        return SplineTrajectory(
            points=TrajectoryPoints(tuple(joints), np.asarray(time, dtype=float), **arrays)
        )
    except (TypeError, ValueError) as error:
        raise MotionError(f'the points of a motion must be rows of numbers: {error}') from error


def _chain(*, parts: Any) -> Trajectory:
    if not isinstance(parts, list):
        raise MotionError(f'parts of a chain must be a list of motions, got {parts!r:.60}')
    return Chain(parts=[build_motion(part) for part in parts])


def _stopped(*, motion: Any, time: Any, max_acceleration: Any, follow: float = 0.0) -> Trajectory:
    if isinstance(time, bool) or not isinstance(time, (int, float)):
        raise MotionError(f'time of a stopped motion must be a number, got {time!r:.60}')
    path = build_motion(motion)
    return StoppedMotion(
        motion=path,
        time=float(time),
        max_acceleration=per_joint(path.joints, 'max_acceleration', max_acceleration),
        follow=follow,
    )


def _tool_moves(*, moves: Any, **rest: Any) -> Trajectory:
    if not isinstance(moves, list):
        raise MotionError(f'moves of the tool must be a list, got {moves!r:.60}')
    return ToolMoves(moves=moves, **rest)


def _joint_moves(
    *, joints: Any, points: Any, durations: Any = None, speed: Any = None,
    velocity: Any = None, acceleration: Any = None, jerk: Any = None, **shape: Any,
) -> Trajectory:  # fmt: skip
    """Build moves of given durations, or the shortest ones within given limits."""
    if durations is not None:
        if any(value is not None for value in (speed, velocity, acceleration, jerk)):
            raise MotionError('joint moves have durations or limits, both are given')
        return JointMoves(joints=joints, points=points, durations=durations, **shape)
    if velocity is None or acceleration is None or 'ramp' in shape:
        raise MotionError(
            'joint moves need durations (and ramp), or velocity and acceleration (and jerk)'
        )
    endless = np.full(len(joints), np.inf)
    given = {'velocity': velocity, 'acceleration': acceleration, 'jerk': jerk}
    figures = {
        name: endless if value is None else per_joint(joints, name, value)
        for name, value in given.items()
    }
    limits = JointLimits(
        joint_names(joints), ('rad',) * len(joints), lower=-endless, upper=endless,
        effort=endless, **figures,
    )  # fmt: skip
    share = {} if speed is None else {'speed': per_joint(joints[:1], 'speed', speed)[0]}
    return JointMoves.within(limits, points=points, **share, **shape)


_LEADS = ('lead_in', 'lead_out')
_FOURIER = ('joints', 'center', 'a', 'b', 'base_frequency')

KINDS: dict[str, Kind] = {
    'sine': Kind(
        SineMotion,
        ('joints', 'start', 'target', 'frequency', 'duration'),
        _LEADS,
    ),
    'fourier': Kind(FourierMotion, _FOURIER, ('duration', *_LEADS)),
    'move': Kind(PointToPoint, ('joints', 'start', 'target', 'duration')),
    'line': Kind(
        LineMotion,
        ('joints', 'robot', 'start', 'target', 'speed', 'acceleration'),
        ('jerk', 'near'),
    ),
    'joint_moves': Kind(
        _joint_moves,
        ('joints', 'points'),
        ('durations', 'ramp', 'velocity', 'acceleration', 'jerk', 'speed', 'rise', 'fly_by'),
    ),
    'tool_moves': Kind(
        _tool_moves,
        ('joints', 'robot', 'moves', 'speed', 'acceleration'),
        ('start', 'jerk', 'fly_by', 'near'),
    ),
    'points': Kind(_points, ('joints', 'time', 'position'), ('velocity', 'acceleration')),
    'chain': Kind(_chain, ('parts',)),
    'sine_sum': Kind(
        SineSumMotion, ('joints', 'center', 'amplitude', 'frequency', 'duration'), _LEADS
    ),
    'stopped': Kind(_stopped, ('motion', 'time', 'max_acceleration'), ('follow',)),
    'bidirectional': Kind(
        BidirectionalMotion,
        ('joints', 'start', 'target', 'speeds', 'max_velocity', 'max_acceleration'),
    ),
}
"""All kinds of motions by name; a new kind is a new entry."""
