"""Order of the rooms inside identification, held against the imports of the code."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / 'robodyn_ros' / 'identification'
ORDER = (
    ('options',),
    ('signals',),
    ('result',),
    ('factors',),
    ('fit',),
    ('physical',),
    ('friction', 'gears', 'payload'),
    ('diagnosis',),
    ('files',),
    ('known_torque', 'preparation', 'estimation', 'run', 'run_findings', 'pipeline'),
)
"""Rooms and single files from bottom to top; those of one row do not import each other, except
the steps of the pipeline in the last one."""
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
FILES = sorted(path for path in ROOT.rglob('*.py') if path.name != '__init__.py')


def imports(path):
    """Modules of identification that a file imports, also in functions, without the package."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.ImportFrom) and node.module:
            package, _, module = node.module.partition('robodyn_ros.identification.')
            if module and not package:
                found.add(module)
    return found


def module(path):
    return '.'.join(path.relative_to(ROOT).with_suffix('').parts)


@pytest.mark.parametrize('path', FILES, ids=module)
def test_a_file_imports_only_from_its_room_and_those_below(path):
    room = module(path).split('.')[0]
    for other in {name.split('.')[0] for name in imports(path)} - {room}:
        below = LEVEL[other] < LEVEL[room]
        assert below or LEVEL[room] == len(ORDER) - 1, f'{module(path)} imports from {other}'


def test_files_have_no_circle():
    graph = {module(path): imports(path) for path in FILES}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(FILES)
