# SPDX-License-Identifier: Apache-2.0
"""Arguments and nodes of the launch files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import (
    DeclareLaunchArgument,
    OpaqueFunction,
    RegisterEventHandler,
    TimerAction,
)
from launch.event_handlers import OnProcessExit
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from robodyn_ros.cell.profiles import profiles
from robodyn_ros.errors import ConfigError
from robodyn_ros.node_parameters.names import nearest, parameter_names
from robodyn_ros.nodes.launching.dds_profiles import environment
from robodyn_ros.paths import resource
from robodyn_ros.robot_file import load_robot
from robodyn_ros.xacro_file import locate_file
from robodyn_ros.yaml_file import read_yaml

ARGUMENTS = {
    'namespace': ('', 'namespace of all nodes and topics'),
    'robot': (
        '',
        'a robot of this package (config/robots/ROBOT.yaml), or the path of your robot file; '
        'empty: none when urdf is given, else six_axis',
    ),
    'variant': (
        '',
        'variant in the robot file: semi_static of robot puma; optimised (a designed motion) of '
        'six_axis, scara, delta',
    ),
    'urdf': (
        '',
        'URDF file of your robot, or xacro file, its arguments after it; empty: that of the robot '
        'file',
    ),
    'params_file': (
        '',
        'your parameter YAML; it overrides the robot file, under any key',
    ),
    'use_sim_time': ('false', 'take the time from /clock; default: as cell, which publishes it'),
    'respawn': ('true', 'start a node again 2 s after it died'),
    'log_level': ('info', 'least severe messages to log'),
    'autostart': ('true', 'configure and activate lifecycle nodes at once'),
    'result_file': ('', 'result.yaml of an identification'),
    'thresholds': (
        '',
        'file of `robodyn thresholds`; empty: thresholds of the robot file or params_file',
    ),
    'model_file': (
        '',
        'model YAML to identify; empty: section model of the robot file, without it the URDF',
    ),
    'dynamic_model': ('', 'number of the dynamic model; empty: as in model_file'),
    'effort': (
        '',
        'parameter YAML that declares the unit of effort of your robot; empty: section '
        'effort of the robot file',
    ),
    'output_directory': ('.', 'folder for recordings and results'),
    'command_topic': (
        '',
        'command topic of excitation; feedforward/joint_trajectory: through the '
        'feed-forward; empty: directly to the controller',
    ),
    'controller': (
        '',
        'trajectory controller of the robot, such as scaled_joint_trajectory_controller; '
        'excitation moves it too, unless command_topic is given; empty: as in the robot file, '
        'else joint_trajectory_controller',
    ),
    'gravity': (
        '',
        'gravity in the root frame of the URDF in m/s^2, three numbers such as "0 0 9.81" for a '
        'robot on the ceiling; empty: downwards, or as in the robot file',
    ),
    'joint_limits': (
        '',
        "limits in the form of MoveIt's joint_limits.yaml, or the folder of a MoveIt "
        'configuration; empty: section limits of the robot file',
    ),
    'allow_unchecked': (
        '',
        'true: run excitation motions although self-collision, a floor or surroundings are not '
        'checked; empty: as the parameters of excitation say',
    ),
    'feedforward': ('false', 'add the torque of result_file to every trajectory'),
    'collision_monitor': ('false', 'monitor collisions with the model of result_file'),
    'watch': (
        'false',
        'serve the live page on http://127.0.0.1:8780, and publish markers for RViz; default: as '
        'rviz',
    ),
    'rviz': ('false', 'show the robot in RViz; it needs the package rviz2'),
    'robot_state_publisher': (
        'true',
        'publish the robot description and TF; false: another node does, such as the driver of '
        'a real robot; default: as cell',
    ),
    'profile': (
        '',
        'drives of the simulated cell: ideal, industrial or cobot; empty: as in the robot file, '
        'else industrial',
    ),
    'cell': ('true', 'simulate the robot cell; false: a real one is running'),
}
"""Launch arguments: name -> default and description."""

SWITCH = ('true', 'false')
CHOICES = {
    'use_sim_time': SWITCH,
    'respawn': SWITCH,
    'autostart': SWITCH,
    'allow_unchecked': ('', *SWITCH),
    'feedforward': SWITCH,
    'collision_monitor': SWITCH,
    'watch': SWITCH,
    'rviz': SWITCH,
    'robot_state_publisher': SWITCH,
    'profile': ('', *profiles()),
    'cell': SWITCH,
    'log_level': ('debug', 'info', 'warn', 'error', 'fatal'),
}

BASIC = (
    'namespace',
    'robot',
    'variant',
    'urdf',
    'params_file',
    'use_sim_time',
    'log_level',
    'respawn',
)
"""Arguments of every launch file."""

FILES = ('params_file', 'urdf', 'model_file', 'effort', 'joint_limits', 'thresholds')
"""Arguments that name an existing file; package://PACKAGE/... is a file of a package."""

FOLDERS = ('joint_limits',)
"""Those of them that may name a folder."""

PARAMETER_FILES = ('params_file', 'effort')
"""Arguments that are passed on as ROS parameter files, the others as parameters."""

RESPAWN_DELAY = 2.0
"""Time from the end of a node that died to its next start, in [s]."""


