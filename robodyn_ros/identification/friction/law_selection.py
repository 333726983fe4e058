"""Which friction law a recording favours, and the figures of a law that has some.

A model whose friction is still open (`friction: auto`, or a law without its figures) is completed
here, before anything else is estimated. Laws are compared by their errors on stretches of the
recording left out in turn: more parameters alone do not make those smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from robodyn_ros.errors import IdentificationError, InsufficientData
from robodyn_ros.identification.findings import finding
from robodyn_ros.identification.friction.choice import FrictionCandidate, FrictionChoice
from robodyn_ros.identification.friction.law_fit import FrictionSearch, LawFit
from robodyn_ros.identification.friction.samples import FrictionSample
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.consistency import bodies_of, nearest
from robodyn_ros.identification.physical.semidefinite import (
    WEAKEST,
    Data,
    Problem,
    starting_prior,
)
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import BaseParameters, base_parameters
from robodyn_ros.models.catalog import with_friction
from robodyn_ros.models.friction import FrictionModel, body_of, open_friction
from robodyn_ros.models.friction_terms import LAWS
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Finding

SIMPLE = ('linear', 'polynomial', 'power', 'asymmetric', 'asymmetric_power', 'smooth', 'stribeck')
"""Laws that are tried in any case."""

REFINED = ('smooth_polynomial', 'smooth_power', 'smooth_asymmetric', 'bidirectional')
"""Laws that are tried where the smooth one is better than the linear one."""

LOADED = 2
"""So many of the best laws, and the plain one, are tried with load-dependent friction too."""

PRICE = 1.025
"""Factor by which each further term must make the error smaller to be worth it: stretches of one
motion resemble each other, which favours laws that would not hold on another motion."""

CLEARLY = 0.85
"""The linear law is left only for an error of at most this share of its own. A law with more terms
fits other motions better where it removes a good part of the error. A few per cent are what
flexible laws gain on segments of the same motion, and lose on others."""

SAMPLES_PER_TERM = 50
"""Moving samples of each joint that a term needs to be tried."""

PRIOR_WEIGHT = 1e-3
"""Weight of the URDF in the body that loads the gears: little, but where nothing else is known."""


def settled_friction(
    model: DynamicModel, signals: Processed, options: IdentifyOptions
) -> tuple[DynamicModel, FrictionChoice | None]:
    """Complete a model whose friction is open; any other is returned as it is.

    :raises InsufficientData: no joint has a sample to find friction from
    """
    friction = open_friction(model)
    if friction is None:
        return model, None
    body = body_of(model)
    base = base_parameters(body)
    if not signals.used.any():
        raise InsufficientData('no joint has a moving sample to find friction from')
    search = FrictionSearch(FrictionSample.of(body, base, signals))
    search.reweigh(LAWS['linear'])
    if friction.automatic:
        fits = _candidates(search)
    else:
        fits = {'+'.join(friction.terms): search.fit(friction.terms, known=_known(friction))}
    table = tuple(_table(fits))
    chosen = _chosen(table)
    described, loops = _described(search, fits[chosen.name], friction, body, base, options)
    choice = FrictionChoice(chosen.name, table, loops, friction.automatic)
    return with_friction(body, described), choice


def _chosen(table: tuple[FrictionCandidate, ...]) -> FrictionCandidate:
    """The law whose error is worth its terms; the first one unless another is clearly better."""
    first = table[0]

    def priced(each: FrictionCandidate) -> float:
        return each.error * PRICE ** (each.terms - first.terms)

    best = min(table, key=priced)
    return best if priced(best) <= CLEARLY * first.error else first


def _known(friction: FrictionModel) -> list[dict[str, float]]:
    """Figures that the description gives, of each joint."""
    return [
        {name: float(values[joint]) for name, values in friction.figures.items()}
        for joint in range(len(friction.joints))
    ]


def _candidates(search: FrictionSearch) -> dict[str, LawFit]:
    """Fits of the laws to choose from."""
    room = search.samples // SAMPLES_PER_TERM
    names = [name for name in SIMPLE if len(LAWS[name]) <= room] or ['linear']
    fits = {name: search.fit(LAWS[name], finer=name == 'smooth') for name in names}
    reference, plain = fits['linear'], 'linear'
    if 'smooth' in fits and _score(fits['smooth'], reference) < 1.0 / PRICE:
        plain = 'smooth'
        turned = [{'smoothing': own['smoothing']} for own in fits['smooth'].shapes]
        for name in REFINED:
            if len(LAWS[name]) <= room:
                fits[name] = search.fit(LAWS[name], known=turned)
    ranked = sorted(fits, key=lambda name: _priced(fits[name], reference))
    best = [plain, *(name for name in ranked[:LOADED] if name != plain)]
    for name in best:
        if len(LAWS[name]) < room:
            own = fits[name]
            fits[f'{name}+load'] = search.fit((*own.terms, 'load'), known=own.shapes, start=own)
    return fits


def _score(fit: LawFit, reference: LawFit) -> float:
    """Error of a fit over that of another: geometric mean, so that every joint counts alike."""
    return float(np.exp(np.mean(np.log(fit.errors / reference.errors))))


def _priced(fit: LawFit, reference: LawFit) -> float:
    """Score of a fit with what its terms beyond the other's cost."""
    return _score(fit, reference) * PRICE ** (len(fit.terms) - len(reference.terms))


