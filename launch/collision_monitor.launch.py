# SPDX-License-Identifier: Apache-2.0
"""Collision monitor: torque error against thresholds (lifecycle node). NOT a safety function."""

from launch import LaunchDescription

from robodyn_ros.nodes.launching.descriptions import description


def generate_launch_description() -> LaunchDescription:
    """Launch the monitor."""
    return description(
        ['collision_monitor'],
        ['result_file', 'thresholds', 'autostart', 'effort', 'controller', 'joint_limits'],
    )
