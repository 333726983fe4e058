# SPDX-License-Identifier: Apache-2.0
"""Complete a model whose friction is not specified: its terms and their shape coefficients.

`friction: auto` becomes a model with the terms of all laws that are averaged, see
`average.candidates`; a law without its shape coefficients gets them.
"""

from __future__ import annotations

import numpy as np

from robodyn_ros.errors import IdentificationError, InsufficientData
from robodyn_ros.identification.friction.law_fit import FrictionSearch
from robodyn_ros.identification.friction.law_state import LawFit
from robodyn_ros.identification.friction.samples import FrictionSample
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.consistency import bodies_of, nearest
from robodyn_ros.identification.physical.semidefinite import (
    WEAKEST,
    WEIGHTS,
    Data,
    Problem,
    starting_prior,
)
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import with_friction
from robodyn_ros.models.friction import FrictionModel, body_of, find_unspecified
from robodyn_ros.models.friction_terms import DEFAULT_TERMS, LAWS
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.springs import spring_terms

SAMPLES_PER_TERM = 50
"""Moving samples of each joint that a term needs to be tried."""

PRIOR_WEIGHT = WEIGHTS[-2]
"""Weight of the URDF in the body that loads the gears: little, but where nothing else is known."""


def complete_friction(
    model: DynamicModel, signals: Processed, options: IdentifyOptions, terms: tuple[str, ...]
) -> DynamicModel:
    """Complete a model whose friction is not specified; any other is returned as it is.

    :param terms: of an automatic law; without 'load' where the links load no gear, and only those
        of linear friction where there are too few samples
    :raises InsufficientData: no joint has a moving sample
    """
    friction = find_unspecified(model)
    if friction is None:
        return model
    body = body_of(model)
    base = base_parameters(body)
    if not signals.used.any():
        raise InsufficientData('no joint has a moving sample to find friction from')
    if not signals.velocity.any():
        return with_friction(body, DEFAULT_TERMS)
    prior, known = starting_prior(body, options.prior)
    problem = Problem.of(body, base, prior)
    weight = PRIOR_WEIGHT if known else WEAKEST
    search = FrictionSearch(FrictionSample.of(body, base, signals), problem.base_prior(weight))
    search.reweigh(LAWS['linear'])
    if not friction.automatic:
        named = (*friction.terms, *spring_terms(model))
        fit = search.fit(named, known=_read_shapes(friction))
        return with_friction(body, _describe(search, fit, friction, problem, options, named))
    if len(terms) > search.samples // SAMPLES_PER_TERM:
        return with_friction(body, DEFAULT_TERMS)
    fit = search.fit(LAWS['smooth'], finer=True)
    if search.carries_load(fit):
        fit = search.fit((*fit.terms, 'load'), known=fit.shapes, start=fit)
    else:  # a small load would imitate any friction
        terms = tuple(term for term in terms if term != 'load')
    return with_friction(body, _describe(search, fit, friction, problem, options, terms))


def _read_shapes(friction: FrictionModel) -> list[dict[str, float]]:
    """Return the shape coefficients of the description, for each joint."""
    return [
        {name: float(values[joint]) for name, values in friction.coefficients.items()}
        for joint in range(len(friction.joints))
    ]


def _describe(
    search: FrictionSearch,
    fit: LawFit,
    friction: FrictionModel,
    problem: Problem,
    options: IdentifyOptions,
    terms: tuple[str, ...],
) -> dict[str, object]:
    """Return the description of a law with these terms and its shape coefficients."""
    given = _read_shapes(friction)
    fit = search.fit(fit.terms, known=given, start=fit, finer=True)
    load: dict[str, object] = {}
    if fit.load is not None:
        values = _load_values(search, fit, problem, options)
        torque = np.abs(search.sample.rigid @ (problem.grouping @ values))
        fit = search.fit(fit.terms, known=given, start=fit, finer=True, load=torque)
        load = {'load': values.tolist()}
    shapes = {name: list(map(float, values)) for name, values in fit.coefficients.items()}
    return {'terms': list(terms), **shapes, **load}


def _load_values(
    search: FrictionSearch, fit: LawFit, problem: Problem, options: IdentifyOptions
) -> Array:
    """Return parameters (p,) of the body that loads the gears, consistent if it has links."""
    body, grouping = problem.model, problem.grouping
    plain = nearest(body, grouping, fit.rigid_values, body.prior())
    if options.consistent == 'no' or not bodies_of(body).links:
        return plain
    _, known = starting_prior(body, options.prior)
    data = Data(triangle=search.rigid_triangle(fit), values=fit.rigid_values)
    try:
        return problem.solve(data, PRIOR_WEIGHT if known else WEAKEST)
    except IdentificationError:
        return plain
