# SPDX-License-Identifier: Apache-2.0
"""Programs of ROS 2 that show the robot: robot_state_publisher and RViz. Both are optional."""

from __future__ import annotations

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext
from launch.action import Action
from launch.actions import LogInfo
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from robodyn_ros.errors import ConfigError, RobodynError
from robodyn_ros.models.serial.urdf_file import parse_urdf
from robodyn_ros.nodes.launching.descriptions import share
from robodyn_ros.paths import resource
from robodyn_ros.robot_file import load_robot
from robodyn_ros.xacro_file import locate_file, urdf_text

RVIZ_TOPICS = (
    'robot_description',
    'excitation/path',
    'watch/markers',
    'collision_monitor/contact_marker',
    'collision_monitor/wrench',
)
"""Topics of rviz/robodyn.rviz; in a namespace they are remapped."""


def viewers(context: LaunchContext) -> list[Action]:
    """Launch robot_state_publisher and RViz, as the arguments say.

    A missing package, or a robot without URDF, gives a sentence in the log.
    """
    given = {
        name: str(LaunchConfiguration(name).perform(context))
        for name in ('robot_state_publisher', 'rviz', 'namespace', 'robot', 'variant', 'urdf')
    }
    description, problem = _description(given)
    actions: list[Action] = []
    if given['robot_state_publisher'] == 'true':
        why = problem or missing('robot_state_publisher')
        hint = 'to use one that runs already: robot_state_publisher:=false'
        actions.append(
            _log(f'robot_state_publisher is not started: {why}; {hint}')
            if why
            else _state_publisher(given['namespace'], description)
        )
    if given['rviz'] == 'true':
        why = missing('rviz2')
        hint = 'the live page shows the robot without RViz: watch:=true, or robodyn watch'
        actions.append(
            _log(f'RViz is not started: {why}; {hint}')
            if why
            else _rviz(given['namespace'], parse_urdf(description).root if description else '')
        )
    return actions


def missing(package: str) -> str:
    """Return a sentence if a package is not installed, or ''."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        name = package.replace('_', '-')
        return f'package {package} is not installed (apt install ros-$ROS_DISTRO-{name})'
    return ''


def _log(text: str) -> LogInfo:
    return LogInfo(msg=f'[robodyn] {text}')


def _description(given: dict[str, str]) -> tuple[str, str]:
    """Return the text of the URDF, or '' and why there is none."""
    robot = given['robot'] or ('' if given['urdf'] else 'six_axis')
    variant = f'#{given["variant"]}' if given['variant'] else ''
    try:
        file = given['urdf'] or load_robot(f'{robot}{variant}').urdf
        if not file:
            raise ConfigError(f'robot {robot} has no URDF')
        return urdf_text(locate_file(file, resource)), ''
    except (RobodynError, OSError, UnicodeDecodeError) as error:
        return '', str(error)


def _state_publisher(namespace: str, description: str) -> Node:
    return Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        namespace=namespace,
        parameters=[{'robot_description': ParameterValue(description, value_type=str)}],
        output='screen',
    )


def _rviz(namespace: str, frame: str) -> Node:
    """Launch RViz; the fixed frame is the root link of the robot, if it is known."""
    file = str(share('rviz', 'robodyn.rviz'))
    return Node(
        package='rviz2',
        executable='rviz2',
        namespace=namespace,
        arguments=['-d', file, *(['-f', frame] if frame else [])],
        remappings=[(f'/{topic}', topic) for topic in RVIZ_TOPICS],
        output='log',
    )
