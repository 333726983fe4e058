# SPDX-License-Identifier: Apache-2.0
"""Excitation, recorder and identification."""

from launch import LaunchDescription

from robodyn_ros.nodes.launching.descriptions import description


def generate_launch_description() -> LaunchDescription:
    """Launch the three nodes."""
    return description(
        ['excitation', 'recorder', 'identification'],
        [
            'output_directory',
            'command_topic',
            'model_file',
            'dynamic_model',
            'effort',
            'allow_unchecked',
            'controller',
            'gravity',
            'joint_limits',
        ],
    )
