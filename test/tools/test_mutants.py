# SPDX-License-Identifier: Apache-2.0
"""Tests of a toy package kill the mutants of one function and overlook those of another."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tools import mutants
from tools.common import Problem
from tools.mutant_tests import Executed

SOURCE = """
def limited(value, limit):
    if value < limit:
        return value
    return limit

def unseen(value):
    return value + 1
"""
TEST = """
from robodyn_ros.room.limits import limited

def test_limited():
    assert limited(1, 2) == 1
    assert limited(3, 2) == 2
"""
LIMITS = Path('robodyn_ros/room/limits.py')
MIRROR = 'test/room/test_limits.py'
FILES = {
    'robodyn_ros/__init__.py': '',
    'robodyn_ros/room/__init__.py': '',
    str(LIMITS): SOURCE,
    MIRROR: TEST,
    'tools/__init__.py': '',
    'tools/executed_lines.py': (mutants.ROOT / 'tools/executed_lines.py').read_text(),
}
EXECUTED = Executed(
    {str(LIMITS): {str(line): [f'{MIRROR}::test_limited'] for line in (3, 4, 5)}}, {}
)


class Change:
    """What `mutants` needs of a mutant, without cosmic-ray."""

    def __init__(self, before: str, after: str) -> None:
        assert before in SOURCE
        self.path, self.text = LIMITS, SOURCE.replace(before, after)
        self.line = 1 + SOURCE[: SOURCE.index(before)].count('\n')


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in mutants.LINKED:
        (tmp_path / name).mkdir()
    return tmp_path


def test_only_what_no_test_notices_survives(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, 'PATIENCE', 1.5)
    noticed = Change('value < limit', 'value >= limit')
    endless = Change('return value\n', 'while True: pass\n')
    weak = Change('value < limit', 'value <= limit')
    unseen = Change('value + 1', 'value - 1')
    with mutants.scratches(checkout, Path(sys.executable)) as free:
        alive = mutants.survivors([noticed, endless, weak, unseen], EXECUTED, free, 1.0)
    assert alive == [weak, unseen]
    assert (checkout / LIMITS).read_text() == SOURCE


def tools_python() -> Path:
    if importlib.util.find_spec('cosmic_ray'):
        return Path(sys.executable)
    return mutants.ENVIRONMENT / 'bin' / 'python3'


with_tools = pytest.mark.skipif(
    not (tools_python().exists() and mutants.COVERAGE_FOLDER.exists()),
    reason='cosmic-ray and coverage are installed by tools/mutants.py',
)


@with_tools
def test_one_run_finds_the_tests_of_each_line(checkout: Path) -> None:
    with mutants.scratches(checkout, Path(sys.executable)) as free:
        found = free.get().executed('room', ['test/room'])
    lines = found.lines[str(LIMITS)]
    assert {line: lines[line] for line in '345'} == EXECUTED.lines[str(LIMITS)]
    assert lines['2'] == [''] and '8' not in lines
    assert found.seconds.keys() == {f'{MIRROR}::test_limited'}


@with_tools
def test_each_user_of_a_cached_value_executes_what_makes_it(checkout: Path) -> None:
    made = 'from functools import cache\n\n@cache\ndef made():\n    return 3\n'
    (checkout / 'robodyn_ros/room/made.py').write_text(made)
    uses = 'from robodyn_ros.room.made import made\n\ndef test_{}():\n    assert made()\n'
    for name in 'ab':
        (checkout / f'test/room/test_{name}.py').write_text(uses.format(name))
    with mutants.scratches(checkout, Path(sys.executable)) as free:
        found = free.get().executed('room', ['test/room'])
    users = [f'test/room/test_{name}.py::test_{name}' for name in 'ab']
    assert found.lines['robodyn_ros/room/made.py']['5'] == users


def test_tests_that_fail_unchanged_measure_nothing(checkout: Path) -> None:
    (checkout / MIRROR).write_text('def test_fails():\n    assert False\n')
    with (
        mutants.scratches(checkout, Path(sys.executable)) as free,
        pytest.raises(Problem, match=r'unchanged tests in test/room fail \(exit code 1\)'),
    ):
        free.get().executed('room', ['test/room'])


@with_tools
def test_all_mutants_of_a_file(checkout: Path) -> None:
    source = checkout / LIMITS
    source.write_text(
        f'{SOURCE}\npairs = zip(strict=True)\n\ndef named(*, x=None): pass\n'
    )  # guards
    script = (
        'import sys; from pathlib import Path; from tools.mutation import mutants;'
        'root = Path(sys.argv[1]); source = root / sys.argv[2];'
        '[print(each.line, each.before, each.after, sep="|")'
        ' for each in mutants(root, [source], 99, 1)]'
    )
    done = subprocess.run(
        [str(tools_python()), '-c', script, str(checkout), str(LIMITS)],
        capture_output=True, text=True, check=True, cwd=mutants.ROOT,
    )  # fmt: skip
    found = done.stdout.splitlines()
    assert sorted(found) == [
        '3|if value < limit:|if not value < limit:',
        '3|if value < limit:|if value <= limit:',
        '3|if value < limit:|if value >= limit:',
        '4|return value|pass',
        '5|return limit|pass',
        '8|return value + 1|pass',
        '8|return value + 1|return value + 0',
        '8|return value + 1|return value + 2',
        '8|return value + 1|return value - 1',
    ]
