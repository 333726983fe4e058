"""Progress bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

Show = Callable[[str, float], None]
"""Function that shows the present step and the completed share."""


@contextmanager
def progress_bar(width: int, start: str = '') -> Iterator[Show | None]:
    """Show a progress bar on a terminal; yield None elsewhere.

    :param width: characters of the text before the bar, which names the present step
    :param start: first text
    """
    if not sys.stderr.isatty():
        yield None
        return
    bar_format = f'{{desc:<{width}}} {{percentage:3.0f}}% |{{bar}}|'
    with tqdm(total=1.0, desc=start, bar_format=bar_format, leave=False) as bar:

        def show(text: str, share: float) -> None:
            bar.set_description_str(text, refresh=False)
            bar.n = share
            bar.refresh()

        yield show
