# SPDX-License-Identifier: Apache-2.0
"""Motions and regions of the simulated NS16 for `bench_local_identification`.

The workspace has all positions in which the arm reaches forward above the floor. The
sub-region is a box of 0.4 x 0.6 x 0.4 m in front of the robot with the tool pointing down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.design.problem import DesignProblem
from robodyn_ros.excitation.limits.constraints import PathLimit, SpaceLimit, frame_points
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.motions.joint_moves import JointMoves
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.motions.tool_moves import ToolMove, ToolMoves
from robodyn_ros.excitation.trajectory import Array, Trajectory
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.kinematics import kinematics_of
from robodyn_ros.models.serial.urdf_file import read_urdf

ROOT = Path(__file__).resolve().parent.parent
FRICTION = ('coulomb', 'viscous', 'quadratic')
FRAMES = ('tool0', 'link5')
"""Frames that must stay above the floor; the first one must stay in the box."""

CENTRE = np.array([0.0, 0.5, -1.75, 0.0, 0.9, 0.0])
REACH = np.array([0.3, 0.25, 0.25, 0.7, 0.4, 1.2])
"""Joint ranges of the sub-region, [rad] about the centre: the box, and the tool turned by them."""
BOX = ((1.04, -0.3, 0.63), (1.44, 0.3, 1.03))
FLOOR = 0.15
WIDE = np.radians([[-160.0, -45.0, -150.0, -180.0, -110.0, -180.0],
                   [160.0, 85.0, -30.0, 180.0, 110.0, 180.0]])  # fmt: skip
SHARE = 0.9
"""Share of velocity and acceleration limits that motions use; the remainder is for control."""


def ns16_model() -> DynamicModel:
    """Return the model: rigid body, rotors and friction of the document, Eq. 4."""
    return robot_model(ROOT / 'urdf' / 'ns16.urdf', friction=FRICTION)


@dataclass(frozen=True)
class Space:
    """Region of motions: joint limits, and the box of some frames."""

    limits: JointLimits
    rule: SpaceLimit

    def rules(self) -> tuple[PathLimit, ...]:
        return (self.rule,)

    def excess(self, model: DynamicModel, trajectory: Trajectory) -> float:
        """Return the largest distance of the motion from the box, in [m]."""
        places = frame_points(model, self.rule.frames)(trajectory.grid(1e-3).position)
        over = np.maximum(np.array(self.rule.lower) - places, places - np.array(self.rule.upper))
        return float(over.max())

    def keeps(self, model: DynamicModel, trajectory: Trajectory) -> bool:
        """Return True if the motion is within joint limits and box."""
        try:
            check_motion(trajectory, self.limits)
        except MotionError:
            return False
        return self.excess(model, trajectory) <= 0.0


def spaces() -> tuple[Space, Space]:
    """Return the workspace and the sub-region."""
    urdf = JointLimits.from_urdf(read_urdf(ROOT / 'urdf' / 'ns16.urdf'))
    limits = load_limits(ROOT / 'config' / 'robots' / 'ns16.yaml', urdf)
    limits = limits.scale(velocity=SHARE, acceleration=SHARE)
    low, high = WIDE
    wide = replace(
        limits, lower=np.maximum(low, limits.lower), upper=np.minimum(high, limits.upper)
    )
    local = replace(limits, lower=CENTRE - REACH, upper=CENTRE + REACH)
    floor = SpaceLimit(FRAMES, lower=(-np.inf, -np.inf, FLOOR))
    return Space(wide, floor), Space(local, SpaceLimit(FRAMES[:1], *BOX))


def drawn(
    random: np.random.Generator, draw: Callable[[np.random.Generator], Trajectory | None]
) -> Trajectory:
    """Return the first feasible random motion."""
    for _ in range(1000):
        motion = draw(random)
        if motion is not None:
            return motion
    raise MotionError('no motion of 1000 drawn keeps the limits')


def via_points(
    model: DynamicModel, space: Space, random: np.random.Generator, count: int
) -> Array:
    """Return random positions (count, 6) of the space."""
    low, high = (np.array(side) for side in (space.rule.lower, space.rule.upper))
    places = frame_points(model, space.rule.frames)
    found: Array = np.zeros((0, 6))
    while len(found) < count:
        q = random.uniform(space.limits.lower, space.limits.upper, (100, 6))
        at = places(q)
        found = np.concatenate([found, q[((at >= low) & (at <= high)).all(axis=(1, 2))]])
    return found[:count]


def joint_moves(
    model: DynamicModel, space: Space, random: np.random.Generator, points: int = 8
) -> Trajectory:
    """Return joint moves through random via-points, with random speed and fly-by."""

    def draw(random: np.random.Generator) -> Trajectory | None:
        motion = JointMoves.within(
            space.limits,
            points=via_points(model, space, random, points),
            speed=random.uniform(0.2, 1.0),
            fly_by=random.uniform(0.0, 1.0),
        )
        return motion if space.keeps(model, motion) else None

    return drawn(random, draw)


def line_moves(
    model: DynamicModel, space: Space, random: np.random.Generator, points: int = 6
) -> Trajectory:
    """Return straight lines of the tool between random via-points, at constant speed.

    As a controller does, the joints are computed every 10 ms and interpolated in between.
    """
    robot = kinematics_of(model)

    def draw(random: np.random.Generator) -> Trajectory | None:
        q = via_points(model, space, random, points)
        try:
            path = ToolMoves(
                joints=model.joint_names,
                robot=robot,
                moves=[ToolMove(tuple(pose)) for pose in robot.forward(q)[1:]],
                speed=random.uniform(0.1, 0.5),
                acceleration=2.0,
                jerk=20.0,
                fly_by=random.uniform(0.0, 1.0),
                near=q[0],
            )
        except MotionError:
            return None
        motion = interpolated(path)
        return motion if space.keeps(model, motion) else None

    return drawn(random, draw)


def interpolated(path: Trajectory) -> SplineTrajectory:
    """Return the motion as polynomials between points 10 ms apart."""
    grid = path.grid(0.01)
    points = TrajectoryPoints(
        joints=path.joints,
        time=grid.time,
        position=grid.position,
        velocity=grid.velocity,
        acceleration=grid.acceleration,
    )
    return SplineTrajectory(points=points)


def sine_sum(problem: DesignProblem, random: np.random.Generator) -> Trajectory:
    """Return a random sum of sines, scaled to the limits."""

    def draw(random: np.random.Generator) -> Trajectory | None:
        x = problem.family.start(random)
        try:
            return problem.finish(x).trajectory
        except MotionError:
            return None

    return drawn(random, draw)
