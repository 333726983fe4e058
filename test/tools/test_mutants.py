# SPDX-License-Identifier: Apache-2.0
"""Tests of a toy package kill the mutants of one function and overlook those of another."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools import mutants

SOURCE = """
def limited(value, limit):
    if value < limit:
        return value
    return limit

def unseen(value):
    return value + 1

def far(value):
    return 2 * value
"""
TEST = """
from robodyn_ros.room.limits import limited

def test_limited():
    assert limited(1, 2) == 1
    assert limited(3, 2) == 2
"""
OTHER = """
from robodyn_ros.room.limits import far

def test_far():
    assert far(3) == 6
"""
LIMITS = Path('robodyn_ros/room/limits.py')
FILES = {
    'robodyn_ros/__init__.py': '',
    'robodyn_ros/room/__init__.py': '',
    str(LIMITS): SOURCE,
    'test/room/test_limits.py': TEST,
    'test/room/test_user.py': OTHER,
}


class Change:
    """What `mutants` needs of a mutant, without cosmic-ray."""

    def __init__(self, before: str, after: str) -> None:
        assert before in SOURCE
        self.path, self.text = LIMITS, SOURCE.replace(before, after)
        self.line = 1 + SOURCE[: SOURCE.index(before)].count('\n')


def test_only_what_no_test_notices_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in mutants.LINKED:
        (tmp_path / name).mkdir()
    monkeypatch.setattr(mutants, 'TIMEOUT', 3.0)
    noticed = Change('value < limit', 'value >= limit')
    endless = Change('return value\n', 'while True: pass\n')
    elsewhere = Change('2 * value', '3 * value')
    weak = Change('value < limit', 'value <= limit')
    unseen = Change('value + 1', 'value - 1')
    with mutants.scratches(tmp_path, Path(sys.executable)) as free:
        alive = mutants.survivors([noticed, endless, elsewhere, weak, unseen], ['test/room'], free)
    assert alive == [weak, unseen]
    assert (tmp_path / LIMITS).read_text() == SOURCE
