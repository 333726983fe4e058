# SPDX-License-Identifier: Apache-2.0
"""Output of the sub-commands: text or JSON, progress bar, exit codes."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from tqdm import tqdm

from robodyn_ros.errors import ConfigError, clip, printable
from robodyn_ros.identification.files.result_folder import MODEL
from robodyn_ros.long_work import show_progress
from robodyn_ros.output_files import is_folder, json_text, unusable

EXIT_NEGATIVE, EXIT_ERROR, EXIT_INTERRUPTED = 1, 2, 130
"""Exit codes beside 0: the answer is negative, the command failed, Ctrl-C ended it."""


def add_json(parser: Any) -> None:
    """Add `--json`."""
    parser.add_argument('--json', action='store_true', help='print one JSON object')


class OutFolder(str):
    """Folder of `--out`, to which only one command writes at a time."""

    __slots__ = ()


def out_folder(text: str) -> OutFolder:
    """Check the folder of `--out` before all the work; type of an argument."""
    if os.path.lexists(text) and not is_folder(text):
        raise argparse.ArgumentTypeError(f'{text} is a file, expected a folder')
    return OutFolder(_usable(text))


def out_file(text: str) -> str:
    """Check the file of `--out` before all the work; type of an argument."""
    if is_folder(text):
        raise argparse.ArgumentTypeError(f'{text} is a folder, expected a file')
    return _usable(text)


def result_file(text: str) -> str:
    """Return the result file, also of a folder that has one; type of an argument."""
    if not is_folder(text):
        return text
    file = Path(text) / MODEL
    if not file.is_file():
        raise argparse.ArgumentTypeError(f'{text} is a folder without {MODEL}')
    return str(file)


def _usable(text: str) -> str:
    if problem := unusable(text):
        raise argparse.ArgumentTypeError(f'{text} cannot be written: {problem}')
    return text


def show(arguments: argparse.Namespace, facts: object, text: str) -> None:
    """Print the facts as JSON where --json is given, else the text."""
    print(json_text(facts) if arguments.json else text)


class _EscapedStream:
    """Output stream that shows names from files without control and format characters.

    :ivar stream: stream to write to
    """

    def __init__(self, stream: Any, *, needed: bool) -> None:
        """Wrap a stream; errors of one that is not needed are ignored."""
        self.stream, self._needed = stream, needed

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write a text; the encoding of the stream may lack some of its characters."""
        coding = getattr(self.stream, 'encoding', None) or 'utf-8'
        shown = printable(text, '\n\t').encode(coding, 'backslashreplace').decode(coding)
        self._try(lambda: self.stream.write(shown))
        return len(text)

    def flush(self) -> None:
        """Write what is buffered."""
        self._try(self.stream.flush)

    def _try(self, step: Callable[[], object]) -> None:
        try:
            step()
        except OSError as reason:  # Python would write the buffered part again at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())
            if isinstance(reason, BrokenPipeError):  # `| head` has read enough
                raise
            if self._needed:
                raise ConfigError(f'the output cannot be written: {reason.strerror}') from reason


@contextmanager
def escape_output() -> Iterator[None]:
    """Print only what a terminal shows as it is; flush stdout at the end.

    :raises ConfigError: stdout cannot be written; `BrokenPipeError` if its reader has gone
    """
    out, err = _EscapedStream(sys.stdout, needed=True), _EscapedStream(sys.stderr, needed=False)
    with redirect_stdout(out), redirect_stderr(err):
        try:
            yield
        finally:
            out.flush()


@contextmanager
def progress_bar(period: float = 0.1) -> Iterator[None]:
    """Show phase, share and remaining time of the work inside, on a terminal only.

    :param period: shortest time before the bar appears, and between its changes, in [s]; the next
        phase is shown after a fifth of it
    """
    if not sys.stderr.isatty():
        yield
        return
    begun = shown = time.monotonic()
    before, last = 0.0, ''

    def show(phase: str, share: float) -> None:
        nonlocal begun, shown, before, last
        now = time.monotonic()
        if share < before:  # the next phase: its remaining time is estimated anew
            begun = now
        before = share
        if now - shown >= (0.2 * period if last not in ('', phase) else period):
            shown, last = now, phase
            text = clip(phase)[-60:]  # names of files
            _write(tqdm.format_meter(
                min(share, 1.0), 1.0, now - begun, prefix=f'{text:<28}', ncols=columns,
                bar_format='{desc} {percentage:3.0f}% |{bar}| {remaining} left',
            ))  # fmt: skip

    columns = max(shutil.get_terminal_size().columns, 40) - 1
    try:
        with show_progress(show):
            yield
    finally:
        _write('')  # what is printed next begins at an empty line


def _write(line: str) -> None:
    terminal = getattr(sys.stderr, 'stream', sys.stderr)
    print(f'\r{line}\x1b[K', end='', file=terminal, flush=True)
