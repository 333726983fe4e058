"""Tests of a toy package kill the mutants of one function and overlook those of another."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tools import mutants
from tools.common import Problem

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
FILES = {
    'robodyn_ros/__init__.py': '',
    'robodyn_ros/room/__init__.py': '',
    'robodyn_ros/room/limits.py': SOURCE,
    'test/room/test_limits.py': TEST,
    'test/room/test_user.py': 'import robodyn_ros.room.limits\n\ndef test_nothing():\n    pass\n',
    'test/room/test_other.py': '\ndef test_other():\n    pass\n',
}
LIMITS = Path('robodyn_ros/room/limits.py')


class Change:
    """What `mutants` needs of a mutant, without cosmic-ray."""

    def __init__(self, before: str, after: str) -> None:
        assert before in SOURCE
        self.path, self.line, self.text = LIMITS, 0, SOURCE.replace(before, after)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in mutants.LINKED:
        (tmp_path / name).mkdir()
    return tmp_path


def test_only_what_no_test_notices_survives(checkout: Path) -> None:
    noticed = Change('value < limit', 'value >= limit')
    endless = Change('return value\n', 'while True: pass\n')
    weak = Change('value + 1', 'value - 1')
    alive = mutants.survivors(checkout, [noticed, endless, weak], Path(sys.executable))
    assert alive == [weak]
    assert (checkout / LIMITS).read_text() == SOURCE


def test_tests_that_fail_unchanged_measure_nothing(checkout: Path) -> None:
    (checkout / 'test/room/test_limits.py').write_text('def test_fails():\n    assert False\n')
    with pytest.raises(Problem, match=r'limits\.py fail or do not exist: test/room/test_limits'):
        mutants.survivors(checkout, [Change('value + 1', 'value')], Path(sys.executable))


def test_mirror_comes_first_then_importing_tests_then_the_folder(checkout: Path) -> None:
    room = Path('test/room')
    assert mutants.tests_of(checkout, LIMITS) == [room / 'test_limits.py', room / 'test_user.py']
    (checkout / 'robodyn_ros/room/lonely.py').write_text('')
    assert len(mutants.tests_of(checkout, Path('robodyn_ros/room/lonely.py'))) == 3


def cosmic_ray_python() -> Path:
    if importlib.util.find_spec('cosmic_ray'):
        return Path(sys.executable)
    return mutants.ENVIRONMENT / 'bin' / 'python3'


@pytest.mark.skipif(
    not cosmic_ray_python().exists(), reason='cosmic-ray is installed by tools/mutants.py'
)
def test_all_mutants_of_a_file(checkout: Path) -> None:
    script = (
        'import sys; from pathlib import Path; from tools.mutation import mutants;'
        'root = Path(sys.argv[1]); source = root / sys.argv[2];'
        '[print(each.line, each.before, each.after, sep="|")'
        ' for each in mutants(root, [source], 99, 1)]'
    )
    done = subprocess.run(
        [str(cosmic_ray_python()), '-c', script, str(checkout), str(LIMITS)],
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
