# SPDX-License-Identifier: Apache-2.0
"""Check of the paths that requests give to a node."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter

from robodyn_ros.allowed_folders import PARAMETER, AllowedFolders, default_folders, without_root
from robodyn_ros.nodes.base.common import check_when_set, declare

FIELDS = (
    'base_result', 'motion_file', 'output_directory', 'recording', 'result_file',
    'validation_motion_file', 'validation_recording',
)  # fmt: skip
"""Fields of requests and goals that hold a path."""
LISTS = ('other_recordings',)
"""Fields that hold several paths."""


class AllowedDirectories:
    """Parameter `allowed_directories` of a node: folders that requests may name.

    Paths in parameters at the start are the operator's, and are allowed. Values that the network
    gives to these parameters later are checked like requests.
    """

    def __init__(self, node: Node, *parameters: str) -> None:
        """Declare the parameter.

        :raises ConfigError: a folder that no file can have, or of an unknown package
        """
        given = declare(
            node, PARAMETER, Parameter.Type.STRING_ARRAY, 'folders that services, actions and '
            'changed parameters may name, beside the paths in the parameters at the start; '
            'default: see docs/security.md', read_only=True,
        )  # fmt: skip
        self._names = parameters
        unset = Parameter('unset')
        values = [str(node.get_parameter_or(name, unset).value or '') for name in parameters]
        configured = without_root(filter(None, values))  # '.' is the root folder for a service
        self._folders = AllowedFolders([*configured, *(given or default_folders())])
        check_when_set(node, self._check)

    def path(self, name: str | Path) -> Path:
        """Return the path that a request names, without symbolic links.

        :raises ConfigError: it is not allowed
        """
        return self._folders.path(name)

    def resolve(self, request: Any) -> None:
        """Replace the paths in a request by absolute ones, without symbolic links.

        :param request: a request or goal with some of `FIELDS` and `LISTS`
        :raises ConfigError: one is not allowed
        """
        for field in FIELDS:
            if name := getattr(request, field, ''):
                setattr(request, field, str(self.path(name)))
        for field in LISTS:
            if names := getattr(request, field, ()):
                setattr(request, field, [str(self.path(name)) for name in names])

    def _check(self, new: Mapping[str, Any]) -> None:
        for name in self._names:
            if new.get(name):  # otherwise the parameter names no file
                self.path(new[name])
