"""Findings about data and results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal['info', 'warning', 'error']


@dataclass(frozen=True)
class Finding:
    """A fact that affects how far data or a result can be trusted.

    :param text: the observation
    :param remedy: advice to the user; empty: nothing has to be done
    """

    code: str
    text: str
    joint: str = ''
    severity: Severity = 'warning'
    remedy: str = ''

    @property
    def message(self) -> str:
        """Observation and remedy."""
        return f'{self.text} {self.remedy}'.rstrip()

    @property
    def line(self) -> str:
        """Severity, sentences and code, as printed."""
        return f'{self.severity}: {self.message} [{self.code}]'


def has_error(findings: Iterable[Finding]) -> bool:
    """Return True if a finding is an error."""
    return any(item.severity == 'error' for item in findings)
