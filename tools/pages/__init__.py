# SPDX-License-Identifier: Apache-2.0
"""Reference pages in docs/, and a file of the package, that are made from tables in the code.

`python -m tools.pages [NAME ...]` writes all, or those that are named. Each module has `PAGE`, the
path of the page in docs/, and `page()`, its text.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from tools.common import ROOT

NAMES = ('commands', 'faults', 'findings', 'formats', 'limits', 'messages', 'options',
         'parameter_names', 'parameters')  # fmt: skip


def path_and_text(name: str) -> tuple[Path, str]:
    """Return the path of a page and the text that it must have."""
    made = importlib.import_module(f'tools.pages.{name}')
    return ROOT / 'docs' / made.PAGE, made.page()


def row(*cells: str) -> str:
    """Return a row of a table; cells are one line each and cannot end a cell."""
    lines = (' '.join(cell.split()).replace('|', r'\|') for cell in cells)
    return f'| {" | ".join(lines)} |\n'
