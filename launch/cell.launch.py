"""The simulated robot cell: looks like ros2_control from outside."""

from launch import LaunchDescription

from robodyn_ros.nodes.launching.descriptions import description


def generate_launch_description() -> LaunchDescription:
    """Launch the cell."""
    return description(['cell'])
