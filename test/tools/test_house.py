# SPDX-License-Identifier: Apache-2.0
"""Figures of small trees are counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import house

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
    'src/law.cpp': 'int main();\n',
    'docs/a.md': 'two words\n',
    'CHANGELOG.md': 'one\n',
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
    assert found['C++ lines (src, include)'] == '1'
    assert found['lines of tests'] == '1'
    assert found['words of documentation and changelog'] == '3'
    assert found['median / largest file (lines)'] == '6 / 6'
    assert found['median / largest function (lines)'] == '4 / 4'
    assert found['import circles: files / rooms'] == '0 / 1'
    assert found['imports from a room above'] == '1'
    assert found['numeric constants, all / identification'] == '2 / 2'
    assert found['files that declare the options of identification'] == '2'
