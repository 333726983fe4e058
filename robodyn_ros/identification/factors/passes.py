"""Condense the processed signals of a recording, all or stretch by stretch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from robodyn_ros.identification.factors.condense import Condensed, condense
from robodyn_ros.identification.factors.row_sample import LENGTH, STRETCHES, RowSample, Stretch
from robodyn_ros.identification.options import FOLDS, IdentifyOptions
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.segments import Stretches
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel

Progress = Callable[[str, float], None]
"""Called with the phase and its share done, 0 to 1; may raise to cancel."""

SAMPLES_PER_COLUMN = 10
"""A joint with fewer moving samples per parameter that acts on it makes the result fail."""


def phase_of(progress: Progress | None, phase: str) -> Callable[[float], None] | None:
    """Progress of one phase."""
    if progress is None:
        return None
    return lambda share: progress(phase, share)


def condensed_signals(
    model: DynamicModel,
    signals: Processed,
    base: BaseParameters,
    options: IdentifyOptions,
    progress: Progress | None,
    *,
    known: Array | float = 0.0,
    weights: Array | None = None,
) -> Condensed:
    """Condense regressor and measured torque, both thinned by the same low pass.

    :param known: torque that is not to be explained, shape (N, n), in [Nm] or [N]
    :param weights: see `condense`
    """
    wanted = 1 if options.consistent == 'no' and options.ridge is None else FOLDS
    stretches = max(1, min(wanted, signals.thinning.count(len(signals)) // SAMPLES_PER_COLUMN))
    return condense(
        model,
        signals.motion,
        (signals.torque if len(signals.thinning.taps) == 1 else signals.measured) - known,
        signals.used,
        base.columns,
        thinning=signals.thinning,
        segments=options.segments or stretches,
        weights=weights,
        coupled=options.estimator == 'covariance',
        keep=options.estimator == 'robust',
        progress=phase_of(progress, 'condense'),
    )


def condensed_parts(
    model: DynamicModel,
    parts: Stretches,
    base: BaseParameters,
    options: IdentifyOptions,
    progress: Progress | None,
    weights: Callable[[Processed], Array] | None = None,
) -> Condensed:
    """Factors of all stretches.

    :param weights: gives the weights of a stretch's samples, see `condense`
    """

    def factors(signals: Processed) -> Condensed:
        weight = None if weights is None else weights(signals)
        return condensed_signals(model, signals, base, options, progress, weights=weight)

    if parts.others is None:
        return factors(parts.shown)
    segments = options.segments or FOLDS
    return joined((factors(signals) for signals in parts), segments, parts.count)


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
