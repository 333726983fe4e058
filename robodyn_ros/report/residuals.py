# SPDX-License-Identifier: Apache-2.0
"""Torque curves over time, and histogram and autocorrelation of the torque error."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn_ros.models.interface import Array, Joint
from robodyn_ros.report.numbers import encode_numbers, extremes, times
from robodyn_ros.report.source import ReportSignals

BINS = 41
"""Of a histogram, over four standard deviations to each side."""
LONGEST = 0.5
"""Largest lag of an autocorrelation, in [s]."""

SERIES = ('torque', 'predicted', 'error')
LINES = (('measured', 'measured', 4.0), ('model', 'model', 1.3), ('error', 'error', 1.3))
"""Name, colour and width of each curve."""
NUMBERS = 240_000
"""Of all curves together, which bounds the size of the page."""


def curves(signals: ReportSignals, joints: tuple[Joint, ...]) -> dict[str, Any]:
    """Return the curves for the page's script, thinned to the smallest and largest values."""
    buckets = max(50, min(4000, NUMBERS // (2 * len(SERIES) * len(joints))))
    thin = [extremes(getattr(signals, name), buckets) for name in SERIES]
    return {
        'time': encode_numbers(times(signals.time, buckets)),
        'joints': [
            {
                'name': joint.name,
                'unit': joint.torque_unit,
                'series': [encode_numbers(values[:, column]) for values in thin],
            }
            for column, joint in enumerate(joints)
        ],
        'samples': len(signals.time),
        'points': len(thin[0]),
        'lines': LINES,
    }


def residuals(signals: ReportSignals, joints: tuple[Joint, ...]) -> list[dict[str, Any]]:
    """Return histogram and autocorrelation of each joint."""
    period = float(np.median(np.diff(signals.time))) if len(signals.time) > 1 else 1.0
    lags = max(2, min(len(signals.time) // 4, int(LONGEST / period)))
    rows = []
    for joint, error in zip(joints, signals.error.T, strict=True):
        size = float(error.std())
        edges = np.linspace(-4.0, 4.0, BINS + 1) * (size or 1.0) + error.mean()
        counts, _ = np.histogram(np.clip(error, edges[0], edges[-1]), edges)
        rows.append(
            {
                'name': joint.name,
                'unit': joint.torque_unit,
                'mean': float(error.mean()),
                'std': size,
                'share': (counts / max(len(error), 1)).tolist(),
                'low': float(edges[0]),
                'high': float(edges[-1]),
                'correlation': autocorrelation(error, lags).tolist(),
                'lag': lags * period,
                'white': 1.96 / np.sqrt(len(error)),
            }
        )
    return rows


def autocorrelation(values: Array, lags: int) -> Array:
    """Return the autocorrelation at lags 0 to `lags`, shape (lags + 1,); 0 for a constant."""
    centred = values - values.mean()
    size = 1 << int(2 * len(values) - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(centred, size)) ** 2
    products = np.fft.irfft(spectrum, size)[: lags + 1]
    return products / products[0] if products[0] > 0.0 else np.zeros(lags + 1)
