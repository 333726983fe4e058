# SPDX-License-Identifier: Apache-2.0
"""Choice of the cut-off frequency by held-out errors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.fit.choice import FOUR, HeldOut, gains, is_better
from robodyn_ros.identification.friction.law_fit import FrictionSearch
from robodyn_ros.identification.friction.samples import FrictionSample
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.semidefinite import WEAKEST, Problem, starting_prior
from robodyn_ros.identification.signals.cutoff import NOISE_SHARE, lowest_cutoff
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.friction import body_of
from robodyn_ros.models.friction_terms import LAWS
from robodyn_ros.models.interface import DynamicModel

LOWER = (0.5, 0.25)
"""Shares of the automatic cut-off that are tried: its noise is 6 and 31 times smaller there."""


def cutoff_factor(
    model: DynamicModel,
    signals: Processed,
    options: IdentifyOptions,
    process: Callable[[float], Processed],
) -> float:
    """Return the factor of the automatic cut-off: the cut-off that held-out errors favour.

    Noise of the position adds to the torque of the model, and makes inertias too small. Held-out
    errors show it, since torque and friction go through the same low pass for all cut-offs. The
    automatic one stays unless another is significantly better, and a lower one keeps the motion
    and is certainly better.
    """
    rate = 1.0 / float(np.diff(signals.time[:2])[0]) if len(signals) > 1 else 1.0
    if signals.cutoff is None or options.filter_cutoff is not None:
        return 1.0
    automatic = best = _held_out(model, signals, options)
    chosen, octaves = 1.0, int(np.log2(lowest_cutoff(rate) / signals.cutoff) + 0.5)
    for factors in (LOWER, np.exp2(np.arange(1, octaves + 1)).tolist()):
        for factor in factors if chosen == 1.0 else ():
            other = None
            with suppress(RobodynError):  # too short for a lower one
                changed = process(factor)
                if factor > 1.0 or _keeps_motion(signals, changed):
                    other = _held_out(model, changed, options)
            if automatic is None or best is None or other is None or other.mean >= best.mean:
                break
            if is_better(automatic, other) and (factor > 1.0 or _is_certain(automatic, other)):
                best, chosen = other, factor
    return chosen


def _is_certain(automatic: HeldOut, lower: HeldOut) -> bool:
    """Return True if a lower cut-off gains four standard errors on one kind of folds.

    What it removes is missing on other motions, hence `FOUR`. Both kinds hold the same samples:
    the one with the smaller error says more, where one region differs from all others.
    """
    gain, error = gains(automatic, lower)
    return bool((gain > FOUR * error).any())


def _keeps_motion(signals: Processed, lower: Processed) -> bool:
    """Return True if a lower cut-off removes no more acceleration than noise can be.

    The noise below the automatic cut-off is at most a tenth of the acceleration (RMS, median over
    the joints). A cut-off that removes more removes motion. Held-out errors do not show this if
    the complete recording has similar motions: larger inertias then compensate for it.
    """
    moving = signals.used.any(axis=0)
    if not moving.any():
        return True
    before, after = (each.motion[2][:, moving].std(axis=0) for each in (signals, lower))
    return bool(np.median(after / np.maximum(before, 1e-300)) >= 1.0 - NOISE_SHARE)


def _held_out(model: DynamicModel, signals: Processed, options: IdentifyOptions) -> HeldOut | None:
    """Return errors of the rigid body with linear friction; None: there are too few samples."""
    body = body_of(model)
    base = base_parameters(body)
    signals = signals.to_estimate()
    if not signals.used.any():
        return None
    prior, _ = starting_prior(body, options.prior)
    problem = Problem.of(body, base, prior)
    search = FrictionSearch(FrictionSample.of(body, base, signals), problem.base_prior(WEAKEST))
    search.reweigh(LAWS['linear'])
    return search.held_out(search.fit(LAWS['linear']))
