"""Parameters that the process was given: robot file, parameter files and command line."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from robodyn_ros.parameter_files import EVERY_NODE, Given, RosArguments, as_file, merged
from robodyn_ros.robot_file import load_robot

ROBOT = 'robot'
"""Parameter that names the robot file; what it says loses against every other source."""


class GivenParameters:
    """ROS arguments of this process; the nodes that are created while it is `used` get them."""

    current: GivenParameters | None = None

    def __init__(self, arguments: Sequence[str]) -> None:
        """Read the arguments, such as sys.argv.

        :raises ConfigError: a parameter file that cannot be read
        """
        self._arguments = RosArguments(arguments)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Give them to the nodes that are created meanwhile."""
        GivenParameters.current = self
        try:
            yield
        finally:
            GivenParameters.current = None

    def node(self, name: str, namespace: str = '') -> str:
        """Name with namespace that a node will have."""
        return self._arguments.node(name, namespace)

    @contextmanager
    def of(self, node: str, program: str) -> Iterator[tuple[list[str], dict[str, Given]]]:
        """Arguments of a node alone, which win over those of the process, and what they give.

        rcl reads them from a file, because it decides of which type a value is. The file is there
        as long as the context.

        A declaration of effort counts as a unit: where one is given, that of the robot file does
        not fill its gaps.

        :param node: name with namespace
        :param program: name without remapping, which is that of its section in the robot file
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
