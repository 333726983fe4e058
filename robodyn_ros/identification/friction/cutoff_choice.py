# SPDX-License-Identifier: Apache-2.0
"""Choice of the cut-off frequency, together with the time offsets of the torque.

Noise of the position makes inertias too small; a cut-off that is too low removes motion. Held-out
torque errors show both. A late torque looks like noise at high frequencies: hence each cut-off is
compared with the offsets that suit it best.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, takewhile

from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.fit.choice import HeldOut, best_of_many, simplest
from robodyn_ros.identification.fit.time_offset import offsets_of
from robodyn_ros.identification.friction.law_fit import FrictionSearch
from robodyn_ros.identification.friction.samples import FrictionSample
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.semidefinite import WEAKEST, Problem, starting_prior
from robodyn_ros.identification.signals.cutoff import Cutoffs
from robodyn_ros.identification.signals.processed import Processed, TimeOffset
from robodyn_ros.identification.signals.segments import Segments
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.friction import body_of
from robodyn_ros.models.friction_terms import LAWS
from robodyn_ros.models.interface import DynamicModel

LOWER = 0.25
"""Share of the automatic cut-off that is tried at the least: its noise is 32 times smaller."""


@dataclass(frozen=True)
class Trial:
    """A recording at one cut-off.

    :param parts: with the time offsets of the torque as they were measured
    :param offsets: of the torque, by the number of the joint
    :param held_out: errors with these offsets corrected; None: there are too few samples
    """

    parts: Segments
    offsets: dict[int, TimeOffset]
    held_out: HeldOut | None

    @classmethod
    def of(cls, model: DynamicModel, parts: Segments, options: IdentifyOptions) -> Trial:
        """Estimate the offsets, and what the model then leaves unexplained."""
        signals = parts.shown.to_estimate()
        offsets = offsets_of(model, base_parameters(model), signals, options)
        shown = parts.correct(offsets).shown.to_estimate()
        held_out = None if parts.cutoffs is None else _held_out(model, shown, options)
        return cls(parts, offsets, held_out)


def choose_cutoff(model: DynamicModel, parts: Segments, options: IdentifyOptions) -> Trial:
    """Return the cut-off and the time offsets that explain the torque best.

    The automatic cut-off stays unless another one is significantly better. Lower and higher ones
    are tried while the held-out error falls.

    :param parts: a recording at its automatic cut-off
    """
    start = Trial.of(model, parts, options)
    if parts.cutoffs is None or start.held_out is None:
        return start
    for ladder in _ladders(parts.cutoffs):
        tried, errors = [start], [start.held_out]
        for cutoff in ladder:
            with suppress(RobodynError):  # too short for it
                trial = Trial.of(model, parts.at(cutoff), options)
                if trial.held_out is None or trial.held_out.mean >= errors[-1].mean:
                    break
                tried.append(trial)
                errors.append(trial.held_out)
        chosen = tried[simplest(errors, best_of_many(len(errors) - 1))]
        if chosen is not start:
            return chosen
    return start


def _ladders(range_: Cutoffs) -> Iterator[Iterator[float]]:
    """Yield octaves to try, in [Hz]: lower ones, then higher ones, from the used one on."""
    lowest, used = max(range_.lowest, LOWER * range_.used), range_.used
    yield takewhile(lambda each: each >= lowest, (used * 0.5**k for k in count(1)))
    yield takewhile(lambda each: each <= range_.highest, (used * 2.0**k for k in count(1)))


def _held_out(model: DynamicModel, signals: Processed, options: IdentifyOptions) -> HeldOut | None:
    """Return errors of the rigid body with linear friction; None: there are too few samples."""
    body = body_of(model)
    base = base_parameters(body)
    if not signals.used.any():
        return None
    prior, _ = starting_prior(body, options.prior)
    problem = Problem.of(body, base, prior)
    search = FrictionSearch(FrictionSample.of(body, base, signals), problem.base_prior(WEAKEST))
    search.reweigh(LAWS['linear'])
    return search.held_out(search.fit(LAWS['linear']))
