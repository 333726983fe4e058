"""The suite around a robot cell: the other launch files, switched by arguments."""

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from robodyn_ros.nodes.launching.descriptions import BASIC, declared, share

PARTS = {
    'cell': (),
    'identification': (
        'output_directory',
        'command_topic',
        'model_file',
        'dynamic_model',
        'effort',
        'allow_unchecked',
    ),
    'feedforward': ('result_file', 'autostart', 'effort'),
    'collision_monitor': ('result_file', 'autostart', 'effort'),
}
SWITCHED = ('cell', 'feedforward', 'collision_monitor')
LIKE = {'allow_unchecked': 'cell'}
"""Arguments whose default is the value of another: nothing stands in the simulated cell."""


def generate_launch_description() -> LaunchDescription:
    """Include the parts; feed-forward and monitor need a result_file."""
    own = dict.fromkeys((*BASIC, *SWITCHED, *(name for names in PARTS.values() for name in names)))
    return LaunchDescription(
        [
            *(declared(name, LIKE.get(name, '')) for name in own),
            *(included(part, names) for part, names in PARTS.items()),
        ]
    )


def included(part: str, names: tuple[str, ...]) -> IncludeLaunchDescription:
    """Include one launch file, with the arguments it takes."""
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(share('launch', f'{part}.launch.py'))),
        launch_arguments=[(name, LaunchConfiguration(name)) for name in (*BASIC, *names)],
        condition=IfCondition(LaunchConfiguration(part)) if part in SWITCHED else None,
    )
