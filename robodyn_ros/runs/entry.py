# SPDX-License-Identifier: Apache-2.0
"""Start of a program: Ctrl-C during its imports ends it without a traceback."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def prepare() -> None:
    """Open closed streams, and let signals end the process at once: for slow imports."""
    for number, name in enumerate(('stdin', 'stdout', 'stderr')):
        if getattr(sys, name) is None:  # closed (`2>&-`): the next file would take its place
            stream = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(stream, 'r' if number == 0 else 'w'))
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, _leave)


def robodyn() -> int:
    """Run the command `robodyn`."""
    prepare()
    return int(importlib.import_module('robodyn_ros.cli.main').main())


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGINT and SIGTERM end the work inside by exceptions, which clean up."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
        before[signal.SIGTERM] = signal.signal(signal.SIGTERM, _terminate)
    hook, sys.unraisablehook = sys.unraisablehook, _repeat
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _repeat(ignored: Any) -> None:
    """Repeat an interrupt that Python ignored, because it came in a callback of its collector."""
    numbers = {KeyboardInterrupt: signal.SIGINT, SystemExit: signal.SIGTERM}
    if number := numbers.get(ignored.exc_type):
        threading.Timer(0.01, signal.raise_signal, [number]).start()
    else:
        sys.__unraisablehook__(ignored)


def _terminate(number: int, _: Any) -> None:
    sys.exit(128 + number)


def _leave(number: int, _: Any) -> None:
    """End the process at once: before its work, or after it."""
    os.write(2, b'interrupted\n')
    os._exit(128 + number)
