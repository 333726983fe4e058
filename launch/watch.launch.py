# SPDX-License-Identifier: Apache-2.0
"""Live page for a browser, and markers for RViz. It only reads."""

from launch import LaunchDescription

from robodyn_ros.nodes.launching.descriptions import description


def generate_launch_description() -> LaunchDescription:
    """Launch the watch node."""
    return description(['watch'], ['effort'])