def _table(fits: Mapping[str, LawFit]) -> Iterator[FrictionCandidate]:
    reference = next(iter(fits.values()))
    for name, fit in fits.items():
        residual = float(np.exp(np.mean(np.log(fit.residuals / reference.errors))))
        yield FrictionCandidate(name, len(fit.terms), _score(fit, reference), residual)


def _described(
    search: FrictionSearch,
    fit: LawFit,
    friction: FrictionModel,
    body: DynamicModel,
    base: BaseParameters,
    options: IdentifyOptions,
) -> tuple[dict[str, object], int]:
    """Description of a law with its figures, and how often the loops ran.

    The load is that of a body that can exist, so that it can be trusted on other motions too.
    """
    given = _known(friction)
    fit = search.fit(fit.terms, known=given, start=fit, finer=True)
    load: dict[str, object] = {}
    loops = fit.loops
    if fit.load is not None:
        values = _load_values(search, fit, body, base, options)
        torque = np.abs(search.sample.rigid @ (base.grouping @ values))
        fit = search.fit(fit.terms, known=given, start=fit, finer=True, load=torque)
        load, loops = {'load': values.tolist()}, loops + fit.loops
    return {'terms': list(fit.terms), **fit.figures, **load}, loops


def _load_values(
    search: FrictionSearch,
    fit: LawFit,
    body: DynamicModel,
    base: BaseParameters,
    options: IdentifyOptions,
) -> Array:
    """Parameters (p,) of the body that loads the gears, possible ones where it has links."""
    plain = nearest(body, base.grouping, fit.rigid_values, body.prior())
    if options.consistent == 'no' or not bodies_of(body).links:
        return plain
    prior, known = starting_prior(body, options.prior)
    problem = Problem.of(body, base, prior)
    data = Data(triangle=search.rigid_triangle(fit), values=fit.rigid_values)
    try:
        return problem.solve(data, PRIOR_WEIGHT if known else WEAKEST)
    except IdentificationError:
        return plain


def friction_findings(choice: FrictionChoice | None) -> Iterator[Finding]:
    """Say which law friction follows, and why."""
    if choice is None:
        return
    by_name = {each.name: each for each in choice.candidates}
    if not choice.automatic:
        yield finding('friction_chosen', law=choice.law)
        return
    others = sorted(choice.candidates, key=lambda each: each.error)
    yield finding(
        'friction_chosen.automatic',
        law=choice.law,
        count=len(others),
        error=by_name[choice.law].error,
        smallest=', '.join(f'{each.name} {each.error:.3f}' for each in others[:4]),
    )
