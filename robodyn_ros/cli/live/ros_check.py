# SPDX-License-Identifier: Apache-2.0
"""Check that a command that needs ROS 2 can run."""

from __future__ import annotations

import importlib.util

from robodyn_ros.errors import ConfigError


def check_ros(command: str) -> None:
    """Check for rclpy and the built interfaces. All other commands work without ROS.

    :param command: for the message, for example 'robodyn watch'
    :raises ConfigError: one of them is missing
    """
    if importlib.util.find_spec('rclpy') is None:
        raise ConfigError(
            f'{command} runs ROS 2 nodes, but rclpy is missing: run `make build` in a '
            'checkout and enter it with `. ./env.sh`'
        )
    if importlib.util.find_spec('robodyn_ros.msg') is None:
        raise ConfigError(
            'the interfaces of robodyn_ros are not built: run `make build`, then `. ./env.sh`'
        )
