"""Parameters that the process was given, handed to its node by `robodyn_ros.parameter_files`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from robodyn_ros.parameter_files import EVERY_NODE, RosArguments, as_file, merged


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
    def of(self, node: str) -> Iterator[tuple[list[str], dict[str, str]]]:
        """Arguments of a node alone, which win over those of the process, and the sources.

        rcl reads them from a file, because it decides of which type a value is. The file is there
        as long as the context.

        :param node: name with namespace
        """
        values = merged(self._arguments.sources, node)
        sources = {name: given.source for name, given in values.items()}
        if not values:
            yield [], sources
            return
        with tempfile.NamedTemporaryFile('w', suffix='.yaml', encoding='utf-8') as file:
            file.write(as_file({EVERY_NODE: values}))
            file.flush()
            yield ['--ros-args', '--params-file', file.name], sources
