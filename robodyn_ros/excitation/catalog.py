# SPDX-License-Identifier: Apache-2.0
"""Construction of motions from their description (YAML), and writing of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from msgspec import Meta

from robodyn_ros.bounds import MOTION, NUMBER, BoundError, check_bound
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.arguments import joint_names, per_joint
from robodyn_ros.excitation.motions.bidirectional import BidirectionalMotion
from robodyn_ros.excitation.motions.fourier import FourierMotion
from robodyn_ros.excitation.motions.joint_moves import RISE, JointMoves
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.excitation.motions.sinesum import SineSumMotion
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.motions.tool_moves import ToolMove, ToolMoves
from robodyn_ros.excitation.trajectory import Chain, Trajectory
from robodyn_ros.models.kinematics import FILES
from robodyn_ros.output_files import write_file
from robodyn_ros.paths import place_files
from robodyn_ros.schema import convert
from robodyn_ros.yaml_file import read_yaml

Number = Annotated[float, Meta(ge=-NUMBER.most, le=NUMBER.most)]
Numbers = Number | tuple[Number | tuple[Number, ...], ...]
"""A number for all joints, one for each, or rows of them."""


@dataclass(frozen=True)
class _MotionKeys:
    """Keys of all kinds of motions; a kind has those that its builder in `KINDS` takes."""

    kind: str
    joints: tuple[str, ...] = ()
    start: Numbers | None = None
    target: Numbers | None = None
    frequency: Numbers | None = None
    center: Numbers | None = None
    a: Numbers | None = None
    b: Numbers | None = None
    amplitude: Numbers | None = None
    base_frequency: Number | None = None
    duration: Number | None = None
    lead_in: Number | None = None
    lead_out: Number | None = None
    points: Numbers | None = None
    durations: Numbers | None = None
    ramp: Numbers | None = None
    rise: Number = RISE
    fly_by: Numbers = 0.0
    robot: dict[str, Any] | None = None
    moves: tuple[ToolMove, ...] = ()
    near: Numbers | None = None
    speed: Number | None = None
    speeds: tuple[Number, ...] = ()
    time: Numbers | None = None
    position: Numbers | None = None
    velocity: Numbers | None = None
    acceleration: Numbers | None = None
    jerk: Numbers | None = None
    max_velocity: Numbers | None = None
    max_acceleration: Numbers | None = None
    parts: tuple[dict[str, Any], ...] = ()


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
    allowed, where = inspect.signature(KINDS[kind]).parameters, f'a motion of kind {kind}'
    for key in description:
        if key not in ('kind', *allowed):
            raise MotionError(f'{where} has no {key!r}, it has: kind, {", ".join(allowed)}')
    for key, parameter in allowed.items():
        if description.get(key) is None and parameter.default is parameter.empty:
            raise MotionError(f'{where} needs {key!r}')
    checked = convert(description, _MotionKeys, where, MotionError)
    motion = KINDS[kind](**{key: getattr(checked, key) for key in description if key != 'kind'})
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
        return build_motion(place_files(description, Path(path).parent, FILES))
    except (MotionError, BoundError) as error:
        raise MotionError(f'{path}: {error}') from error
    except (ArithmeticError, TypeError, ValueError) as error:
        raise MotionError(f'{path}: its values give no motion ({error})') from error


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


def _points(
    *, joints: tuple[str, ...], time: Any, position: Any, velocity: Any = None,
    acceleration: Any = None,
) -> Trajectory:  # fmt: skip
    try:
        points = TrajectoryPoints(joints, time, position, velocity, acceleration)
        return SplineTrajectory(points=points)
    except ValueError as error:
        raise MotionError(f'the points of a motion must be rows of numbers: {error}') from error


def _chain(*, parts: Any) -> Trajectory:
    return Chain(parts=[build_motion(part) for part in parts])


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
    return JointMoves.within(
        limits, points=points, speed=1.0 if speed is None else speed, rise=rise, fly_by=fly_by
    )


KINDS: dict[str, Callable[..., Trajectory]] = {
    'sine': SineMotion,
    'fourier': FourierMotion,
    'move': PointToPoint,
    'joint_moves': _joint_moves,
    'tool_moves': ToolMoves,
    'points': _points,
    'chain': _chain,
    'sine_sum': SineSumMotion,
    'bidirectional': BidirectionalMotion,
}
"""Builders of all kinds of motions by name; their arguments are the keys of a description."""
