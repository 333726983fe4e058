# SPDX-License-Identifier: Apache-2.0
"""Names that the check refuses, and the list of rooms that are not done yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.names import find_shared_names, problems, wrong_names


@pytest.mark.parametrize(
    ('text', 'name'),
    [
        ('def _checked(): pass', '_checked'),
        ('async def told_all(): pass', 'told_all'),
        ('class OwnFit: pass', 'OwnFit'),
        ('def fit(whole): pass', 'whole'),
        ('for own_row in rows: pass', 'own_row'),
        ('self.found = 1', 'found'),
        ('@property\ndef measured(self): pass', ''),
        ('def feed(): pass\ndef rated_torque(): pass\nfounder = owner = feeding', ''),
    ],
)
def test_participles_of_functions_and_empty_words_are_refused(text: str, name: str) -> None:
    assert [each for _, each, _ in wrong_names(text)] == [name] * bool(name)


def test_each_file_with_a_wrong_name_is_named(tmp_path: Path) -> None:
    (tmp_path / 'room').mkdir()
    (tmp_path / 'room' / 'a.py').write_text('own = 1')
    (tmp_path / 'b.py').write_text('value = 1')
    assert problems(tmp_path) == [f'{tmp_path}/room/a.py:1: own: "own" does not say what it is']


def test_a_class_name_has_one_meaning(tmp_path: Path) -> None:
    for name, text in {'a': 'class Run: pass\nclass Task: pass', 'b': 'class Run: pass'}.items():
        (tmp_path / f'{name}.py').write_text(text)
    assert find_shared_names(tmp_path, ('Task',)) == [
        f'class Run is in {tmp_path}/a.py and {tmp_path}/b.py: rename one',
        'tools/names.py: Task is one class: remove it from TWICE',
    ]
    assert find_shared_names(tmp_path, ('Run',)) == []
