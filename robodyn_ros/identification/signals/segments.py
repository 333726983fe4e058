# SPDX-License-Identifier: Apache-2.0
"""A recording as the segments it is processed in: one, or several of a very long recording.

The signals of an hour at 1 kHz would fill more than a gigabyte. Each segment is processed when it
is needed and released again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from robodyn_ros.findings import Finding, finding, has_error
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.cutoff import Cutoffs, motion_cutoffs, usual_cutoffs
from robodyn_ros.identification.signals.grid import Grid
from robodyn_ros.identification.signals.processed import Processed, TimeOffset, correct_offsets
from robodyn_ros.identification.signals.processing import process, uses_given
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

    :param raw: signals of one segment in which all joints move, if there is one; those of the
        complete recording, if it is not long
    :param others: gives the signals of all segments of a long recording
    :param offsets: of the torque, which are corrected, by the number of the joint
    :param grid: of a recording that is not long and whose derivatives are computed
    :param cutoffs: None: nothing is filtered, or the user asks for a cut-off
    :param at: gives the same recording at another cut-off of the position, in [Hz]
    """

    raw: Processed
    recording: Recording
    raw_samples: int
    at: Callable[[float], Segments]
    others: Callable[[], Iterator[Processed]] | None = None
    offsets: Mapping[int, TimeOffset] = field(default_factory=dict)
    count: int = 1
    grid: Grid | None = None
    cutoffs: Cutoffs | None = None

    @cached_property
    def shown(self) -> Processed:
        """The signals `raw`, corrected."""
        return correct_offsets(self.raw, self.offsets)

    def __iter__(self) -> Iterator[Processed]:
        """Yield the signals of each segment."""
        if self.others is None:
            yield self.shown
            return
        for signals in self.others():
            yield correct_offsets(signals, self.offsets)

    def correct(self, offsets: Mapping[int, TimeOffset]) -> Segments:
        """Return the same segments with these offsets of the torque corrected."""
        return replace(self, offsets=offsets)

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
    *,
    cutoffs: Cutoffs | None = None,
    like: Cutoffs | None = None,
    grid: Grid | None = None,
) -> Segments:
    """Process a recording, a long one in segments.

    :param cutoffs: None: by the spectrum
    :param like: those of another recording, which decide; None: there is none
    :raises RobodynError: as `processing.process`
    """
    if recording.joints != tuple(joints):
        recording = recording.select(joints)
    length, period = len(recording), recording.period
    count = 1 if length <= LONGEST else -(-length // SEGMENT)
    bounds = np.linspace(0, length, count + 1).astype(int).tolist()
    used = options.filter_cutoff
    if uses_given(recording, options):
        cutoffs = grid = None
    else:
        grid = grid or Grid.of(recording) if count == 1 else None
        if used is None:
            cutoffs = cutoffs or _find_cutoffs(recording, bounds, grid)
            cutoffs = cutoffs.like(like, 1.0 / period) if like else cutoffs
            used = cutoffs.used
    margin = 0 if used is None else int(np.ceil(2.0 / (period * used)))

    def piece(index: int) -> Recording:
        if count == 1:
            return recording
        # Ends that the filter cuts off are those of the neighbours.
        release(recording.time, *recording.each(np.asarray).values())
        first, last = bounds[index] - margin, bounds[index + 1] + margin
        return recording.slice(slice(max(first, 0), last))

    def process_piece(index: int) -> Processed:
        part = piece(index)
        signals = process(part, joints, options, cutoffs=cutoffs, grid=grid)
        return signals if known is None else replace(signals, known=known(part, signals))

    def at(cutoff: float) -> Segments:
        changed = cutoffs and cutoffs.at(cutoff)
        return segments_of(recording, joints, options, known, cutoffs=changed, grid=grid)

    index, raw = _process_first_moving(process_piece, count)
    return Segments(
        raw,
        piece(index),
        length,
        at,
        (lambda: (process_piece(k) for k in range(count))) if count > 1 else None,
        count=count,
        grid=grid,
        cutoffs=cutoffs,
    )


def _process_first_moving(
    processed: Callable[[int], Processed], count: int
) -> tuple[int, Processed]:
    """Return the first segment without an error, or the last one."""
    for index in range(count):
        shown = processed(index)
        if not has_error(shown.findings):
            break
    return index, shown


def _find_cutoffs(recording: Recording, bounds: Sequence[int], grid: Grid | None) -> Cutoffs:
    """Return cut-offs that let all segments through; those at rest are ignored."""
    if grid is not None:
        return grid.cutoffs
    of_segments, rate = [], 1.0 / recording.period
    for first, last in pairwise(bounds):
        part = Grid.of(recording.slice(slice(first, last)))
        of_segments.append(motion_cutoffs(part.recording.position, rate, part.gaps))
        release(recording.position)
    moving = [astuple(each) for each in of_segments if each is not None]
    return Cutoffs(*map(max, zip(*moving, strict=True))) if moving else usual_cutoffs(rate)
