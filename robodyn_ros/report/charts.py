# SPDX-License-Identifier: Apache-2.0
"""Coordinates of the drawings of a page: lines, bars and ticks inside a box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn_ros.report.numbers import short


@dataclass(frozen=True)
class Box:
    """Drawing of a small chart with its axes, in units of its SVG.

    :param low, high: smallest and largest number of each axis (x, y)
    """

    low: tuple[float, float]
    high: tuple[float, float]
    width: float = 340.0
    height: float = 170.0
    left: float = 46.0
    bottom: float = 30.0
    margin: float = 10.0

    def x(self, value: float) -> float:
        """Return the horizontal place of a number."""
        room = self.width - self.left - self.margin
        return round(self.left + room * _part(value, self.low[0], self.high[0]), 1)

    def y(self, value: float) -> float:
        """Return the vertical place of a number; SVG counts downwards."""
        room = self.height - self.bottom - self.margin
        return round(self.margin + room * (1.0 - _part(value, self.low[1], self.high[1])), 1)

    def line(self, x: Sequence[float], y: Sequence[float]) -> str:
        """Return the points of a polyline."""
        return ' '.join(f'{self.x(a)},{self.y(b)}' for a, b in zip(x, y, strict=True))

    def frame(self) -> dict[str, Any]:
        """Return places of axes, zero lines and ticks with their text."""
        return {
            'width': self.width,
            'height': self.height,
            'left': self.left,
            'right': self.width - self.margin,
            'top': self.margin,
            'bottom': self.height - self.bottom,
            'x': [{'at': self.x(v), 'text': short(v, 3)} for v in _ticks(self, 0)],
            'y': [{'at': self.y(v), 'text': short(v, 3)} for v in _ticks(self, 1)],
            'zero': self.y(0.0) if self.low[1] <= 0.0 <= self.high[1] else None,
            'middle': self.x(0.0) if self.low[0] <= 0.0 <= self.high[0] else None,
        }


def histogram(row: dict[str, Any]) -> dict[str, Any]:
    """Return the bars of a histogram of errors."""
    share = row['share']
    top = 108.0 * max([*share, 1e-9])
    box = Box((row['low'], 0.0), (row['high'], top), width=480.0)
    edges = np.linspace(row['low'], row['high'], len(share) + 1)
    bars = [
        {
            'x': box.x(float(a)),
            'width': round(max(box.x(float(b)) - box.x(float(a)) - 0.6, 0.5), 1),
            'y': box.y(100.0 * part),
            'height': round(box.y(0.0) - box.y(100.0 * part), 1),
        }
        for a, b, part in zip(edges[:-1], edges[1:], share, strict=True)
    ]
    return box.frame() | {'bars': bars}


def correlogram(row: dict[str, Any]) -> dict[str, Any]:
    """Return the line of an autocorrelation, and the band of white noise."""
    values = row['correlation']
    box = Box((0.0, min(-0.2, *values)), (row['lag'], 1.0), width=480.0)
    lags = np.linspace(0.0, row['lag'], len(values)).tolist()
    top, low = box.y(row['white']), box.y(-row['white'])
    return box.frame() | {'line': box.line(lags, values), 'band': (top, round(low - top, 1))}


def friction_chart(row: dict[str, Any]) -> dict[str, Any]:
    """Return the line of a friction law and its data points."""
    torques = [*row['torque'], *row['law']]
    low, high = min([*torques, 0.0]), max([*torques, 0.0])
    box = Box((min(row['grid']), low), (max(row['grid']), high))
    split = int(np.searchsorted(row['grid'], 0.0))
    lines = [
        box.line(row['grid'][part], row['law'][part])
        for part in (slice(None, split), slice(split, None))
    ]
    points = [
        (box.x(speed), box.y(torque))
        for speed, torque in zip(row['speed'], row['torque'], strict=True)
    ]
    return box.frame() | {'lines': [line for line in lines if line], 'points': points}


def _part(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 0.5


def _ticks(box: Box, axis: int) -> list[float]:
    """Return round numbers inside an axis, at least three."""
    low, high = box.low[axis], box.high[axis]
    if not high > low:
        return [low]
    power = 10.0 ** np.floor(np.log10(high - low))
    for step in power * np.array([5.0, 2.0, 1.0, 0.5, 0.2]):
        places = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
        if len(places) > 2:
            break
    return [float(round(value, 12)) + 0.0 for value in places]
