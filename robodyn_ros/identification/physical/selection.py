# SPDX-License-Identifier: Apache-2.0
"""Choice of the exported estimate: how strong the prior is, and whether links must be possible.

Held-out errors decide (`fit.choice`). The candidates, from the simplest: consistent robots with
ever weaker priors, and the same with friction and rotor inertias that were fitted again. The
unconstrained estimate must be better than the chosen one by four standard errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import lsq_linear

from robodyn_ros.errors import IdentificationError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.factors.condense import Condensed, JointFactor
from robodyn_ros.identification.fit.choice import (
    FOUR,
    INDEPENDENT,
    HeldOut,
    doubt,
    gains,
    is_better,
    simplest,
)
from robodyn_ros.identification.fit.folds import Folds, sum_squared_errors
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.options import IdentifyOptions, Prior
from robodyn_ros.identification.physical.chosen_estimate import EstimateKind, Selection
from robodyn_ros.identification.physical.completion import Completion
from robodyn_ros.identification.physical.consistency import bodies_of, is_consistent
from robodyn_ros.identification.physical.semidefinite import (
    WEAKEST,
    WEIGHTS,
    Data,
    Problem,
    fit_consistent,
    residual_sigma,
    starting_prior,
    weigh_rows,
)
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel

CONTRADICTED = 1.1
"""Ratio of the RMS error with a requirement (consistent body, prior, friction law) to that
without. Above this ratio the recording contradicts the requirement."""

_APPARENT = '.viscous_friction'
"""Suffix of viscous friction terms. A torque delay can make them negative, because its torque
error is proportional to velocity too."""


def choose(
    model: DynamicModel,
    base: BaseParameters,
    condensed: Condensed,
    fit: Estimate,
    completion: Completion,
    options: IdentifyOptions,
) -> tuple[Completion, Selection]:
    """Choose the estimate to export.

    With `options.consistent` 'auto' held-out errors choose among consistent robots, consistent
    links with joints that were fitted again, and the unconstrained estimate. Viscous friction then
    has no limits: with a delay it is an apparent value. Other friction never drives a joint. Rotor
    inertias are not negative: on a slow motion a negative one stands in for a spring or a delay,
    and its torque is wrong by the square of the speed on faster ones.
    """
    if options.consistent == 'no' and options.ridge is None:
        return completion, Selection()
    trial = _FoldedFit.of(model, base, condensed, _sigma(condensed, fit, options), options)
    if options.ridge is not None:
        drawn, selection = trial.regularise(options.ridge)
        possible = is_consistent(model, drawn)
        return (
            replace(completion, values=drawn, physically_consistent=possible, findings=()),
            selection,
        )
    if not bodies_of(model).links:
        return _without_links(completion, options), Selection()
    try:
        free = options.consistent == 'auto'
        values, selection = trial.consistent(links=free, reweigh=options.estimator != 'ols')
    except IdentificationError as error:
        if completion.physically_consistent and options.consistent == 'auto':
            return completion, Selection()
        refused = finding('not_physically_consistent.unconstrained', reason=error)
        return replace(completion, findings=(refused,)), Selection()
    if values is None:
        return completion, selection
    possible, findings = is_consistent(model, values), tuple(_apparent_findings(model, values))
    chosen = replace(completion, values=values, physically_consistent=possible, findings=findings)
    return chosen, selection


def _without_links(completion: Completion, options: IdentifyOptions) -> Completion:
    """Say that a consistent estimate was asked for where there is nothing to be consistent."""
    if options.consistent == 'auto':
        return completion
    without = finding('consistency_without_links')
    return replace(completion, findings=(*completion.findings, without))


def _sigma(condensed: Condensed, fit: Estimate, options: IdentifyOptions) -> Array:
    """Return the residual standard deviations (n,) that weigh joints; equal with OLS."""
    sigma = residual_sigma(condensed.merge(), fit.values)
    return np.full_like(sigma, np.sqrt(np.mean(sigma**2))) if options.estimator == 'ols' else sigma


def _apparent_findings(model: DynamicModel, values: Array) -> Iterator[Finding]:
    """Yield a finding on viscous friction that came out negative."""
    driving = [
        parameter.name
        for parameter, value in zip(model.parameters, values, strict=True)
        if _APPARENT in parameter.name and value < 0.0
    ]
    if driving:
        yield finding('negative_friction', parameters=', '.join(driving))


@dataclass(frozen=True)
class _FoldedFit:
    """A recording to be fitted by consistent robots, and its folds to test them on."""

    problem: Problem
    factors: tuple[JointFactor, ...]
    sigma: Array
    folds: Folds | None
    prior: Prior

    @classmethod
    def of(
        cls,
        model: DynamicModel,
        base: BaseParameters,
        condensed: Condensed,
        sigma: Array,
        options: IdentifyOptions,
    ) -> _FoldedFit:
        prior, known = starting_prior(model, options.prior)
        folds = Folds.of_sample(condensed.sample.few(), sigma)
        if folds is not None and folds.independent < INDEPENDENT:
            folds = None
        return cls(
            problem=Problem.of(model, base, prior),
            factors=condensed.merge(),
            sigma=sigma,
            folds=folds,
            prior='urdf' if known else 'none',
        )

    def regularise(self, weight: float) -> tuple[Array, Selection]:
        """Return the estimate (p,) that is regularised towards the prior without constraints."""
        draw, grouping = self.problem.draw, self.problem.grouping
        weights = (weight,) if weight else self.weights
        errors = self._held_out(
            lambda data: [*(grouping @ draw(data, each) for each in weights), data.values]
        )
        data = Data.of(self.factors, len(grouping), self.sigma)
        if errors:
            chosen = simplest(errors[:-1])
        else:
            chosen = self._not_contradicted([draw(data, each) for each in weights])
        values = draw(data, weights[chosen])
        return values, self._selection('ridge', weights[chosen], errors, chosen, values)

    def consistent(self, *, links: bool, reweigh: bool) -> tuple[Array | None, Selection]:
        """Return the consistent estimate (p,), its prior as strong as held-out errors allow."""
        weights, problem = self.weights, self.problem
        errors = self._held_out(self._candidates)

        def fit(weight: float) -> Array:
            return fit_consistent(problem, self.factors, self.sigma, weight, reweigh=reweigh)

        if errors:
            chosen = simplest(errors[: len(weights) * (1 + links)])
            driven = simplest(errors[2 * len(weights) : -1]) + 2 * len(weights)
        else:
            chosen = self._not_contradicted([fit(each) for each in weights])
        weight = weights[chosen % len(weights)]
        values = fit(weight)
        selection = self._selection('consistent', weight, errors, chosen, values)
        # What negative rotor inertias explain as well is no evidence against the links.
        if (
            links
            and errors
            and all(is_better(errors[each], errors[-1], FOUR) for each in (chosen, driven))
        ):
            return None, replace(selection, estimate='unconstrained')
        if chosen >= len(weights):
            data = Data.of(self.factors, len(problem.grouping), self.sigma)
            values = refit_joints(problem, data, values)
            growth = self._growth(errors[chosen], values)
            selection = replace(selection, estimate='consistent_links', growth=growth)
        return values, selection

    def _not_contradicted(self, fits: Sequence[Array]) -> int:
        """Return the strongest weight that the recording does not contradict, by its index.

        Where nothing can be left out, the residual bounds what a wrong prior costs (discrepancy
        principle; Morozov, "On the solution of functional equations by the method of
        regularization", 1966). Of the square of the noise, a fit of n unknowns to m independent
        samples leaves 1 - n / m: half of it, or less, where there are fewer than `INDEPENDENT`.

        :param fits: parameters (p,) for each of the weights, the strongest first
        """
        excess = np.array([self._excess(values) for values in fits])
        left = 1.0 - 1.0 / INDEPENDENT
        return int(np.argmax(left * excess**2 <= excess[-1] ** 2))

    @property
    def weights(self) -> tuple[float, ...]:
        """Weights of the prior to choose from, the strongest first."""
        return WEIGHTS if self.prior == 'urdf' else WEIGHTS[-1:]

    def _candidates(self, data: Data) -> list[Array]:
        """Return base values of all candidates."""
        problem = self.problem
        solved = [problem.solve(data, weight) for weight in self.weights]
        refitted = [
            refit_joints(problem, data, values, free_rotors=free)
            for free in (False, True)
            for values in solved
        ]
        return [*(problem.grouping @ values for values in (*solved, *refitted)), data.values]

    def _selection(
        self,
        kind: EstimateKind,
        weight: float,
        errors: Sequence[HeldOut],
        chosen: int,
        values: Array,
    ) -> Selection:
        """Return what was chosen; the last of the candidates is the unconstrained estimate."""
        unseen = [np.nan] * 2
        if self.folds is not None and errors:  # as shares of the torque
            size = max(self.folds.torque_square, 1e-300)
            unseen = [float(np.sqrt(errors[k].mean / size)) for k in (chosen, -1)]
        return Selection(
            estimate=kind,
            prior=self.prior,
            prior_weight=weight,
            unseen_error=unseen[0],
            unseen_error_unconstrained=unseen[1],
            excess=self._excess(values),
            growth=self._growth(errors[chosen] if errors else None, values),
            doubt=doubt(errors[:-1], chosen) if len(self.weights) > 1 else '',
        )

    def _growth(self, error: HeldOut | None, values: Array) -> float:
        """Return the held-out error over that of parameters (p,) on all samples, at least 1."""
        if error is None or self.folds is None:
            return float(np.sqrt(INDEPENDENT))
        base_values = (self.problem.grouping @ values)[None]
        seen = tuple(
            np.array([sum_squared_errors(base_values, gram)[0] for gram in plain])
            for plain in self.folds.plain
        )
        gain, _ = gains(error, HeldOut(seen, self.folds.samples))
        return float(np.exp(0.5 * max(float(gain.mean()), 0.0)))

    def _held_out(self, fit: Callable[[Data], list[Array]]) -> list[HeldOut]:
        """Return errors of candidates, each on the fold that it has not seen; [] without folds."""
        if self.folds is None:
            return []
        return self.folds.held_out(lambda gram: np.array(fit(Data.of_normal(gram))))

    def _excess(self, values: Array) -> float:
        """Return the weighted residual of parameter values over that of least squares."""
        width = len(self.problem.grouping)
        matrix, target = weigh_rows(self.factors, width, self.sigma)
        least = Data.of(self.factors, width, self.sigma).values
        size, smallest = (
            np.linalg.norm(matrix @ base_values - target)
            for base_values in (self.problem.grouping @ values, least)
        )
        return float(size / max(smallest, 1.0))


def make_refit(problem: Problem, selection: Selection) -> Callable[[Array], Array]:
    """Return the function that fits an estimate of the same kind to normal equations.

    :param problem: of the columns of these
    :return: gives base values (1, b) for normal equations of [A | y], see `Folds.held_out`
    """
    weight, grouping = selection.prior_weight, problem.grouping

    def fit(gram: Array) -> Array:
        data = Data.of_normal(gram)
        if selection.estimate == 'unconstrained':
            return data.values[None]
        if selection.estimate == 'ridge':
            return (grouping @ problem.draw(data, weight))[None]
        values = problem.solve(data, weight)
        if selection.estimate == 'consistent_links':
            values = refit_joints(problem, data, values)
        return np.asarray((grouping @ values)[None])

    return fit


def refit_joints(
    problem: Problem, data: Data, values: Array, *, free_rotors: bool = False
) -> Array:
    """Keep the links, fit all else again, limited where no delay makes it negative, (p,).

    :param free_rotors: rotor inertias are not limited either: for a comparison only
    """
    links = [index for _, indices in problem.bodies.links for index in indices]
    others = np.setdiff1d(np.arange(len(values)), links)
    result = np.array(values)
    if not others.size:  # a payload alone; SciPy before 1.12 cannot solve for nothing
        return result
    result[others] = 0.0
    rest = data.triangle @ (data.values - problem.grouping @ result)
    matrix = data.triangle @ problem.grouping[:, others]
    length = np.linalg.norm(matrix, axis=0)
    length[length == 0.0] = 1.0
    bodies = problem.bodies
    limited = [
        index
        for index in (bodies.friction if free_rotors else bodies.not_negative)
        if _APPARENT not in problem.model.parameters[index].name
    ]
    least = np.where(np.isin(others, limited), 0.0, -np.inf)
    most = np.where(np.isin(others, problem.bodies.shares), 1.0, np.inf)
    # Parameters that the recording cannot separate (friction and offset of a joint that turns one
    # way) share their torque: the solver would divide by the rounding errors of the difference.
    matrix = np.vstack([matrix / length, WEAKEST * np.eye(len(others))])
    rest = np.append(rest, np.zeros(len(others)))
    bounds = least * length, most * length
    result[others] = lsq_linear(matrix, rest, bounds, method='bvls').x / length
    return result
