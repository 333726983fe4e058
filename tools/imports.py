# SPDX-License-Identifier: Apache-2.0
"""Import graph of the package, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

Graph = Mapping[str, set[str]]
"""Imported modules by module."""

FLOW = (
    'errors', 'schema', 'long_work', 'bounds', 'yaml_file', 'faults', 'findings', 'output_files',
    'runs', 'paths', 'allowed_folders', 'xacro_file', 'node_parameters', 'robot_file',
    'wire', 'models', 'excitation', 'recording', 'identification', 'control', 'analysis', 'report',
    'cell', 'watch', 'nodes', 'cli',
)  # fmt: skip
"""Rooms and files of `robodyn_ros`, bottom first: each imports only from those before it."""
IDENTIFICATION = (
    'options', 'signals', 'factors', 'fit', 'physical', 'average', 'friction', 'gears', 'result',
    'payload', 'rivals', 'diagnosis', 'files', 'steps', 'pipeline',
)  # fmt: skip
"""The same inside `robodyn_ros/identification`."""


def import_graph(package: Path) -> dict[str, set[str]]:
    """Return the imports between the modules of a package.

    Imports inside functions and for type checking count too. The `__init__.py` of a package counts
    only if one of its names is imported, not for a module inside it.

    :param package: folder of the package
    """
    paths = {_name(path, package): path for path in sorted(package.rglob('*.py'))}
    return {
        name: {module for each in _read_imports(path) if (module := _module(each, paths))} - {name}
        for name, path in paths.items()
    }


def inside(graph: Graph, package: str) -> dict[str, set[str]]:
    """Return the part of a graph inside a package."""
    start = f'{package}.'
    return {
        name: {other for other in others if other.startswith(start)}
        for name, others in graph.items()
        if name.startswith(start)
    }


def between_rooms(graph: Graph, package: str) -> dict[str, set[str]]:
    """Return the imports between the rooms of a package, which are its folders and files."""
    room = room_of(package)
    rooms: dict[str, set[str]] = {}
    for name, others in inside(graph, package).items():
        rooms.setdefault(room(name), set()).update(room(other) for other in others)
    return {name: others - {name} for name, others in rooms.items()}


def room_of(package: str) -> Callable[[str], str]:
    """Return a function that returns the room of a module."""
    depth = package.count('.') + 1
    return lambda name: name.split('.')[depth]


def circles(graph: Graph) -> list[list[str]]:
    """Return each set of modules that import one another, directly or indirectly."""
    reached = {name: _follow(graph, name) for name in graph}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in graph
        if name in reached[name]
    }
    return [list(group) for group in sorted(groups)]


def arrows(graph: Graph) -> int:
    """Return the number of imports in a graph."""
    return sum(len(others) for others in graph.values())


def upward(graph: Graph, package: str, order: Iterable[str]) -> list[tuple[str, str]]:
    """Return the imports of modules from higher rooms.

    :param order: rooms of the package, bottom first; others are ignored
    """
    height = {name: number for number, name in enumerate(order)}
    room = room_of(package)
    return [
        (name, other)
        for name, others in sorted(inside(graph, package).items())
        for other in sorted(others)
        if height.get(room(name), len(height)) < height.get(room(other), -1)
    ]


@cache
def parse_file(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding='utf-8'), str(path))


def _name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def _read_imports(path: Path) -> Iterable[str]:
    for node in ast.walk(parse_file(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (f'{node.module}.{alias.name}' for alias in node.names)


def _module(name: str, paths: Mapping[str, Path]) -> str | None:
    """Return the module of an imported name: itself, or the module that defines it."""
    return next((each for each in (name, name.rpartition('.')[0]) if each in paths), None)


def _follow(graph: Graph, name: str) -> set[str]:
    modules: set[str] = set()
    new = set(graph[name])
    while new:
        modules |= new
        new = {other for each in new for other in graph[each]} - modules
    return modules
