# SPDX-License-Identifier: Apache-2.0
"""The rooms of docs/architecture.md, held against the imports and folders of the tree.

Numbers and names of `*_TODAY` are what does not hold yet. They must be lowered with every step
that makes them smaller, until the rule holds without them.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tools.house import OF_IDENTIFICATION, PACKAGE, files_side_by_side, option_declarations
from tools.imports import (
    FLOW,
    IDENTIFICATION,
    Graph,
    arrows,
    between_rooms,
    circles,
    import_graph,
    parse_file,
    upward,
)

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / PACKAGE).rglob('*.py'))
ROS = {
    'rclpy', 'sensor_msgs', 'std_msgs', 'std_srvs', 'trajectory_msgs', 'diagnostic_msgs',
    'lifecycle_msgs', 'rcl_interfaces', 'builtin_interfaces', 'action_msgs', 'launch',
}  # fmt: skip

MOST_FILES = 15
"""Files side by side in a folder."""

FILES_TODAY: dict[str, int] = {}
"""Folders with more files."""

ImportNode = ast.Import | ast.ImportFrom


@pytest.fixture(scope='module')
def graph() -> Graph:
    """Imports between the modules; every process collects this file, but only one needs them."""
    return import_graph(ROOT / PACKAGE)


@pytest.fixture(scope='module')
def import_nodes() -> list[tuple[Path, ImportNode]]:
    """Every import of the sources, with its file."""
    nodes = ((path, node) for path in SOURCES for node in ast.walk(parse_file(path)))
    return [(path, node) for path, node in nodes if isinstance(node, ImportNode)]


def folders() -> dict[str, int]:
    """Number of files of each folder of sources, tests and settings."""
    return {
        folder.relative_to(ROOT).as_posix(): count
        for room in (PACKAGE, 'test', 'config')
        for folder, count in files_side_by_side(ROOT / room).items()
    }


def test_no_folder_is_crowded() -> None:
    crowded = {name: count for name, count in folders().items() if count > MOST_FILES}
    assert crowded == FILES_TODAY


def test_no_circle_of_imports(graph: Graph) -> None:
    assert circles(graph) == []


def test_every_room_has_a_place_in_the_order(graph: Graph) -> None:
    assert set(between_rooms(graph, PACKAGE)) == set(FLOW)
    assert set(between_rooms(graph, OF_IDENTIFICATION)) == set(IDENTIFICATION)


def test_no_room_imports_from_a_room_above(graph: Graph) -> None:
    assert upward(graph, PACKAGE, FLOW) == []


def test_no_room_of_identification_imports_from_a_room_above(graph: Graph) -> None:
    assert upward(graph, OF_IDENTIFICATION, IDENTIFICATION) == []


def test_imports_between_rooms_of_identification_are_few(graph: Graph) -> None:
    assert arrows(between_rooms(graph, OF_IDENTIFICATION)) <= 60


def test_the_simulated_cell_shares_no_dynamics_with_what_it_tests(graph: Graph) -> None:
    assert between_rooms(graph, PACKAGE)['cell'] <= {
        'bounds',
        'excitation',
        'errors',
        'yaml_file',
        'robot_file',
        'schema',
    }


def test_options_of_an_identification_are_declared_once() -> None:
    found = option_declarations(ROOT / PACKAGE)
    assert len(found) == 1, found


def test_no_import_is_relative(import_nodes: list[tuple[Path, ImportNode]]) -> None:
    relative = [
        f'{path}:{node.lineno}'
        for path, node in import_nodes
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not relative


def imported(node: ImportNode) -> set[str]:
    """Names that an import brings in, with their module."""
    module = f'{node.module}.' if isinstance(node, ast.ImportFrom) else ''
    return {f'{module}{alias.name}' for alias in node.names}


def test_only_nodes_and_cli_know_ros(import_nodes: list[tuple[Path, ImportNode]]) -> None:
    generated = {f'{PACKAGE}.{kind}' for kind in ('msg', 'srv', 'action')}
    ros = {
        (str(path), name)
        for path, node in import_nodes
        for name in imported(node)
        if name.split('.')[0] in ROS or '.'.join(name.split('.')[:2]) in generated
        if path.relative_to(ROOT / PACKAGE).parts[0] not in ('nodes', 'cli')
    }
    assert not ros


@pytest.mark.parametrize('module', [PACKAGE, f'{PACKAGE}.cli.main'])
def test_the_core_runs_where_ros_is_missing(module: str) -> None:
    """The pip-installed command must work without ROS: importing it pulls in no rclpy."""
    code = (
        'import sys\n'
        'class Missing:\n'
        '    def find_spec(self, name, path=None, target=None):\n'
        f'        if name.split(".")[0] in {sorted(ROS)!r}: raise ImportError(name)\n'
        'sys.meta_path.insert(0, Missing())\n'
        f'import {module} as module\n'
        'getattr(module, "build_parser", lambda: None)()\n'
        'for name in getattr(module, "__all__", ()): getattr(module, name)\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
