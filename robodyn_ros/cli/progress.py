"""Progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

Show = Callable[[str, float], None]
"""Told what is done at present, and which share of all is done."""


@contextmanager
def progress_bar(width: int, begin: str = '') -> Iterator[Show | None]:
    """Progress bar on a terminal, nothing elsewhere.

    :param width: of the text before the bar, which says what is done at present
    :param begin: the text until then
    """
    if not sys.stderr.isatty():
        yield None
        return
    bar_format = f'{{desc:<{width}}} {{percentage:3.0f}}% |{{bar}}|'
    with tqdm(total=1.0, desc=begin, bar_format=bar_format, leave=False) as bar:

        def show(text: str, share: float) -> None:
            bar.set_description_str(text, refresh=False)
            bar.n = share
            bar.refresh()

        yield show
