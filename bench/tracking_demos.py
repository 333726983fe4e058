# SPDX-License-Identifier: Apache-2.0
"""Three demonstrations of the document: motions, figures, and one simulated case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from settling import Settling, group_error, settling
from tracking_cell import Effort, FeedForward, Run, identified, limits_of, run, some_robot

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import check_motion
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.excitation.motions.tool_moves import ToolMove, ToolMoves
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.kinematics import kinematics_of
from robodyn_ros.models.kinematics_base import Kinematics

TIMESETTLE = 0.02
"""Time within the window that counts as settled, in [s]."""
LEAD, CYCLES = 1.0, 5
"""Of the oscillation: lead-in and lead-out in [s], which do not count, and cycles that do."""


@dataclass(frozen=True)
class Demonstration:
    """One of the document's three.

    :param allowed: largest share of the value without model
    :param pesettle: settling window of a line, in the axes' units (degrees, millimetres); 0: no
        line, the peak-to-peak error of axis 2 counts
    """

    robot: str
    title: str
    allowed: float
    motion: Callable[[DynamicModel, np.random.Generator], Trajectory]
    pesettle: float = 0.0


def scara_line(model: DynamicModel, random: np.random.Generator) -> Trajectory:
    """600 mm at 900 mm/s, anywhere in the work space and in any direction."""

    def draw(robot: Kinematics) -> ToolMoves:
        radius, polar, heading = random.uniform([0.3, -1.5, -np.pi], [0.6, 1.5, np.pi])
        middle = radius * np.array([np.cos(polar), np.sin(polar)])
        half = 0.3 * np.array([np.cos(heading), np.sin(heading)])
        ends = [[*(middle + sign * half), 0.08, polar] for sign in (-1.0, 1.0)]
        return ToolMoves(
            joints=model.joint_names, robot=robot, start=ends[0], moves=[ToolMove(tuple(ends[1]))],
            speed=0.9, acceleration=7.5, jerk=150.0,
        )  # fmt: skip

    return _feasible(draw, model, 'scara')


def delta_line(model: DynamicModel, random: np.random.Generator) -> Trajectory:
    """550 mm at 3000 mm/s across the middle, in any direction and at any working height."""

    def draw(robot: Kinematics) -> ToolMoves:
        heading, height = random.uniform([-np.pi, -0.82], [np.pi, -0.7])
        half = 0.275 * np.array([np.cos(heading), np.sin(heading)])
        return ToolMoves(
            joints=model.joint_names, robot=robot, start=[*-half, height],
            moves=[ToolMove((*half.tolist(), height))],
            speed=3.0, acceleration=45.0, jerk=2250.0,
        )  # fmt: skip

    return _feasible(draw, model, 'delta3')


def _feasible(
    draw: Callable[[Kinematics], ToolMoves], model: DynamicModel, robot: str
) -> ToolMoves:
    """First line drawn that stays within the joint limits."""
    kinematics, limits = kinematics_of(model), limits_of(robot)
    for _ in range(1000):
        try:
            line = draw(kinematics)
            check_motion(line, limits)
        except MotionError:
            continue
        return line
    raise RuntimeError(f'no line of the {robot} stays within its limits')


def puma_oscillation(model: DynamicModel, random: np.random.Generator) -> Trajectory:
    """Axis 3 swings by +-20 deg at 0.5 Hz; the others stand, axis 2 anywhere in its range."""
    middle = np.array([0.0, random.uniform(-150.0, -60.0), 167.5, 0.0, 30.0, 0.0])
    half = np.array([0.0, 0.0, 20.0, 0.0, 0.0, 0.0])
    frequency = 0.5
    motion = SineMotion(
        joints=model.joint_names,
        start=np.deg2rad(middle - half),
        target=np.deg2rad(middle + half),
        frequency=frequency,
        duration=CYCLES / frequency + 2.0 * LEAD,
        lead_in=LEAD,
        lead_out=LEAD,
    )
    check_motion(motion, limits_of('puma'))
    return motion


DEMONSTRATIONS = {
    'scara': Demonstration(
        'scara', 'SCARA, 600 mm at 900 mm/s: settling time [ms]', 0.867, scara_line, 0.001
    ),
    'delta': Demonstration(
        'delta3', 'DELTA, 550 mm at 3000 mm/s: settling time [ms]', 0.165, delta_line, 0.05
    ),
    'puma': Demonstration(
        'puma', 'PUMA, axis 3 swings: peak-to-peak error of axis 2 [deg]', 0.6, puma_oscillation
    ),
}


@dataclass(frozen=True)
class Case:
    """One seed of a demonstration: a robot, identified, and its motion."""

    demonstration: Demonstration
    config: CellConfig
    motion: Trajectory
    model: DynamicModel
    feed: FeedForward
    effort: Effort
    measure: Callable[[Case, Run], float]

    @classmethod
    def of(cls, demonstration: Demonstration, seed: int) -> Case:
        """Build the robot and identify it."""
        robot = demonstration.robot
        config = some_robot(robot, seed)
        result = identified(robot, config)
        if not result.success:
            raise RuntimeError(f'{robot}, seed {seed}: {[item.text for item in result.findings]}')
        motion = demonstration.motion(result.model, np.random.default_rng([seed, 11]))
        feed = FeedForward.of(robot, result)
        measure = settling_time if demonstration.pesettle else peak_to_peak
        return cls(demonstration, config, motion, result.model, feed, feed.streaming, measure)

    def runs(self) -> tuple[Run, Run]:
        """Without and with the model."""
        return run(self.config, self.motion), run(self.config, self.motion, self.effort)

    def values(self) -> tuple[float, float]:
        """Figure without and with the model."""
        without, with_model = (self.measure(self, seen) for seen in self.runs())
        return without, with_model


def joint_error(case: Case, seen: Run) -> Array:
    """Target minus actual position, combined as the softMC does it, in degrees and mm."""
    linear = [joint.type == 'prismatic' for joint in case.model.joints]
    return group_error(seen.reference[-1] - seen.position, linear)


def settled(case: Case, seen: Run, error: Array) -> Settling:
    """Return the settling at the end of a line."""
    pesettle = case.demonstration.pesettle
    return settling(seen.time, error, end=seen.end, tolerance=pesettle, duration=TIMESETTLE)


def settling_time(case: Case, seen: Run) -> float:
    """Until the error enters the window to stay for TIMESETTLE, in [ms]."""
    return 1e3 * settled(case, seen, joint_error(case, seen)).entered


def peak_to_peak(case: Case, seen: Run) -> float:
    """Error of axis 2 from its lowest to its highest value, in [deg]."""
    steady = (seen.time >= LEAD) & (seen.time <= seen.end - LEAD)
    return float(np.rad2deg(np.ptp(seen.error[steady, 1])))
