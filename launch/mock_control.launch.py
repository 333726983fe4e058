# SPDX-License-Identifier: Apache-2.0
"""ros2_control with mock hardware, and additive torque by one of two controllers."""

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import DeclareLaunchArgument, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.launching.descriptions import combined, share
from robodyn_ros.nodes.launching.mock_hardware import with_mock_hardware
from robodyn_ros.nodes.launching.viewers import missing
from robodyn_ros.robot_file import load_robot
from robodyn_ros.xacro_file import urdf_file

CONTROLLERS = {
    'plugin': ('feedforward_torque_controller', 'joint_trajectory_controller'),
    'trajectory_effort': ('joint_trajectory_controller',),
}


def generate_launch_description() -> LaunchDescription:
    """Launch controller manager, mock hardware and controllers."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'way', default_value='plugin', choices=list(CONTROLLERS),
                description='interface of the additive torque: config/ros2_control/WAY.yaml',
            ),
            DeclareLaunchArgument(
                'result_file', default_value='',
                description='result.yaml of an identification; required by the plugin',
            ),
            DeclareLaunchArgument(
                'robot', default_value='six_axis',
                description='robot of this package, or path of a robot file with the same joints',
            ),
            DeclareLaunchArgument(
                'urdf', default_value='',
                description='URDF without <ros2_control> tags; empty: that of the robot file',
            ),
            DeclareLaunchArgument(
                'namespace', default_value='',
                description='namespace of the controller manager, one per robot',
            ),
            DeclareLaunchArgument(
                'params_file', default_value='',
                description='your parameter YAML; read last, so it has priority, under /** or any '
                'other key',
            ),
            DeclareLaunchArgument(
                'robot_state_publisher', default_value='true', choices=['true', 'false'],
                description='publish the robot description; false: another node does',
            ),
            OpaqueFunction(function=_create),
        ]
    )  # fmt: skip


def _create(context: LaunchContext) -> list[Action]:
    given = {
        name: str(LaunchConfiguration(name).perform(context))
        for name in (
            'way', 'result_file', 'robot', 'urdf', 'namespace', 'params_file',
            'robot_state_publisher',
        )
    }  # fmt: skip
    for name in ('result_file', 'params_file'):
        if given[name] and not Path(given[name]).is_file():
            raise ConfigError(f'launch argument {name}: there is no file {given[name]}')
    if given['way'] == 'plugin' and not given['result_file']:
        raise ConfigError('launch argument result_file: the plugin needs a result.yaml')
    absent = {'controller_manager': missing('controller_manager')}
    if given['robot_state_publisher'] == 'true':
        absent['robot_state_publisher'] = missing('robot_state_publisher')
    if any(absent.values()):
        text = '; '.join(filter(None, absent.values()))
        raise ConfigError(f'ros2_control cannot be started: {text}')
    package = str(share('config', 'ros2_control', f'{given["way"]}.yaml'))
    parameters: list[object] = [package]
    if given['result_file']:
        parameters.append({'result_file': str(Path(given['result_file']).resolve())})
    if given['params_file']:
        # rcl gives priority by key, not by file: `combined` repeats the parameters under the keys
        # with the highest priority.
        user = given['params_file']
        parameters += [user, str(combined([package], user, given['namespace']))]
    manager = Node(
        package='controller_manager', executable='ros2_control_node', parameters=parameters,
        namespace=given['namespace'], output='screen',
    )  # fmt: skip
    broadcaster = _spawner(given['namespace'], 'joint_state_broadcaster')
    # The plugin is activated together with the controller of its references.
    controllers = _spawner(given['namespace'], '--activate-as-group', *CONTROLLERS[given['way']])
    urdf = Path(urdf_file(given['urdf'] or load_robot(given['robot']).urdf))
    described = Node(
        package='robot_state_publisher', executable='robot_state_publisher',
        namespace=given['namespace'], output='screen',
        parameters=[{'robot_description': with_mock_hardware(urdf)}],
    )  # fmt: skip
    return [
        *([described] if given['robot_state_publisher'] == 'true' else []),
        manager,
        broadcaster,
        RegisterEventHandler(OnProcessExit(target_action=broadcaster, on_exit=[controllers])),
    ]


def _spawner(namespace: str, *arguments: str) -> Node:
    return Node(
        package='controller_manager', executable='spawner', arguments=list(arguments),
        namespace=namespace, output='screen',
    )  # fmt: skip
