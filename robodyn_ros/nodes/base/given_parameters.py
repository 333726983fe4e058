# SPDX-License-Identifier: Apache-2.0
"""Parameters of the process: robot file, parameter files and command line."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from robodyn_ros.parameter_files import EVERY_NODE, Given, RosArguments, as_file, merged
from robodyn_ros.robot_file import load_robot

ROBOT = 'robot'
"""Parameter that names the robot file; every other source overrides it."""


class GivenParameters:
    """ROS arguments of this process, for all nodes that are created inside `used`.

    :ivar nodes: these nodes, also those whose creation failed
    """

    current: GivenParameters | None = None

    def __init__(self, arguments: Sequence[str]) -> None:
        """Read the arguments, such as sys.argv.

        :raises ConfigError: a parameter file that cannot be read
        """
        self._arguments = RosArguments(arguments)
        self.nodes: list[Any] = []

    @contextmanager
    def used(self) -> Iterator[None]:
        """Apply them to the nodes that are created in this context."""
        GivenParameters.current = self
        try:
            yield
        finally:
            GivenParameters.current = None

    def node(self, name: str, namespace: str = '') -> str:
        """Return the full name that a node will have."""
        return self._arguments.node(name, namespace)

    @contextmanager
    def of(self, node: str, program: str) -> Iterator[tuple[list[str], dict[str, Given]]]:
        """Yield the arguments of one node, which override those of the process, and its values.

        rcl reads them from a temporary file, because it decides on the type of a value.

        A declaration of effort counts as a unit: if one is given, that of the robot file is
        ignored completely.

        :param program: name without remapping, which is that of the section in the robot file
        :raises ConfigError: a robot file that cannot be used
        """
        sources = self._arguments.sources
        values = merged(sources, node)
        if ROBOT in values:
            robot = load_robot(str(values[ROBOT].value.value))
            of_robot = robot.sources(program, effort='effort.unit' not in values)
            values = merged([*of_robot, *sources], node)
        if not values:
            yield [], values
            return
        with tempfile.NamedTemporaryFile('w', suffix='.yaml', encoding='utf-8') as file:
            file.write(as_file({EVERY_NODE: values}))
            file.flush()
            yield ['--ros-args', '--params-file', file.name], values
