"""Finding: what is said about data and results, everywhere in the same form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal['info', 'warning', 'error']


@dataclass(frozen=True)
class Finding:
    """A fact that says whether to trust the data or a result, and why not."""

    code: str
    text: str
    joint: str = ''
    severity: Severity = 'warning'

    @property
    def line(self) -> str:
        """As it is printed: severity, sentence, and the code to search for."""
        return f'{self.severity}: {self.text} [{self.code}]'
