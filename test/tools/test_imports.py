# SPDX-License-Identifier: Apache-2.0
"""Imports are read as Python would follow them; circles and upward arrows are found."""

from __future__ import annotations

from pathlib import Path

from tools import imports


def package(folder: Path, **files: str) -> Path:
    """Write a package `p`; a name like `low__a` stands for the file `low/a.py`."""
    for name, text in files.items():
        path = folder / 'p' / f'{name.replace("__", "/")}.py'
        for parent in (path.parent, folder / 'p'):
            parent.mkdir(parents=True, exist_ok=True)
            (parent / '__init__.py').touch()
        path.write_text(text)
    return folder / 'p'


def test_every_way_to_import_a_module_is_an_arrow(tmp_path: Path) -> None:
    graph = imports.import_graph(
        package(
            tmp_path,
            a='import p.low.b\nimport os\nfrom p.low import c\n',
            d='from p.low.b import thing\ndef f():\n    from p.low.c import other\n',
            e='from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import d\n',
            low__b='',
            low__c='from p.low import c\n',
        )
    )
    assert graph['p.a'] == {'p.low.b', 'p.low.c'}
    assert graph['p.d'] == {'p.low.b', 'p.low.c'}
    assert graph['p.e'] == {'p.d'}
    assert graph['p.low.c'] == set(), 'a module does not import itself'
    assert imports.arrows(graph) == 5


def test_a_name_of_a_package_itself_is_an_arrow_to_the_package(tmp_path: Path) -> None:
    graph = imports.import_graph(package(tmp_path, a='from p import __version__', low__b=''))
    assert graph['p.a'] == {'p'}


GRAPH = {
    'p.x.a': {'p.x.b'},
    'p.x.b': {'p.y.c'},
    'p.y.c': {'p.x.a', 'p.z'},
    'p.z': {'p.w'},
    'p.w': set(),
    'p.v': {'p.v.d'},
    'p.v.d': set(),
}


def test_a_circle_is_found_once_with_all_its_members() -> None:
    assert imports.circles(GRAPH) == [['p.x.a', 'p.x.b', 'p.y.c']]
    assert imports.circles({'a': {'b'}, 'b': {'c'}, 'c': set()}) == []


def test_rooms_are_folders_and_files_of_a_package() -> None:
    rooms = imports.between_rooms(GRAPH, 'p')
    assert rooms == {'x': {'y'}, 'y': {'x', 'z'}, 'z': {'w'}, 'w': set(), 'v': set()}


def test_upward_arrows_follow_the_given_order() -> None:
    assert imports.upward(GRAPH, 'p', ('w', 'z', 'y', 'x')) == [('p.y.c', 'p.x.a')]
    assert imports.upward(GRAPH, 'p', ('z', 'w')) == [('p.z', 'p.w')]
