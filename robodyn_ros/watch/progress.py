# SPDX-License-Identifier: Apache-2.0
"""Progress of the action that runs at present."""

from __future__ import annotations

import math
from collections.abc import Callable

from robodyn_ros.errors import clip
from robodyn_ros.watch.source import DataAge

STALE_AFTER = 2.0
"""Time without feedback after which another action is shown, in [s]."""


class Progress:
    """Last feedback. An action that contains another one has priority while it reports."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._source = DataAge(STALE_AFTER, clock)
        self._task, self._facts = '', {'phase': '', 'share': 0.0, 'text': ''}

    def take(self, task: str, phase: str, share: float, text: str) -> None:
        """Take feedback.

        :param task: name of the action; 'identification' contains all others
        """
        if self._task == 'identification' != task and self._source.fresh:
            return
        self._source.note_data()
        self._task = task
        share = min(1.0, max(0.0, share)) if math.isfinite(share) else 0.0
        self._facts = {'phase': clip(phase), 'share': round(share, 3), 'text': clip(text)}

    def facts(self) -> dict[str, object]:
        """Return the progress for the page."""
        return {'task': self._task, **self._facts, **self._source.facts()}
