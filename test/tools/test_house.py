# SPDX-License-Identifier: Apache-2.0
"""Figures of small trees are counted by hand; any checkout can be measured."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tools import house
from tools.common import ROOT

OPTIONS = """
CUTOFF = 2.0
class Options:
    loss: str = ''
    prior: str = ''
    distance: str = ''
"""
FLAGS = """
import robodyn_ros.identification.options
def parse(add):
    add('--loss')

    add('--prior', default='x')
"""
FILES = {
    'robodyn_ros/__init__.py': '',
    'robodyn_ros/cli.py': FLAGS,
    'robodyn_ros/identification/__init__.py': '',
    'robodyn_ros/identification/options.py': OPTIONS,
    'robodyn_ros/identification/fit.py': 'import robodyn_ros.cli\nSIZES = (1, 2)\n',
    'test/test_one.py': 'assert True\n',
    'config/a.yaml': '',
    'config/b.yaml': '',
    'config/robots/c.yaml': '',
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_figures_of_a_small_tree(checkout: Path) -> None:
    found = house.figures(checkout)
    assert found['most files side by side, robodyn_ros'] == '2'
    assert found['most files side by side, config'] == '2'
    assert found['YAML files in config'] == '3'
    assert found['source lines (robodyn_ros)'] == '14'
    assert found['lines of tests'] == '1'
    assert found['median / largest file (lines)'] == '6 / 6'
    assert found['median / largest function (lines)'] == '4 / 4'
    assert found['import circles: files / rooms'] == '0 / 1'
    assert found['imports from a room above'] == '1'
    assert found['identification: imports between files'] == '0'
    assert found['numeric constants, all / identification'] == '2 / 2'
    assert found['files that declare the options of identification'] == '2'


def test_only_numbers_of_modules_are_numeric_constants() -> None:
    text = (
        'A = -1\nB: float = 2 * 3.0\n_C = (1, 2)\nD = "1"\nE = (1, "x")\nF = ()\ng = 4\nH = True\n'
        'def f():\n    I = 5\n'
    )
    assert [*house.numeric_constants(ast.parse(text))] == ['A', 'B', '_C']


def test_caches_are_not_folders(checkout: Path) -> None:
    (checkout / 'config' / '__pycache__').mkdir()
    assert {path.name: count for path, count in house.files_side_by_side(checkout).items()} == {
        checkout.name: 0, 'robodyn_ros': 1, 'identification': 2, 'test': 1, 'config': 2,
        'robots': 1,
    }  # fmt: skip


def test_the_file_runs_alone_and_compares_checkouts(checkout: Path) -> None:
    done = subprocess.run(
        [sys.executable, '-I', str(ROOT / 'tools' / 'house.py'), str(checkout), str(checkout)],
        capture_output=True, text=True, check=True, cwd='/', timeout=60,
    )  # fmt: skip
    lines = [[cell.strip() for cell in line.split('|')[1:-1]] for line in done.stdout.splitlines()]
    assert lines[0] == ['', str(checkout), str(checkout)]
    assert ['YAML files in config', '3', '3'] in lines


def test_a_folder_without_the_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match='is no checkout: it has no folder robodyn_ros'):
        house.table([tmp_path])
