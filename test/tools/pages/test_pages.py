# SPDX-License-Identifier: Apache-2.0
"""Every page that is made from tables in the code is current."""

import importlib
from pathlib import Path

import pytest

from tools.pages import NAMES, path_and_text, row


def current(name):
    path, text = path_and_text(name)
    assert path.read_text(encoding='utf-8') == text, f'run: python -m tools.pages {name}'


OF_NODES = ('parameters', 'parameter_names')
"""Pages for which nodes are started."""


@pytest.mark.parametrize('name', [each for each in NAMES if each not in OF_NODES])
def test_the_page_is_current(name):
    current(name)


@pytest.mark.ros
@pytest.mark.parametrize('name', OF_NODES)
def test_a_page_of_nodes_is_current(name):
    current(name)


def test_every_module_of_a_page_is_made():
    here = Path(importlib.import_module('tools.pages').__file__).parent
    assert {path.stem for path in here.glob('[!_]*.py')} == set(NAMES)


def test_a_row_stays_one_row():
    assert row('a|b', 'two\nlines') == '| a\\|b | two lines |\n'
