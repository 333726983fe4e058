# SPDX-License-Identifier: Apache-2.0
"""Selection of the friction law, and of its shape coefficients.

A model with an unspecified friction law (`friction: auto`) or a law without its shape coefficients
is completed here, before its parameters are estimated. Laws are compared by their held-out errors:
more parameters alone do not make these smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn_ros.errors import IdentificationError, InsufficientData
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.fit.choice import (
    FOUR,
    ONE,
    RELEVANT,
    HeldOut,
    best_of_many,
    doubt,
    is_better,
    simplest,
)
from robodyn_ros.identification.friction.chosen_law import FrictionCandidate, FrictionChoice
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
from robodyn_ros.models.base_parameters import BaseParameters, base_parameters
from robodyn_ros.models.catalog import with_friction
from robodyn_ros.models.friction import FrictionModel, body_of, find_unspecified
from robodyn_ros.models.friction_terms import LAWS
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.springs import SPRING_TERMS, SPRINGS, spring_terms

SIMPLE = ('polynomial', 'power', 'asymmetric', 'asymmetric_power', 'smooth', 'stribeck')
"""Laws that are tried in any case."""

REFINED = ('smooth_polynomial', 'smooth_power', 'smooth_asymmetric', 'bidirectional')
"""Laws that are tried where the smooth one is better than the linear one."""

LOADED = 3
"""So many of the best laws, and the plain one, are tried with load-dependent friction too."""

SAMPLES_PER_TERM = 50
"""Moving samples of each joint that a term needs to be tried."""

PRIOR_WEIGHT = WEIGHTS[-2]
"""Weight of the URDF in the body that loads the gears: little, but where nothing else is known."""


def select_friction(
    model: DynamicModel, signals: Processed, options: IdentifyOptions
) -> tuple[DynamicModel, FrictionChoice | None]:
    """Complete a model whose friction is not specified; any other is returned as it is.

    :raises InsufficientData: no joint has a moving sample
    """
    friction = find_unspecified(model)
    if friction is None:
        return model, None
    body = body_of(model)
    base = base_parameters(body)
    if not signals.used.any():
        raise InsufficientData('no joint has a moving sample to find friction from')
    prior, known = starting_prior(body, options.prior)
    problem = Problem.of(body, base, prior)
    weight = PRIOR_WEIGHT if known else WEAKEST
    search = FrictionSearch(FrictionSample.of(body, base, signals), problem.base_prior(weight))
    search.reweigh(LAWS['linear'])
    if friction.automatic:
        candidates = _candidates(search)
    else:
        terms = (*friction.terms, *spring_terms(model))
        candidates = {'+'.join(terms): _Candidate.of(search, terms, known=_read_shapes(friction))}
    chosen, reason = _choose_law(candidates)
    table = tuple(_table(candidates))
    described, loops = _describe_law(search, candidates[chosen].fit, friction, body, base, options)
    free = search.with_prior(problem.base_prior(WEAKEST))
    either = friction.automatic and _as_well_without_springs(free, candidates[chosen])
    choice = FrictionChoice(chosen, table, loops, friction.automatic, reason, either)
    return with_friction(body, described), choice


@dataclass(frozen=True)
class _Candidate:
    """A law that was fitted, and its errors on folds left out; None: too few samples."""

    fit: LawFit
    held_out: HeldOut | None

    @classmethod
    def of(cls, search: FrictionSearch, terms: tuple[str, ...], **options: Any) -> _Candidate:
        fit = search.fit(terms, **options)
        return cls(fit, search.held_out(fit))

    def beats(self, other: _Candidate, level: float = ONE) -> bool:
        """Return True if the error is significantly smaller than that of a simpler law."""
        if self.held_out is None or other.held_out is None:
            return False
        return is_better(other.held_out, self.held_out, level, share=RELEVANT)


def _choose_law(candidates: Mapping[str, _Candidate]) -> tuple[str, str]:
    """Name of the law with the fewest terms that no other one beats significantly, and doubts."""
    names = sorted(candidates, key=lambda name: len(candidates[name].fit.terms))
    errors = [candidates[name].held_out for name in names]
    known = [each for each in errors if each is not None]
    index = simplest(known, share=RELEVANT) if len(known) == len(names) else 0
    level = best_of_many(len(known) - 1)
    if index and not any(is_better(known[0], each, level, share=RELEVANT) for each in known[1:]):
        return names[0], f'the best of {len(names)} laws is not significantly better'
    return names[index], doubt(errors, index)


def _read_shapes(friction: FrictionModel) -> list[dict[str, float]]:
    """Return the shape coefficients of the description, for each joint."""
    return [
        {name: float(values[joint]) for name, values in friction.coefficients.items()}
        for joint in range(len(friction.joints))
    ]


def _candidates(search: FrictionSearch) -> dict[str, _Candidate]:
    """Return the laws to choose from, the simplest first."""
    room = search.samples // SAMPLES_PER_TERM
    candidates = {'linear': _Candidate.of(search, LAWS['linear'])}

    def add(name: str, terms: tuple[str, ...], **options: Any) -> None:
        if len(terms) <= room:
            candidates[name] = _Candidate.of(search, terms, **options)

    for name, terms in SPRINGS.items():
        add(f'linear+{name}', (*LAWS['linear'], *terms))
    springs = _springs(candidates)
    beside = f'+{springs}' if springs else ''
    plain, terms = f'linear{beside}', SPRINGS.get(springs, ())
    if springs:
        search.reweigh((*LAWS['linear'], *terms))
        add(plain, (*LAWS['linear'], *terms))
    for name in SIMPLE:
        add(f'{name}{beside}', (*LAWS[name], *terms), finer=name == 'smooth')
    smooth = candidates.get(f'smooth{beside}')
    if smooth is not None and smooth.beats(candidates[plain]):
        turned = [{'smoothing': shape['smoothing']} for shape in smooth.fit.shapes]
        for name in REFINED:
            add(f'{name}{beside}', (*LAWS[name], *terms), known=turned)
    best = sorted(candidates, key=lambda name: _error(candidates[name]))
    # A small load would imitate any friction.
    count = LOADED * search.carries_load(candidates[plain].fit)
    for name in list(dict.fromkeys([plain, *best]))[:count]:
        fit = candidates[name].fit
        add(f'{name}+load', (*fit.terms, 'load'), known=fit.shapes, start=fit)
    return candidates


def _springs(candidates: Mapping[str, _Candidate]) -> str:
    """Return the name of the springs that the joints have; '' for none."""
    plain = candidates['linear']
    better = [
        name
        for name in SPRINGS
        if f'linear+{name}' in candidates and candidates[f'linear+{name}'].beats(plain, FOUR)
    ]
    if len(better) < 2:
        return ''.join(better)
    first, last = better
    return last if candidates[f'linear+{last}'].beats(candidates[f'linear+{first}']) else first


def _as_well_without_springs(free: FrictionSearch, chosen: _Candidate) -> bool:
    """Return True if other masses explain the recording as well as the springs of a law do."""
    terms = tuple(term for term in chosen.fit.terms if term not in SPRING_TERMS)
    if len(terms) == len(chosen.fit.terms):
        return False
    fit = chosen.fit
    return not chosen.beats(_Candidate.of(free, terms, known=fit.shapes, load=fit.load))


def _error(candidate: _Candidate) -> float:
    return np.inf if candidate.held_out is None else candidate.held_out.mean


def _table(candidates: Mapping[str, _Candidate]) -> Iterator[FrictionCandidate]:
    reference = next(iter(candidates.values()))
    square = np.sum(reference.fit.residuals**2)
    for name, each in candidates.items():
        error = np.nan
        if each.held_out is not None and reference.held_out is not None:
            error = float(np.sqrt(each.held_out.mean / reference.held_out.mean))
        residual = float(np.sqrt(np.sum(each.fit.residuals**2) / square))
        yield FrictionCandidate(name, len(each.fit.terms), error, residual)


def _describe_law(
    search: FrictionSearch,
    fit: LawFit,
    friction: FrictionModel,
    body: DynamicModel,
    base: BaseParameters,
    options: IdentifyOptions,
) -> tuple[dict[str, object], int]:
    """Return the description of a law with its coefficients, and the number of iterations."""
    given = _read_shapes(friction)
    fit = search.fit(fit.terms, known=given, start=fit, finer=True)
    load: dict[str, object] = {}
    loops = fit.loops
    if fit.load is not None:
        values = _load_values(search, fit, body, base, options)
        torque = np.abs(search.sample.rigid @ (base.grouping @ values))
        fit = search.fit(fit.terms, known=given, start=fit, finer=True, load=torque)
        load, loops = {'load': values.tolist()}, loops + fit.loops
    shapes = {name: list(map(float, values)) for name, values in fit.coefficients.items()}
    return {'terms': list(fit.terms), **shapes, **load}, loops


def _load_values(
    search: FrictionSearch,
    fit: LawFit,
    body: DynamicModel,
    base: BaseParameters,
    options: IdentifyOptions,
) -> Array:
    """Return parameters (p,) of the body that loads the gears, consistent if it has links."""
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
    if choice.springs_or_masses:
        yield finding('springs_or_masses')
    if choice.doubt:
        yield finding('friction_chosen.undetermined', law=choice.law, reason=choice.doubt)
        return
    others = [each for each in choice.candidates if each.name != choice.law]
    others.sort(key=lambda each: each.error)
    yield finding(
        'friction_chosen.automatic',
        law=choice.law,
        count=len(choice.candidates),
        error=by_name[choice.law].error,
        smallest=', '.join(f'{each.name} {each.error:.3f}' for each in others[:4]),
    )
