# SPDX-License-Identifier: Apache-2.0
"""Samples with NaN, infinite or absurdly large values, and findings about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.bounds import NUMBER
from robodyn_ros.findings import Finding, finding
from robodyn_ros.recording.storage import all_usable, blockwise, usable

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]

MISSING_SHARE = 0.1
"""Largest share of samples that may be left out; with more, the recording is not usable."""


def missing_values(
    time: Array, joints: tuple[str, ...], signals: Mapping[str, Array]
) -> tuple[Rows, tuple[Finding, ...]]:
    """Find samples that must be left out like a gap, with a finding for each joint.

    Its severity is 'error' if more than a tenth of the recording is left out.

    :param time: stamps, shape (N,), in [s]; they may be NaN and in any order
    :param signals: by name, shape (N, n) each
    :return: samples to leave out, shape (N,), and the findings `nan_samples`
    """
    rows = ~all_usable(time, *signals.values())
    if not rows.any():
        return rows, ()
    bad = {
        name: blockwise(lambda part: ~usable(part), values, dtype=bool)
        for name, values in signals.items()
    }
    return rows, tuple(_findings(time, joints, bad, ~usable(time), rows))


def longest_run(flags: Rows) -> tuple[int, int]:
    """Return length and first index of the longest run of True in flags (N,)."""
    edges = np.flatnonzero(np.diff(flags, prepend=False, append=False))
    if not len(edges):
        return 0, 0
    lengths = edges[1::2] - edges[::2]
    longest = int(np.argmax(lengths))
    return int(lengths[longest]), int(edges[2 * longest])


def _findings(
    time: Array, joints: tuple[str, ...], bad: Mapping[str, Rows], unstamped: Rows, rows: Rows
) -> Iterator[Finding]:
    many = bool(rows.mean() > MISSING_SHARE)
    count = int(rows.sum())
    if unstamped.any():
        yield finding(
            'nan_samples.stamp_many' if many else 'nan_samples.stamp',
            extent=_extent(unstamped, time),
            most=NUMBER.most,
            count=count,
            all=len(rows),
            limit=MISSING_SHARE,
        )
    for column, joint in enumerate(joints):
        names = [name for name, flags in bad.items() if flags[:, column].any()]
        if names:
            flags = np.any([bad[name][:, column] for name in names], axis=0)
            words = ' and '.join(name.replace('_', ' ') for name in names)
            yield finding(
                'nan_samples.many' if many else 'nan_samples',
                joint,
                signals=words,
                extent=_extent(flags, time),
                most=NUMBER.most,
                count=count,
                all=len(rows),
                limit=MISSING_SHARE,
            )


def _extent(flags: Rows, time: Array) -> str:
    """Describe the number of samples, and time and length of their longest block."""
    length, first = longest_run(flags)
    stamped = np.flatnonzero(usable(time))
    if len(stamped) < 2:
        return f'{int(flags.sum())} samples'
    start = time[stamped[min(int(np.searchsorted(stamped, first)), len(stamped) - 1)]]
    period = float(np.median(np.diff(time[stamped])))
    return (
        f'{int(flags.sum())} samples, longest block {length * period:.4g} s ({length} samples) '
        f'from {start:.3f} s'
    )
