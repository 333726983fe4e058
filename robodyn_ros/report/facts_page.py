# SPDX-License-Identifier: Apache-2.0
"""One page for a browser about the facts of a command: figures, findings, pictures, tables."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from robodyn_ros.findings import Finding
from robodyn_ros.output_files import plain
from robodyn_ros.report.frame import render_page
from robodyn_ros.report.numbers import short
from robodyn_ros.report.repeat import versions


def facts_page(
    title: str,
    facts: Mapping[str, Any],
    text: str,
    *,
    good: bool | None = None,
    command: str = '',
    sentence: str = '',
) -> str:
    """Return the page: single values as figures, lists and mappings as tables, PNG as images.

    :param facts: output of `--json`; `findings` are shown with their remedies, `files` that are
        PNG as pictures
    :param good: verdict; None: the command gives none
    """
    shown = {key: plain(value) for key, value in facts.items() if key not in _SPECIAL}
    shown = {key: value for key, value in shown.items() if value != ''}
    return render_page(
        'facts.html.jinja',
        title=title,
        sentence=sentence,
        command_name=' '.join(command.split()[:2]) or 'robodyn',
        good=good,
        figures=[
            (_name(key), _with_unit(key, each)) for key, each in shown.items() if _short(each)
        ],
        notes=[(_name(key), each) for key, each in shown.items() if _sentence(each)],
        findings=[each for each in facts.get('findings', ()) if isinstance(each, Finding)],
        pictures=list(_pictures(facts.get('files', {}))),
        tables=[_table(key, each) for key, each in shown.items() if not _single(each) and each],
        text=text,
        command=command,
        versions=versions(),
    )


_SPECIAL = ('files', 'findings')
NAMES = {'joints': 'Joints: shares of the limits used'}
"""Titles of tables of motions, in place of their keys."""
UNITS = {'duration': 's', 'seconds': 's', 'time': 's', 'smallest_distance': 'm'}
"""Units of single values."""


def _single(value: Any) -> bool:
    return not isinstance(value, list | Mapping)


def _sentence(value: Any) -> bool:
    return isinstance(value, str) and len(value.split()) > 3


def _short(value: Any) -> bool:
    return _single(value) and not _sentence(value)


def _table(name: str, value: Any) -> dict[str, Any]:
    """Return a list or a mapping as rows of text; a list of mappings has their keys as header."""
    if isinstance(value, Mapping):
        value = [
            {'': key, **(each if isinstance(each, Mapping) else {'value': _with_unit(key, each)})}
            for key, each in value.items()
        ]
    rows = [each if isinstance(each, Mapping) else {'': each} for each in value]
    header = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[_cell(row.get(key)) for key in header] for row in rows]
    title = NAMES[name] if name in NAMES and 'velocity' in header else _name(name)
    return {'name': title, 'header': [_name(key) for key in header], 'rows': cells}


def _cell(value: Any, most: int = 12) -> str:
    """Return a value as text; of a long list only the start."""
    if value is None or isinstance(value, bool):
        return {None: '-', True: 'yes', False: 'no'}[value]
    if isinstance(value, float):
        return short(value, 5)
    if isinstance(value, Mapping):
        return ', '.join(f'{_name(key)} {_cell(each)}' for key, each in value.items())
    if isinstance(value, list):
        shown = [_cell(each) for each in value[:most]]
        return ', '.join([*shown, f'and {len(value) - most} more'] if value[most:] else shown)
    return str(value)


def _with_unit(key: str, value: Any) -> str:
    unit = UNITS.get(key, '') if isinstance(value, int | float) else ''
    return f'{_cell(value)} {unit}'.rstrip()


def _name(key: str) -> str:
    return key.replace('_', ' ')


def _pictures(files: Mapping[str, str]) -> Iterator[dict[str, str]]:
    for path in files.values():
        if str(path).endswith('.png'):
            content = base64.b64encode(Path(path).read_bytes()).decode('ascii')
            yield {'name': _name(Path(path).stem), 'uri': f'data:image/png;base64,{content}'}
