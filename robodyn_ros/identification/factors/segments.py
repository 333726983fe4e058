"""A recording as the stretches it is processed in: one, or several of a very long recording.

Signals of an hour at 1 kHz would fill more than a gigabyte when they are filtered and
differentiated. So a long recording is cut into stretches of equal length; each is processed when
it is looked at and forgotten again, and only its factors and sums are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise

import numpy as np

from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.factors.row_sample import LENGTH, STRETCHES, RowSample, Stretch
from robodyn_ros.identification.fit.time_offset import TimeOffset, corrected
from robodyn_ros.identification.fit.torque_errors import FitReport, Tally, predict
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.cutoff import lowest_cutoff, motion_cutoff
from robodyn_ros.identification.signals.grid import on_grid
from robodyn_ros.identification.signals.processing import Processed, process, uses_given
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Finding, Recording
from robodyn_ros.recording.storage import release

LONGEST = 400_000
"""Samples of a recording from which on it is processed in stretches ..."""

STRETCH = 100_000
"""... of at most so many samples."""


@dataclass(frozen=True)
class Stretches:
    """Signals of a recording, stretch by stretch.

    :param shown: signals of one stretch in which all joints move, if there is one; those of the
        whole recording, if it is not long
    :param recording: what `shown` was processed from
    :param others: gives the signals of all stretches of a long recording
    :param offsets: of the torque in time, that are set right
    :param count: number of stretches
    """

    shown: Processed
    recording: Recording
    raw_samples: int
    others: Callable[[], Iterator[Processed]] | None = None
    offsets: tuple[tuple[int, TimeOffset], ...] = ()
    count: int = 1

    def __iter__(self) -> Iterator[Processed]:
        """Signals of each stretch."""
        if self.others is None:
            yield self.shown
            return
        for signals in self.others():
            yield corrected(signals, dict(self.offsets))

    def corrected(self, offsets: dict[int, TimeOffset]) -> Stretches:
        """The same with these offsets of the torque set right."""
        shown = corrected(self.shown, offsets)
        return replace(self, shown=shown, offsets=tuple(offsets.items()))

    def findings(self) -> Iterator[Finding]:
        """Say that a recording was processed in stretches."""
        if self.others is not None:
            start, end = self.recording.time[[0, -1]]
            yield Finding(
                'long_recording',
                f'the recording of {self.raw_samples} samples was processed in stretches: '
                f'parameters and errors are of all of them; time offsets, friction laws, the '
                f'diagnosis and the signals that are kept, of the stretch from {start:.6g} s to '
                f'{end:.6g} s',
                severity='info',
            )


def stretches_of(
    recording: Recording, joints: Sequence[str], options: IdentifyOptions
) -> Stretches:
    """Process a recording, a long one in stretches.

    :raises RobodynError: as `processing.process`
    """
    if len(recording) <= LONGEST:
        signals = process(recording, joints, options)
        return Stretches(signals, recording, signals.raw_samples)
    count = -(-len(recording) // STRETCH)
    bounds = np.linspace(0, len(recording), count + 1).astype(int).tolist()
    cutoff, margin, period = None, 0, recording.period
    if not uses_given(recording, options) and options.filter_cutoff is None:
        cutoff = _cutoff(recording, bounds, 1.0 / period)
    if (used := cutoff or options.filter_cutoff) is not None:
        margin = int(np.ceil(2.0 / (period * used)))

    def piece(index: int) -> Recording:
        # Ends that the filter cuts off are those of the neighbours.
        release(recording.time, *recording.each(np.asarray).values())
        first, last = bounds[index] - margin, bounds[index + 1] + margin
        return recording.slice(slice(max(first, 0), last))

    def processed(index: int) -> Processed:
        return process(piece(index), joints, options, cutoff=cutoff)

    for index in range(count):
        shown = processed(index)
        if not any(item.severity == 'error' for item in shown.findings):
            break
    return Stretches(
        shown,
        piece(index),
        len(recording),
        lambda: (processed(k) for k in range(count)),
        count=count,
    )


def _cutoff(recording: Recording, bounds: Sequence[int], rate: float) -> float:
    """Cut-off that lets all stretches through, in [Hz]; those at rest have no say."""
    found = []
    for first, last in pairwise(bounds):
        uniform, _, _ = on_grid(recording.slice(slice(first, last)))
        found.append(motion_cutoff(uniform.position, rate) or 0.0)
        release(recording.position)
    return max(found) or lowest_cutoff(rate)


def joined(stretches: Iterable[Condensed], segments: int, count: int) -> Condensed:
    """Condensed stretches as one recording in so many segments at most, equally long.

    :param count: number of stretches
    """
    chosen = set(np.linspace(0, count - 1, STRETCHES).astype(int).tolist())
    parts = [
        replace(part, sample=_begin(part.sample, LENGTH if number in chosen else 0))
        for number, part in enumerate(stretches)
    ]
    whole = replace(
        parts[0],
        segments=tuple(segment for part in parts for segment in part.segments),
        coupled=tuple(segment for part in parts for segment in part.coupled),
    )
    groups = np.array_split(np.arange(len(whole.segments)), min(segments, len(whole.segments)))
    return replace(
        whole,
        segments=tuple(whole.merged(group.tolist()) for group in groups),
        coupled=tuple(whole.merged_coupled(group.tolist()) for group in groups)
        if whole.coupled
        else (),
        sample=_sample([part.sample for part in parts]),
    )


def _sample(parts: Sequence[RowSample]) -> RowSample:
    """Rows of those parts that have any."""
    stretches = tuple(part.stretches[0] for part in parts if len(part.stretches[0].used))
    return replace(parts[0], stretches=stretches, total=sum(part.total for part in parts))


def _begin(sample: RowSample, count: int) -> RowSample:
    """The first rows of a sample, copied, so that the others can be forgotten."""
    first = sample.stretches[0]
    rows = tuple(np.array(matrix[:count]) for matrix in first.rows)
    return replace(sample, stretches=(Stretch(rows, np.array(first.used[:count])),))


def evaluate_all(
    model: DynamicModel,
    values: Array,
    stretches: Stretches,
    *,
    source: str,
    progress: Callable[[float], None] | None = None,
) -> tuple[FitReport, Array]:
    """Compare model torque with measured torque on all stretches.

    :return: the report, and the model torque on the stretch that is shown
    """
    if stretches.others is None:
        predicted = predict(model, values, stretches.shown, progress=progress)
        return Tally.of(stretches.shown, predicted).report(stretches.shown, source), predicted
    tallies = (Tally.of(part, predict(model, values, part)) for part in stretches)
    total = reduce(Tally.__add__, tallies)
    return total.report(stretches.shown, source), predict(model, values, stretches.shown)
