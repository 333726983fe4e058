# SPDX-License-Identifier: Apache-2.0
"""Complete suite: all other launch files, switched by arguments."""

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, OpaqueFunction
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from robodyn_ros.nodes.launching.descriptions import BASIC, declare_argument, share
from robodyn_ros.nodes.launching.viewers import viewers

PARTS = {
    'cell': ('profile',),
    'identification': (
        'output_directory',
        'command_topic',
        'model_file',
        'dynamic_model',
        'effort',
        'allow_unchecked',
        'controller',
        'gravity',
        'joint_limits',
    ),
    'feedforward': ('result_file', 'autostart', 'effort', 'controller'),
    'collision_monitor': (
        'result_file',
        'thresholds',
        'autostart',
        'effort',
        'controller',
        'joint_limits',
    ),
    'watch': ('effort',),
}
SWITCHED = ('cell', 'feedforward', 'collision_monitor', 'watch')
VIEWERS = ('robot_state_publisher', 'rviz')
LIKE = {
    'allow_unchecked': 'cell', 'robot_state_publisher': 'cell', 'use_sim_time': 'cell',
    'watch': 'rviz',
}  # fmt: skip
"""Arguments whose default is the value of another one: the simulated cell is empty and
publishes /clock, and no driver publishes its description; RViz shows the markers of `watch`."""


def generate_launch_description() -> LaunchDescription:
    """Include the launch files; feed-forward and monitor need a result_file."""
    parts = (name for part in PARTS.values() for name in part)
    names = dict.fromkeys(('cell', *BASIC, *VIEWERS, *SWITCHED, *parts))
    return LaunchDescription(
        [
            *(declare_argument(name, LIKE.get(name, '')) for name in names),
            *(included(part, names) for part, names in PARTS.items()),
            OpaqueFunction(function=viewers),
        ]
    )


def included(part: str, names: tuple[str, ...]) -> IncludeLaunchDescription:
    """Include a launch file with its arguments."""
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(share('launch', f'{part}.launch.py'))),
        launch_arguments=[(name, LaunchConfiguration(name)) for name in (*BASIC, *names)],
        condition=IfCondition(LaunchConfiguration(part)) if part in SWITCHED else None,
    )
