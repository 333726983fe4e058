# SPDX-License-Identifier: Apache-2.0
"""Parameters of the excitation node: the robot's limits, the motion, rates and tolerances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter

from robodyn_ros.errors import ConfigError, MotionError, clip
from robodyn_ros.excitation.catalog import build_motion, load_motion
from robodyn_ros.excitation.limits.doubts import find_doubts
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.models.catalog import load_model
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.urdf_file import parse_urdf
from robodyn_ros.nodes.base.common import declare, plain, source_of
from robodyn_ros.nodes.robot.described_robot import robot_description
from robodyn_ros.paths import resource

OUTPUTS = {
    'trajectory': 'joint_trajectory_controller/joint_trajectory',
    'stream': 'forward_position_controller/commands',
}
"""Kinds of output and their default topics."""

SCALED = ('velocity', 'acceleration')
"""Limits of which a share may be used."""
KIND = Parameter.Type
MOTION = {
    'kind': (
        KIND.STRING,
        'sine, optimised (designed) or another kind; empty: motion_file',
    ),
    'joints': (KIND.STRING_ARRAY, 'joints of the lists below; default: all of the robot'),
    'duration': (KIND.DOUBLE, 'from rest to rest, leads included [s]'),
    'lead_in': (KIND.DOUBLE, 'time to come to full frequency [s]'),
    'lead_out': (KIND.DOUBLE, 'time to come to rest [s]'),
    'start': (KIND.DOUBLE_ARRAY, 'sine, move: where it begins [rad or m]'),
    'target': (KIND.DOUBLE_ARRAY, 'sine, move: the other end [rad or m]'),
    'frequency': (KIND.DOUBLE_ARRAY, 'sine: of each joint [Hz]'),
    'base_frequency': (KIND.DOUBLE, 'fourier: of the first harmonic [Hz]'),
    'harmonics': (KIND.INTEGER, 'fourier: how many; a and b hold as many values per joint'),
    'center': (KIND.DOUBLE_ARRAY, 'fourier: theta_0 of each joint [rad or m]'),
    'a': (KIND.DOUBLE_ARRAY, 'fourier: sine coefficients, joint after joint [rad/s or m/s]'),
    'b': (KIND.DOUBLE_ARRAY, 'fourier: cosine coefficients, joint after joint [rad/s or m/s]'),
}


SETTINGS = {
    'rate': (500.0, 'setpoints per second when streaming', 10.0, 4000.0),
    'point_spacing': (0.02, 'time between trajectory points [s]', 0.001, 0.1),
    'pause': (0.5, 'standstill between move and motion [s]', 0.0, 60.0),
    # a controller that receives a trajectory after its first point starts with a jump
    'start_delay': (1.0, 'time from sending to starting a motion [s]', 0.02, 5.0),
    'stop_latency': (0.15, 'time within which a stop reaches the controller [s]', 0.05, 2.0),
    'state_timeout': (1.0, 'largest age of joint states [s]', 0.01, 60.0),
    'moving_threshold': (0.02, 'largest velocity at rest [rad/s or m/s]', 1e-6, 10.0),
    'following_tolerance': (
        0.2, 'largest tracking error before the robot is stopped [rad or m]; 0: not checked',
        0.0, 10.0,
    ),
    'goal_tolerance': (0.02, 'largest distance from the end position [rad or m]', 1e-6, 10.0),
    'goal_time': (2.0, 'time to reach the end position and rest [s]', 0.0, 60.0),
}  # fmt: skip
"""Parameters, and fields of `Settings`: default, description, smallest and largest value."""


@dataclass(frozen=True)
class Settings:
    """Parameters that stay the same while the node runs, see `SETTINGS`."""

    output: str
    topic: str
    rate: float
    point_spacing: float
    pause: float
    start_delay: float
    stop_latency: float
    state_timeout: float
    moving_threshold: float
    following_tolerance: float
    goal_tolerance: float
    goal_time: float


def declare_settings(node: Node) -> Settings:
    """Declare the parameters of `Settings`.

    :raises ConfigError: a value that cannot be used
    """
    output = _declare_fixed(
        node, 'output', 'trajectory', 'trajectory (one message) or stream (setpoints)'
    )
    if output not in OUTPUTS:
        raise ConfigError(f"parameter 'output' must be one of {list(OUTPUTS)}, got {output!r}")
    topic = _declare_fixed(
        node, 'command_topic', '', f'command topic; default by output: {OUTPUTS}'
    )
    figures = {name: _declare_fixed(node, name, *row) for name, row in SETTINGS.items()}
    return Settings(output=output, topic=topic or OUTPUTS[output], **figures)


def _declare_fixed(
    node: Node,
    name: str,
    default: Any,
    text: str,
    minimum: float | None = None,
    maximum: float | None = None,
) -> Any:
    return declare(node, name, default, text, read_only=True, minimum=minimum, maximum=maximum)


def declare_limits(node: Node) -> JointLimits:
    """Limits of the robot: URDF, joint limits file, scaling.

    :raises RobodynError: no robot, or limits that cannot be used
    """
    urdf = parse_urdf(robot_description(node))
    joints = _declare_fixed(
        node, 'joints', KIND.STRING_ARRAY, 'joints to move, in the order of commands'
    )
    text = "file in the form of MoveIt's joint_limits.yaml, or folder of a MoveIt configuration"
    file = _declare_fixed(node, 'joint_limits', '', text)
    text = 'share of the limits that may be used'
    shares = [_declare_fixed(node, f'{name}_scaling', 1.0, text) for name in SCALED]
    limits = JointLimits.from_urdf(urdf, joints or None)
    if file:
        others = [joint.name for joint in urdf.joints]
        limits = load_limits(resource(file), limits, others=others)
    for text in find_doubts(limits):
        node.get_logger().warning(clip(text))
    limits = limits.scale(velocity=shares[0], acceleration=shares[1])
    where = [source_of(node, n) for n in ('joint_limits', *(f'{k}_scaling' for k in SCALED))]
    node.get_logger().info(
        f'joint limits: {file or "of the URDF"}{where[0]}, used are {shares[0]:.0%} of the '
        f'velocities{where[1]} and {shares[1]:.0%} of the accelerations{where[2]}'
    )
    ruled = [limits.joints[index] for index in np.flatnonzero(np.isinf(limits.acceleration))]
    if ruled:
        node.get_logger().warning(
            f'joints without acceleration limit: {", ".join(ruled)}. They accelerate to their '
            'velocity limit within 1 s. Give limits with the parameter joint_limits.'
        )
    return limits.with_default_acceleration()


def declare_motion(node: Node) -> None:
    """Declare the parameters of the motion; they may be changed while the node runs."""
    text = 'share of the planned speed, on the same path: 0.1 for a first run'
    declare(node, 'speed', 1.0, text, minimum=0.01, maximum=1.0)
    declare(node, 'motion_file', '', 'YAML file with the motion, when motion.kind is empty')
    for name, (kind, text) in MOTION.items():
        declare(node, f'motion.{name}', kind, text)


def declare_model(node: Node) -> None:
    """Declare the parameters of the model; they may be changed while the node runs."""
    declare(node, 'result_file', '', 'result YAML: model for torque_max')
    text = 'model YAML: for torque_max (its a-priori values), and to design a motion'
    declare(node, 'model_file', '', text)
    declare(node, 'dynamic_model', 0, 'number, in place of the one in model_file; 0: that one')


def file_model(node: Node) -> DynamicModel | None:
    """Return the model of model_file and dynamic_model; None: no file is given.

    :raises ModelError: it cannot be used
    """
    file, number = (node.get_parameter(name).value for name in ('model_file', 'dynamic_model'))
    return load_model(resource(str(file)), dynamic_model=number or None) if file else None


def read_motion(node: Node, motion_file: str, limits: JointLimits) -> Trajectory:
    """Build the motion of a goal's file, or of the parameters.

    :param motion_file: empty: the parameters say
    :raises MotionError: none is configured, or it is not well defined
    """
    given = {name: node.get_parameter_or(f'motion.{name}', None) for name in MOTION}
    description: dict[str, Any] = {
        name: plain(parameter.value)
        for name, parameter in given.items()
        if parameter is not None and parameter.value is not None
    }
    file = motion_file or (
        '' if description.get('kind') else node.get_parameter('motion_file').value
    )
    if file:
        return load_motion(resource(file))
    if not description.get('kind'):
        raise MotionError('no motion is configured: set the parameter motion.kind or motion_file')
    joints = description.setdefault('joints', list(limits.joints))
    harmonics = description.pop('harmonics', None)
    for name in ('a', 'b'):
        if name in description:
            description[name] = _rows(name, description[name], len(joints), harmonics)
    return build_motion(description)


def _rows(name: str, values: list[float], joints: int, harmonics: int | None) -> list[list[float]]:
    """Turn a flat list (ROS parameters have no other) into one row per joint."""
    count = harmonics or len(values) // max(joints, 1)
    if joints * count != len(values) or count == 0:
        raise MotionError(
            f'motion.{name} must have {count} value(s) for each of {joints} joint(s), '
            f'got {len(values)}'
        )
    return [values[row * count : (row + 1) * count] for row in range(joints)]