def description(nodes: Sequence[str], arguments: Sequence[str] = ()) -> LaunchDescription:
    """Launch these executables of the package.

    :param arguments: names from ARGUMENTS, beyond the basic ones; each is handed to the nodes as
        a parameter of the same name
    """
    return LaunchDescription(
        [
            *(declare_argument(name) for name in (*BASIC, *arguments)),
            OpaqueFunction(function=_creator(nodes, arguments)),
        ]
    )


def declare_argument(name: str, like: str = '') -> DeclareLaunchArgument:
    """Declare one of ARGUMENTS.

    :param like: another argument, declared before, whose value is the default
    """
    default, text = ARGUMENTS[name]
    return DeclareLaunchArgument(
        name,
        default_value=LaunchConfiguration(like) if like else default,
        description=text,
        choices=CHOICES.get(name),
    )


def share(*parts: str) -> Path:
    """Return the path of an installed file of this package."""
    return Path(get_package_share_directory('robodyn_ros')).joinpath(*parts)


def _creator(
    nodes: Sequence[str], arguments: Sequence[str]
) -> Callable[[LaunchContext], list[Action]]:
    def create(context: LaunchContext) -> list[Action]:
        for word in context.argv:
            _warn_of_slip(word.partition(':=')[0])
        values = {
            name: str(LaunchConfiguration(name).perform(context)) for name in (*BASIC, *arguments)
        }
        for name in FILES:
            values[name] = locate_file(values.get(name, ''), partial(_existing, name))
        common: dict[str, object] = {
            name: _parse(name, values[name])
            for name in arguments
            if values[name] and name not in PARAMETER_FILES
        }
        if 'excitation' in nodes and 'controller' in common:
            topic = f'{common.pop("controller")}/joint_trajectory'
            common.setdefault('command_topic', topic)
        common['use_sim_time'] = values['use_sim_time'] == 'true'
        # the limits of this package's arm must not apply to another robot by default
        robot = values['robot'] or ('' if values['urdf'] else 'six_axis')
        common.update(_robot(robot, values['variant']))
        if values['urdf']:
            common['urdf'] = values['urdf']
        return [
            action
            for name in nodes
            for action in keep_alive(
                partial(_node, name, values, common), values['respawn'] == 'true'
            )
        ]

    return create


@cache
def _warn_of_slip(name: str) -> None:
    """Warn once of an argument like one of the package: launch ignores names it does not know.

    It may belong to a launch file that includes one of this package, so it is not refused.
    """
    like = nearest(name, ARGUMENTS, likeness=0.8)
    if name not in ARGUMENTS and like:
        get_logger('robodyn_ros').warning(
            f'there is no launch argument {name!r}, its value is ignored; did you mean {like}?'
        )


def keep_alive(create: Callable[[], Node], respawn: bool) -> list[Action]:
    """Launch a node, and start it again when it has died.

    The `respawn` of launch would also restart a node that refuses its parameters.
    """
    node = create()

    def again(event: Any, context: LaunchContext) -> list[Action]:
        if context.is_shutdown or event.returncode in (0, 2):  # asked to end; unusable parameters
            return []
        return [TimerAction(period=RESPAWN_DELAY, actions=keep_alive(create, respawn))]

    if not respawn:
        return [node]
    handler = OnProcessExit(target_action=lambda action: action is node, on_exit=again)
    return [RegisterEventHandler(handler), node]


def _node(name: str, values: dict[str, str], common: dict[str, object]) -> Node:
    files = [values[argument] for argument in ('effort', 'params_file') if values[argument]]
    known = parameter_names()[name]
    common = {key: value for key, value in common.items() if key in known}
    if name == 'cell':  # it publishes /clock
        common['use_sim_time'] = False
    return Node(
        package='robodyn_ros',
        executable=name,
        name=name,
        namespace=values['namespace'],
        parameters=[common, *files],
        arguments=['--ros-args', '--log-level', values['log_level']],
        output='screen',
        additional_env=environment(name),
    )


def _robot(name: str, variant: str) -> dict[str, str]:
    """Return the parameter that names the robot file; none for a robot without one."""
    if variant and not name:
        raise ConfigError('launch argument variant: it needs the argument robot')
    if not name:
        return {}
    return {'robot': load_robot(f'{name}#{variant}' if variant else name).reference}


def _existing(argument: str, value: str) -> str:
    """Return the path of the file that an argument names, or ''."""
    # launch only warns and starts the nodes without the file, for example with other limits
    path = resource(value)
    if value and not (path.is_file() or (argument in FOLDERS and path.is_dir())):
        raise ConfigError(f'launch argument {argument}: there is no file {value}')
    if value and argument in PARAMETER_FILES:
        read_yaml(
            path, 'the parameter file', ConfigError
        )  # otherwise every node ends with the same error
    return str(path) if value else ''


def _parse(name: str, text: str) -> object:
    try:
        if name == 'gravity':
            x, y, z = map(float, text.replace(',', ' ').split())
            return [x, y, z]
        if name == 'dynamic_model':
            return int(text)
    except ValueError as error:
        wanted = 'three numbers such as 0 0 -9.81' if name == 'gravity' else 'a number such as 1'
        raise ConfigError(f'launch argument {name}: expected {wanted}, got {text!r}') from error
    return {'true': True, 'false': False}.get(text, text)
