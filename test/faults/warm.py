# SPDX-License-Identifier: Apache-2.0
"""Imports and parsers that commands make at their first use, so that no case pays for them."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import warnings
from pathlib import Path

from faults.kinds import CALLS

from robodyn_ros.cli import main as cli

COMMANDS = (
    'check table.csv', 'check packed.npz', 'check packed.mat', 'check sqlite3', 'check zstd.mcap',
    'check lz4.mcap', 'check big', 'collisions event',
    'bodywise bodies.csv', 'friction passes.npz --joints a,b', 'delay delay',
    'advise motion_sine.yaml --urdf arm.urdf', 'report page',
    'collisions healthy0.npz --thresholds thresholds.yaml --model healthy.yaml',
    'topics mcap', 'motion motion_sine.yaml --urdf meshed.urdf',
)  # fmt: skip


def warm(corpus: Path) -> None:
    """Run a command of each library on the valid files; keep the parser of each command."""
    cli.build_parser = functools.cache(cli.build_parser)
    cli.build_parser()
    warnings.simplefilter('ignore')
    here = Path.cwd()
    os.chdir(corpus)
    try:
        for words in map(str.split, COMMANDS):
            with contextlib.redirect_stdout(io.StringIO()) as output:
                if words[0] in CALLS:
                    CALLS[words[0]](words[1])
                else:
                    assert cli.main(words) in (0, 1), (words, output.getvalue())
    finally:
        os.chdir(here)
