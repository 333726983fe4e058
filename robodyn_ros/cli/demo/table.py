# SPDX-License-Identifier: Apache-2.0
"""Table of the demonstration: figures and their limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """Measured figure and its limit."""

    name: str
    value: float
    limit: float
    unit: str
    at_least: bool = False

    @property
    def reached(self) -> bool:
        """Return True if the limit holds; False for NaN."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def render(figures: Sequence[Figure]) -> str:
    """Return the figures as a text table."""
    width = max(len(figure.name) for figure in figures)
    lines = [f'{"figure":<{width}}  {"measured":>12}  {"required":>14}']
    lines.append('-' * len(lines[0]))
    for figure in figures:
        sign = '>=' if figure.at_least else '<='
        lines.append(
            f'{figure.name:<{width}}  {figure.value:>8.2f} {figure.unit:<3}  '
            f'{sign} {figure.limit:>6.2f} {figure.unit:<3}  '
            f'{"reached" if figure.reached else "MISSED"}'
        )
    return '\n'.join(lines)
