"""The table at the end of the demonstration: every figure against its limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured figure and the limit it must keep."""

    name: str
    value: float
    limit: float
    unit: str
    at_least: bool = False

    @property
    def reached(self) -> bool:
        """Tell whether the limit holds; NaN never does."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def render(figures: Sequence[Figure]) -> str:
    """Lay the figures out as a text table."""
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
