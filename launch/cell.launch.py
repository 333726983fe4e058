# SPDX-License-Identifier: Apache-2.0
"""Simulated robot cell with the topics and services of ros2_control."""

from launch import LaunchDescription

from robodyn_ros.nodes.launching.descriptions import description


def generate_launch_description() -> LaunchDescription:
    """Launch the cell."""
    return description(['cell'], ['profile'])
