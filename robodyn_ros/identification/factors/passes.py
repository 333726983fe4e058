"""Condense the processed signals of a recording, all or stretch by stretch."""

from __future__ import annotations

from collections.abc import Callable

from robodyn_ros.identification.factors.condense import Condensed, condense
from robodyn_ros.identification.factors.segments import Stretches, joined
from robodyn_ros.identification.fit.robust import Robust
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.consistency import nearest
from robodyn_ros.identification.physical.selection import FOLDS
from robodyn_ros.identification.signals.processing import Processed
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


def reweighing(
    model: DynamicModel,
    parts: Stretches,
    base: BaseParameters,
    options: IdentifyOptions,
    prior: Array,
    progress: Progress | None,
) -> Callable[[Robust], Condensed]:
    """What condenses the recording again, its samples weighted by a robust fit."""

    def weigh(robust: Robust) -> Condensed:
        values = nearest(model, base.grouping, robust.values, prior)

        def weights(signals: Processed) -> Array:
            predicted = model.torque(*signals.motion, values)
            return robust.weights(signals.thinning.apply(signals.measured - predicted))

        return condensed_parts(model, parts, base, options, progress, weights)

    return weigh
