# SPDX-License-Identifier: Apache-2.0
"""A recording as the segments it is processed in: one, or several of a very long recording.

Signals of an hour at 1 kHz would fill more than a gigabyte when they are filtered and
differentiated. So a long recording is cut into segments of equal length; each is processed when
it is looked at and forgotten again, and only its factors and sums are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from robodyn_ros.findings import Finding, finding, has_error
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.cutoff import lowest_cutoff, motion_cutoff
from robodyn_ros.identification.signals.grid import Grid
from robodyn_ros.identification.signals.offset_correction import TimeOffset, corrected
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.processing import process, raised, uses_given
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.storage import release

KnownTorque = Callable[[Recording, Processed], Array]
"""Gives the torque (N, n) at the samples of the signals that is not estimated."""

SEGMENT = 100_000
"""Largest number of samples of a segment of a long recording."""

LONGEST = 4 * SEGMENT
"""Largest number of samples of a recording that is processed without segments."""


@dataclass(frozen=True)
class Segments:
    """Signals of a recording, segment by segment.

    :param shown: signals of one segment in which all joints move, if there is one; those of the
        whole recording, if it is not long
    :param others: gives the signals of all segments of a long recording
    :param grid: of a recording that is not long and whose derivatives are computed
    """

    shown: Processed
    recording: Recording
    raw_samples: int
    others: Callable[[], Iterator[Processed]] | None = None
    offsets: tuple[tuple[int, TimeOffset], ...] = ()
    count: int = 1
    grid: Grid | None = None

    def __iter__(self) -> Iterator[Processed]:
        """Yield the signals of each segment."""
        if self.others is None:
            yield self.shown
            return
        for signals in self.others():
            yield corrected(signals, dict(self.offsets))

    def corrected(self, offsets: dict[int, TimeOffset]) -> Segments:
        """Return the same segments with these offsets of the torque corrected."""
        shown = corrected(self.shown, offsets)
        return replace(self, shown=shown, offsets=tuple(offsets.items()))

    def findings(self) -> Iterator[Finding]:
        """Say that a recording was processed in segments."""
        if self.others is not None:
            start, end = self.recording.time[[0, -1]]
            yield finding('long_recording', samples=self.raw_samples, start=start, end=end)


def segments_of(
    recording: Recording,
    joints: Sequence[str],
    options: IdentifyOptions,
    known: KnownTorque | None = None,
    automatic: float | None = None,
    grid: Grid | None = None,
) -> Segments:
    """Process a recording, a long one in segments.

    :param automatic: automatic cut-off in [Hz], if it is known
    :raises RobodynError: as `processing.process`
    """
    if recording.joints != tuple(joints):
        recording = recording.select(joints)

    def signals_of(part: Recording, grid: Grid | None = None) -> Processed:
        signals = process(part, joints, options, automatic=automatic, grid=grid)
        return signals if known is None else replace(signals, known=known(part, signals))

    if len(recording) <= LONGEST:
        if grid is None and not uses_given(recording, options):
            grid = Grid.of(recording)
        signals = signals_of(recording, grid)
        return Segments(signals, recording, signals.raw_samples, grid=grid)
    count = -(-len(recording) // SEGMENT)
    bounds = np.linspace(0, len(recording), count + 1).astype(int).tolist()
    margin, period, used = 0, recording.period, options.filter_cutoff
    if used is None and not uses_given(recording, options):
        automatic = automatic or _cutoff(recording, bounds, 1.0 / period)
        used = raised(automatic, 1.0 / period, options)
    if used is not None:
        margin = int(np.ceil(2.0 / (period * used)))

    def piece(index: int) -> Recording:
        # Ends that the filter cuts off are those of the neighbours.
        release(recording.time, *recording.each(np.asarray).values())
        first, last = bounds[index] - margin, bounds[index + 1] + margin
        return recording.slice(slice(max(first, 0), last))

    def processed(index: int) -> Processed:
        return signals_of(piece(index))

    index, shown = _first_moving(processed, count)
    return Segments(
        shown,
        piece(index),
        len(recording),
        lambda: (processed(k) for k in range(count)),
        count=count,
    )


def _first_moving(processed: Callable[[int], Processed], count: int) -> tuple[int, Processed]:
    """Return the first segment without an error, or the last one."""
    for index in range(count):
        shown = processed(index)
        if not has_error(shown.findings):
            break
    return index, shown


def _cutoff(recording: Recording, bounds: Sequence[int], rate: float) -> float:
    """Cut-off that lets all segments through, in [Hz]; those at rest have no say."""
    found = []
    for first, last in pairwise(bounds):
        grid = Grid.of(recording.slice(slice(first, last)))
        found.append(motion_cutoff(grid.recording.position, rate) or 0.0)
        release(recording.position)
    return max(found) or lowest_cutoff(rate)
