"""Choice of the cut-off frequency where noise has lowered it: held-out errors decide."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn_ros.identification.fit.choice import HeldOut, simplest
from robodyn_ros.identification.friction.law_fit import FrictionSearch
from robodyn_ros.identification.friction.samples import FrictionSample
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.semidefinite import WEAKEST, Problem, starting_prior
from robodyn_ros.identification.signals.cutoff import lowest_cutoff
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.friction import body_of
from robodyn_ros.models.friction_terms import LAWS
from robodyn_ros.models.interface import DynamicModel


def cutoff_factor(
    model: DynamicModel,
    signals: Processed,
    options: IdentifyOptions,
    process: Callable[[float], Processed],
) -> float:
    """Return the factor by which the automatic cut-off is raised.

    An automatic cut-off below the usual lowest one means that noise of the position demanded it.
    It may cut off a part of the motion, which the held-out errors of higher ones show. Torque and
    friction go through the same low pass for all of them, so that their errors can be compared.

    :param signals: those at the automatic cut-off
    :param process: gives the signals for a factor
    """
    rate = 1.0 / float(np.diff(signals.time[:2])[0]) if len(signals) > 1 else 1.0
    if signals.cutoff is None or options.filter_cutoff is not None:
        return 1.0
    octaves = np.log2(lowest_cutoff(rate) / signals.cutoff)
    if octaves < 0.5:
        return 1.0
    factors = [1.0, *np.exp2(np.arange(1.0, octaves + 0.5)).tolist()]
    errors = [_held_out(model, process(factor), options) for factor in factors]
    known = [each for each in errors if each is not None]
    return factors[simplest(known)] if len(known) == len(factors) else 1.0


def _held_out(model: DynamicModel, signals: Processed, options: IdentifyOptions) -> HeldOut | None:
    """Errors of the rigid body with linear friction; None: there are too few samples."""
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
