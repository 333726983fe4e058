"""What the launch files of the suite share: their arguments, and nodes with the right files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from robodyn_ros.errors import ConfigError

ARGUMENTS = {
    'namespace': ('', 'namespace of all nodes and topics'),
    'robot': (
        '',
        'a robot of this package: config/*_ROBOT.yaml and urdf/ROBOT.urdf; empty: none of these '
        'files when urdf is given, else six_axis',
    ),
    'urdf': ('', 'URDF file of your robot; empty: urdf/ROBOT.urdf of this package'),
    'params_file': ('', 'parameter YAML of your own; it is read last, so it wins'),
    'use_sim_time': ('false', 'take the time from /clock'),
    'log_level': ('info', 'least severe messages to log'),
    'autostart': ('true', 'configure and activate lifecycle nodes at once'),
    'result_file': ('', 'result.yaml of an identification'),
    'output_directory': ('.', 'folder for recordings and results'),
    'command_topic': (
        '',
        'where excitation sends its motion; feedforward/joint_trajectory: through the '
        'feed-forward; empty: straight to the controller',
    ),
    'feedforward': ('false', 'add the torque of result_file to every trajectory'),
    'collision_monitor': ('false', 'monitor collisions with the model of result_file'),
    'cell': ('true', 'simulate the robot cell; false: a real one is running'),
}
"""Launch arguments: name -> default and description."""

SWITCH = ('true', 'false')
CHOICES = {
    'use_sim_time': SWITCH,
    'autostart': SWITCH,
    'feedforward': SWITCH,
    'collision_monitor': SWITCH,
    'cell': SWITCH,
    'log_level': ('debug', 'info', 'warn', 'error', 'fatal'),
}

BASIC = ('namespace', 'robot', 'urdf', 'params_file', 'use_sim_time', 'log_level')
"""Arguments of every launch file."""

OWN_FORM = {'cell': 'config'}
"""Nodes whose config/NODE_ROBOT.yaml is no ROS parameter file -> the parameter that names it."""

SENDERS = ('excitation', 'feedforward')
"""Nodes that publish trajectories, which may be large: see config/fastdds.xml."""

PROFILE = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
"""Variables that name a profile of Fast DDS; the second one is the older name."""


def description(nodes: Sequence[str], arguments: Sequence[str] = ()) -> LaunchDescription:
    """Launch these executables of the package.

    :param arguments: names from ARGUMENTS, beyond the basic ones; each is handed to the nodes as
        a parameter of the same name
    """
    return LaunchDescription(
        [
            *(declared(name) for name in (*BASIC, *arguments)),
            OpaqueFunction(function=_creator(nodes, arguments)),
        ]
    )


def declared(name: str) -> DeclareLaunchArgument:
    """Declare one of ARGUMENTS."""
    default, text = ARGUMENTS[name]
    return DeclareLaunchArgument(
        name, default_value=default, description=text, choices=CHOICES.get(name)
    )


def share(*parts: str) -> Path:
    """Path of an installed file of this package."""
    return Path(get_package_share_directory('robodyn_ros')).joinpath(*parts)


def _creator(
    nodes: Sequence[str], arguments: Sequence[str]
) -> Callable[[LaunchContext], list[Action]]:
    def create(context: LaunchContext) -> list[Action]:
        values = {
            name: str(LaunchConfiguration(name).perform(context)) for name in (*BASIC, *arguments)
        }
        common: dict[str, object] = {
            name: _typed(values[name]) for name in arguments if values[name]
        }
        common['use_sim_time'] = values['use_sim_time'] == 'true'
        _check_file('params_file', values['params_file'])
        _check_file('urdf', values['urdf'])
        # Limits and thresholds of this package's arm must not reach another robot unasked.
        values['robot'] = values['robot'] or ('' if values['urdf'] else 'six_axis')
        common['urdf'] = values['urdf'] or str(_robot_urdf(values['robot']))
        return [_node(name, values, common) for name in nodes]

    return create


def _node(name: str, values: dict[str, str], common: dict[str, object]) -> Node:
    return Node(
        package='robodyn_ros',
        executable=name,
        name=name,
        namespace=values['namespace'],
        parameters=[
            *_configuration(name, values['robot']),
            common,
            *([values['params_file']] if values['params_file'] else []),
        ],
        arguments=['--ros-args', '--log-level', values['log_level']],
        output='screen',
        additional_env=_environment(name),
    )


def _environment(node: str) -> dict[str, str]:
    if node not in SENDERS or any(name in os.environ for name in PROFILE):
        return {}
    return {PROFILE[0]: str(share('config', 'fastdds.xml'))}


def _configuration(node: str, robot: str) -> list[str | dict[str, object]]:
    """What config/NODE_ROBOT.yaml gives, if there is one."""
    file = share('config', f'{node}_{robot}.yaml')
    if not file.is_file():
        return []
    return [{OWN_FORM[node]: str(file)}] if node in OWN_FORM else [str(file)]


def _check_file(argument: str, value: str) -> None:
    # launch itself only warns and starts the nodes without the file: with the limits of another
    # robot, for example.
    if value and not Path(value).is_file():
        raise ConfigError(f'launch argument {argument}: there is no file {value}')


def _typed(text: str) -> object:
    return {'true': True, 'false': False}.get(text, text)


def _robot_urdf(robot: str) -> Path:
    path = share('urdf', f'{robot}.urdf')
    if not path.is_file():
        known = ', '.join(sorted(item.stem for item in share('urdf').glob('*.urdf')))
        raise ConfigError(
            f'there is no robot {robot!r} in this package, only {known}: give urdf:=FILE for '
            f'a robot of your own'
        )
    return path
