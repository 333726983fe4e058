# SPDX-License-Identifier: Apache-2.0
"""Simulated cell without ROS: identification as in the document, then motion with the model.

The cell is stepped without waiting, with the configuration files of the nodes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'test/support/controller'))

from additive_torque import AdditiveTorque

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.trajectory_effort import effort_steps
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.excitation.catalog import build_motion
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.motions.spline import SplineTrajectory
from robodyn_ros.excitation.plan import points_of
from robodyn_ros.excitation.trajectory import Motion, Trajectory
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.long_work import complete
from robodyn_ros.models.catalog import load_model
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.recording.recording import Recording
from robodyn_ros.robot_file import load_robot

CONFIG = Path(__file__).resolve().parent.parent / 'config'
WAIT = 1.0
"""Standing still before and after a motion, in [s]."""

Effort = Callable[[Motion, float], Array]
"""Additive torque (N, n) of each servo cycle, of a reference and the motion's duration."""


@dataclass(frozen=True)
class Run:
    """Signals of every servo cycle; arrays (N, n), SI. Time 0 is the start of the motion."""

    time: Array
    reference: Array
    position: Array
    torque: Array
    end: float

    @property
    def error(self) -> Array:
        """Reference of the cycle minus measured position."""
        return self.reference - self.position


def file_of(robot: str) -> Path:
    """Path of the robot file."""
    return CONFIG / 'robots' / f'{robot}.yaml'


def parameters(name: str, robot: str) -> Mapping[str, Any]:
    """Parameters of a node in the robot file."""
    return load_robot(file_of(robot)).section(name, 'this measurement')


def limits_of(robot: str) -> JointLimits:
    """Joint limits of a robot."""
    urdf = read_urdf(CONFIG.parent / 'urdf' / f'{robot}.urdf')
    return load_limits(file_of(robot), JointLimits.from_urdf(urdf))


def some_robot(robot: str, seed: int) -> CellConfig:
    """The configured cell, with a friction and rotors of its own: no two robots are the same.

    Friction differs by up to 20 % per joint, rotor inertia by 10 %; the drives stay as they are.
    """
    config = CellConfig.from_yaml(file_of(robot), profile='ideal')
    random = np.random.default_rng([seed, 7])
    joints = {}
    for name, joint in config.joints.items():
        friction, rotor = 1.0 + np.array([0.2, 0.1]) * random.uniform(-1.0, 1.0, 2)
        scaled = {
            key: friction * getattr(joint, key)
            for key in ('coulomb_friction', 'static_friction', 'viscous_friction')
        }
        joints[name] = replace(joint, rotor_inertia=rotor * joint.rotor_inertia, **scaled)
    return replace(config, joints=joints, seed=seed)


def run(config: CellConfig, motion: Trajectory, effort: Effort | None = None) -> Run:
    """Stand, move, stand."""
    time, reference = _reference(config, motion)
    start = {
        name: replace(config.joints[name], initial_position=float(value))
        for name, value in zip(motion.joints, reference.position[0], strict=True)
    }
    cell = RobotCell(replace(config, joints={**config.joints, **start}))
    if cell.joints != motion.joints:
        raise ValueError(f'the cell has the joints {cell.joints}, the motion {motion.joints}')
    seen, measured = np.zeros((2, *reference.position.shape))
    sent = np.zeros(seen.shape) if effort is None else effort(reference, motion.duration)
    for row, command in enumerate(reference.position):
        # The state at the beginning of the cycle, as a controller reads it before it writes.
        seen[row], measured[row] = cell.state.position, cell.state.torque
        cell.step(command, sent[row])
    return Run(time, reference.position, seen, measured, motion.duration)


def _reference(config: CellConfig, motion: Trajectory) -> tuple[Array, Motion]:
    """Servo cycles from WAIT before a motion to WAIT after it; at rest outside."""
    period = config.servo_period
    wait = round(WAIT / period)
    time = period * (np.arange(2 * wait + int(np.ceil(motion.duration / period)) + 1) - wait)
    samples = motion.sample(time)
    moving = ((time > 0.0) & (time < motion.duration))[:, None]
    return time, Motion(
        time, samples.position, samples.velocity * moving, samples.acceleration * moving
    )


def identified(robot: str, config: CellConfig) -> IdentificationResult:
    """Identify the cell by its example program: 2 s of running in, then 20 s are recorded.

    The cut-off of 80 Hz is that of the document, IdentFilterFreq.
    """
    model = load_model(file_of(robot))
    given = parameters('excitation', robot)['motion']
    found = run(config, build_motion({'joints': list(model.joint_names), **given}))
    rows = (found.time >= 2.0) & (found.time <= 22.0)
    recording = Recording(
        time=found.time[rows],
        joints=model.joint_names,
        position=found.position[rows],
        torque=found.torque[rows],
        source=f'simulated {robot}',
    )
    return identify(recording, model, options=IdentifyOptions(filter_cutoff=80.0))


@dataclass(frozen=True)
class FeedForward:
    """The feed-forward node's settings of a robot, and its identified model."""

    torque: ModelTorque
    settings: FeedforwardSettings

    @classmethod
    def of(cls, robot: str, result: IdentificationResult) -> FeedForward:
        """Read the robot's settings."""
        values = parameters('feedforward', robot)
        window = values['velocity_window']
        torque = ModelTorque(
            result.model, result.values,
            velocity_window=window if len(window) > 1 else window[0],
        )  # fmt: skip
        most = values['max_torque']
        return cls(torque, FeedforwardSettings(joints=torque.joints, max_torque=most))

    def streaming(self, reference: Motion, duration: float) -> Array:
        """The law that runs in every cycle, as in the softMC; on long before the motion."""
        law = AdditiveTorque(torque=self.torque, settings=self.settings)
        rows = zip(reference.position, reference.velocity, reference.acceleration, strict=True)
        return np.array([law.update(*row).copy() for row in rows])

    def trajectory(self, reference: Motion, duration: float) -> Array:
        """The effort of a joint trajectory; after it the controller holds its last."""
        last = int(np.argmax(reference.time >= duration - 1e-9))
        spline = points_of(
            _Samples(self.torque.joints, reference, slice(last + 1)), self.settings.period
        )
        steps = effort_steps(SplineTrajectory(points=spline), self.torque, self.settings)
        plan = complete(steps)
        result = np.empty(reference.position.shape)
        count = min(len(plan.effort), len(result))
        result[:count], result[count:] = plan.effort[:count], plan.effort[-1]
        return result


class _Samples(Trajectory):
    """Samples of a reference as a trajectory, for `points_of` at these very samples."""

    def __init__(self, joints: tuple[str, ...], samples: Motion, part: slice) -> None:
        self.joints = joints
        self._samples, self._part = samples, part
        self._time = samples.time[part] - samples.time[part][0]
        self.duration = float(self._time[-1])

    def sample(self, time: Array) -> Motion:
        rows = np.searchsorted(self._time, np.asarray(time) - 1e-6)
        values = self._samples
        return Motion(
            self._time[rows],
            values.position[self._part][rows],
            values.velocity[self._part][rows],
            values.acceleration[self._part][rows],
        )

    def describe(self) -> dict[str, object]:
        return {'kind': 'samples'}
