# SPDX-License-Identifier: Apache-2.0
"""Output of the sub-commands: text or JSON, progress bar, exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from tqdm import tqdm

from robodyn_ros.output_files import is_folder, json_text, unusable

EXIT_NEGATIVE, EXIT_ERROR, EXIT_INTERRUPTED = 1, 2, 130
"""Exit codes beside 0: the answer is negative, the command failed, Ctrl-C ended it."""

Item = TypeVar('Item')
Show = Callable[[str, float], None]
"""Function that shows the present step and the completed share."""


def add_json(parser: Any) -> None:
    """Add `--json`."""
    parser.add_argument('--json', action='store_true', help='print one JSON object')


def out_folder(text: str) -> str:
    """Check the folder of `--out` before all the work; type of an argument."""
    if os.path.lexists(text) and not is_folder(text):
        raise argparse.ArgumentTypeError(f'{text} is a file, expected a folder')
    return _usable(text)


def out_file(text: str) -> str:
    """Check the file of `--out` before all the work; type of an argument."""
    if is_folder(text):
        raise argparse.ArgumentTypeError(f'{text} is a folder, expected a file')
    return _usable(text)


def _usable(text: str) -> str:
    if problem := unusable(text):
        raise argparse.ArgumentTypeError(f'{text} cannot be written: {problem}')
    return text


def show(arguments: argparse.Namespace, facts: object, text: str) -> None:
    """Print the facts as JSON where --json is given, else the text."""
    print(json_text(facts) if arguments.json else text)


@contextmanager
def progress_bar(width: int, start: str = '') -> Iterator[Show | None]:
    """Show step, share and remaining time on a terminal; yield None elsewhere.

    :param width: characters of the text before the bar, which names the present step
    :param start: first text
    """
    if not sys.stderr.isatty():
        yield None
        return
    bar_format = f'{{desc:<{width}}} {{percentage:3.0f}}% |{{bar}}| {{remaining}} left'
    with tqdm(total=1.0, desc=start, bar_format=bar_format, leave=False) as bar:

        def show(text: str, share: float) -> None:
            if share < bar.n:  # the next step: its remaining time is estimated anew
                bar.reset()
            bar.set_description_str(text, refresh=False)
            bar.n = share
            bar.refresh()

        yield show


def tracked(items: Sequence[Item]) -> Iterator[Item]:
    """Yield items; on a terminal, a bar shows the present one, and the share of those before."""
    with progress_bar(40) as bar:
        for number, item in enumerate(items):
            if bar is not None:
                bar(str(item)[-40:], number / len(items))
            yield item
