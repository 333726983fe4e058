# SPDX-License-Identifier: Apache-2.0
"""Launch files as `ros2 launch` runs them.

A test module that imports this is skipped where there is no launch_ros.
"""

from pathlib import Path

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed (it comes with ROS 2)')
from launch import LaunchContext
from launch.action import Action
from launch.actions import IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node

from robodyn_ros.nodes.launching import descriptions

ROOT = Path(__file__).resolve().parents[2]
NODES = {
    'cell.launch.py': ['cell'],
    'identification.launch.py': ['excitation', 'identification', 'recorder'],
    'feedforward.launch.py': ['feedforward'],
    'collision_monitor.launch.py': ['collision_monitor'],
    'watch.launch.py': ['watch'],
    'bringup.launch.py': ['cell', 'excitation', 'identification', 'recorder'],
}
MOCK = 'mock_control.launch.py'
"""Controllers on mock hardware: no nodes of this package."""
EVERYTHING = {'feedforward': 'true', 'collision_monitor': 'true', 'result_file': 'r/result.yaml'}
ROBOTS = sorted(path.stem for path in (ROOT / 'config' / 'robots').glob('*.yaml'))
EXAMPLE = ROOT / 'config' / 'example_robot.yaml'


def source(name):
    return PythonLaunchDescriptionSource(str(ROOT / 'launch' / name))


def recorded(monkeypatch):
    """Return a function that runs a launch file with arguments and returns its nodes by name."""
    found = {}

    class Recorded(Action):
        def __init__(self, **options):
            super().__init__()
            found[options['name']] = options

    def run(entity, context):
        if isinstance(entity, Node):  # of another package: robot_state_publisher
            return
        for inner in entity.visit(context) or ():
            run(inner, context)

    def launched(name, **arguments):
        found.clear()
        run(IncludeLaunchDescription(source(name), launch_arguments=arguments.items()),
            LaunchContext())  # fmt: skip
        return dict(found)

    monkeypatch.setattr(descriptions, 'Node', Recorded)
    return launched


def parameters(node):
    """Parameters given one by one, as a node sees them at last."""
    merged = {}
    for group in node['parameters']:
        merged.update(group if isinstance(group, dict) else {})
    return merged


def files(node):
    return [group for group in node['parameters'] if isinstance(group, str)]


def mock_control(**arguments):
    """Nodes that mock_control.launch.py starts at once, and what they run."""
    context = LaunchContext()
    context.launch_configurations.update(arguments)
    description = source(MOCK).get_launch_description(context)
    for argument in description.get_launch_arguments():
        if argument.default_value is not None:
            context.launch_configurations.setdefault(
                argument.name, ''.join(part.perform(context) for part in argument.default_value)
            )
    (create,) = [entity for entity in description.entities if isinstance(entity, OpaqueFunction)]
    return [node for node in create.execute(context) if isinstance(node, Node)]
