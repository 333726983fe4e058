# SPDX-License-Identifier: Apache-2.0
"""Folders of the pictures, of the recordings and of what is made for them."""

from __future__ import annotations

import atexit
import os
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / 'docs' / 'pictures'
UR10 = Path(os.environ.get('ROBODYN_DATA', ROOT.parent / 'shared' / 'data')) / 'ur10'
"""Public recording of a robot."""


@cache
def _temporary() -> Path:
    made = tempfile.TemporaryDirectory(prefix='robodyn_pictures_')
    atexit.register(made.cleanup)
    return Path(made.name)


def folder(name: str) -> Path:
    """Return a folder for the files of a command; ROBODYN_PICTURE_FILES keeps them."""
    return Path(os.environ.get('ROBODYN_PICTURE_FILES', _temporary())) / name
