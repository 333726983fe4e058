"""Findings about data and results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal['info', 'warning', 'error']


@dataclass(frozen=True)
class Finding:
    """A fact that affects how far data or a result can be trusted."""

    code: str
    text: str
    joint: str = ''
    severity: Severity = 'warning'

    @property
    def line(self) -> str:
        """Severity, sentence and code, as printed."""
        return f'{self.severity}: {self.text} [{self.code}]'
