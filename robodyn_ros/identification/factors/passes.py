# SPDX-License-Identifier: Apache-2.0
"""Condense the processed signals of a recording, at once or segment by segment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from robodyn_ros.identification.factors.condense import (
    Condensed,
    condense,
    stack_coupled,
    stack_factors,
)
from robodyn_ros.identification.factors.row_sample import LENGTH, SEGMENTS, RowSample, RowSegment
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.segments import Segments
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel


def condense_signals(
    model: DynamicModel,
    signals: Processed,
    base: BaseParameters,
    options: IdentifyOptions,
    weights: Array | None = None,
) -> Condensed:
    """Condense regressor and measured torque, both thinned by the same low pass."""
    signals = signals.to_estimate()
    return condense(
        model,
        signals.motion,
        signals.torque if len(signals.thinning.taps) == 1 else signals.measured,
        signals.used,
        base.columns,
        thinning=signals.thinning,
        weights=weights,
        coupled=options.estimator == 'covariance',
        keep=options.estimator == 'robust',
    )


def condense_parts(
    model: DynamicModel,
    parts: Segments,
    base: BaseParameters,
    options: IdentifyOptions,
    weights: Callable[[Processed], Array] | None = None,
) -> Condensed:
    """Return the factors of all segments."""

    def factors(signals: Processed) -> Condensed:
        weight = None if weights is None else weights(signals.to_estimate())
        return condense_signals(model, signals, base, options, weight)

    if parts.others is None:
        return factors(parts.shown)
    return join_parts((factors(signals) for signals in parts), parts.count)


def join_parts(processed: Iterable[Condensed], count: int) -> Condensed:
    """Return the factors of the segments of processing as those of one recording."""
    chosen = set(np.linspace(0, count - 1, SEGMENTS).astype(int).tolist())
    parts = [
        replace(part, sample=_begin(part.sample, LENGTH if number in chosen else 0))
        for number, part in enumerate(processed)
    ]
    return _stack(parts, _sample([part.sample for part in parts]))


def together(parts: Sequence[Condensed]) -> Condensed:
    """Return the factors of several recordings as those of one: factors add."""
    if len(parts) == 1:
        return parts[0]
    samples = [part.sample.few() for part in parts]
    kept = tuple(each for sample in samples for each in sample.segments)
    total = sum(sample.total for sample in samples)
    sample = replace(samples[0], segments=kept, total=total)
    return _stack(parts, sample)


def _stack(parts: Sequence[Condensed], sample: RowSample) -> Condensed:
    """Return the factors of all parts, with the sample of their rows."""
    coupled = [part.coupled for part in parts if part.coupled]
    return replace(
        parts[0],
        factors=stack_factors(part.factors for part in parts),
        coupled=stack_coupled(coupled) if coupled else None,
        sample=sample,
    )


def _sample(parts: Sequence[RowSample]) -> RowSample:
    """Return the rows of those parts that have any."""
    kept = tuple(part.segments[0] for part in parts if len(part.segments[0].used))
    return replace(parts[0], segments=kept, total=sum(part.total for part in parts))


def _begin(sample: RowSample, count: int) -> RowSample:
    """Return a copy of the first rows of a sample, so that the others can be released."""
    first = sample.segments[0]
    rows = tuple(np.array(matrix[:count]) for matrix in first.rows)
    part = RowSegment(rows, np.array(first.used[:count]), np.array(first.position[:count]))
    return replace(sample, segments=(part,))
