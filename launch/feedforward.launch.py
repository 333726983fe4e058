# SPDX-License-Identifier: Apache-2.0
"""Additive torque from an identified model (lifecycle node)."""

from launch import LaunchDescription

from robodyn_ros.nodes.launching.descriptions import description


def generate_launch_description() -> LaunchDescription:
    """Launch the feed-forward."""
    return description(['feedforward'], ['result_file', 'autostart', 'effort', 'controller'])
