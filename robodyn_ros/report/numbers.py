# SPDX-License-Identifier: Apache-2.0
"""Numbers in a page: packed arrays, thinned curves, short text."""

from __future__ import annotations

import base64
import math

import numpy as np

from robodyn_ros.models.interface import Array


def encode_numbers(values: Array) -> str:
    """Return numbers as base64 of little-endian 32-bit floats: half the size of their digits."""
    return base64.b64encode(np.ascontiguousarray(values, dtype='<f4').tobytes()).decode('ascii')


def extremes(values: Array, buckets: int) -> Array:
    """Return the smallest and largest value of each bucket in their order, shape (2 buckets, k).

    No peak is lost, whatever the length. Short signals are returned as they are.

    :param values: shape (N, k)
    """
    size = -(-len(values) // buckets)
    if size <= 2:
        return values
    count = -(-len(values) // size)
    padded = np.concatenate([values, np.repeat(values[-1:], count * size - len(values), axis=0)])
    blocks = padded.reshape(count, size, -1)
    low, high = blocks.argmin(axis=1), blocks.argmax(axis=1)
    both = np.stack([np.minimum(low, high), np.maximum(low, high)], axis=1)
    return np.take_along_axis(blocks, both, axis=1).reshape(2 * count, -1)


def times(time: Array, buckets: int) -> Array:
    """Return the times of what `extremes` returns: at a quarter and three quarters of a bucket.

    :param time: shape (N,), in [s]
    """
    size = -(-len(time) // buckets)
    if size <= 2:
        return time
    count = -(-len(time) // size)
    places = (np.arange(2 * count) + 0.5) * size / 2.0
    return np.asarray(np.interp(places, np.arange(len(time)), time))


def choose_evenly(count: int, most: int) -> Array:
    """Return evenly chosen indices of at most `most` of `count` samples."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))


def short(value: object, digits: int = 4) -> str:
    """Return a number as a person writes it; '-' where there is none."""
    if not isinstance(value, int | float | np.floating) or not math.isfinite(value):
        return '-'
    return f'{value:.{digits}g}'


def share(value: object) -> str:
    """Return a share in percent; '-' where there is none."""
    if not isinstance(value, int | float | np.floating) or not math.isfinite(value):
        return '-'
    return f'{100.0 * value:.3g} %'
