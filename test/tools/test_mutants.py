# SPDX-License-Identifier: Apache-2.0
"""Tests of a toy package kill the mutants of one function and overlook those of another."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools import mutants
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
