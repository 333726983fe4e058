# SPDX-License-Identifier: Apache-2.0
"""File that marks a node with torque enabled, for the next process of this node."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rclpy.node import Node

from robodyn_ros.errors import ConfigError
from robodyn_ros.output_files import make_folder, write_file


class TorqueMarker:
    """File that exists from the enabling of torque until the torque has been removed.

    A process that is killed does not remove it, and the next process finds it. There is one per
    ROS_DOMAIN_ID and node name, in the folder `robodyn` of ROS_HOME (~/.ros).

    :ivar earlier: text of an earlier process, or ''
    """

    def __init__(self, node: Node) -> None:
        """Read the file of an earlier process."""
        home = os.environ.get('ROS_HOME') or Path.home() / '.ros'
        name = node.get_fully_qualified_name().strip('/').replace('/', '.')
        domain = node.context.get_domain_id()
        self.path = Path(home).expanduser() / 'robodyn' / f'{name}.domain_{domain}.torque'
        self._logger = node.get_logger()
        self._set = False
        try:
            self.earlier = self.path.read_text(encoding='utf-8').strip()
        except (FileNotFoundError, NotADirectoryError):
            self.earlier = ''
        except (OSError, UnicodeDecodeError) as error:
            self.earlier = f'(unreadable: {error})'

    def set(self) -> None:
        """Write the file atomically; warn if this is not possible."""
        if self._set:
            return
        text = f'process {os.getpid()}, torque enabled {time.strftime("%Y-%m-%d %H:%M:%S")}\n'
        try:
            folder = make_folder(self.path.parent, ConfigError)
            write_file(folder / self.path.name, lambda file: file.write_text(text), ConfigError)
        except ConfigError as error:
            self._logger.warning(
                f'{error}: a restart after kill -9 will not be noticed, and will apply torque '
                f'again. Set ROS_HOME to a folder that can be written'
            )
            return
        self._set = True

    def clear(self) -> None:
        """Remove the file after the torque."""
        self._set = False
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            self._logger.warning(
                f'{self.path} cannot be removed ({error.strerror}): the next start will not '
                f'apply torque by itself'
            )
