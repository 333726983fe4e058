"""Which estimate is selected: the unconstrained one or that of a robot that can exist.

Least squares follows the recording wherever that leads. What the recording hardly shows comes out
as noise, which other motions make visible: links of negative mass, torques far off. Errors on
stretches of the recording that an estimate has not seen tell how far it may be trusted, and how
strongly the prior should draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import lsq_linear

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.factors.condense import Condensed, JointFactor
from robodyn_ros.identification.findings import finding
from robodyn_ros.identification.fit.cross_validation import unseen_errors
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.options import IdentifyOptions, Prior
from robodyn_ros.identification.physical.completion import Completion
from robodyn_ros.identification.physical.consistency import bodies_of, is_consistent
from robodyn_ros.identification.physical.selected import Selection
from robodyn_ros.identification.physical.semidefinite import (
    WEAKEST,
    Data,
    Problem,
    fit_consistent,
    residual_sigma,
    starting_prior,
    weighted_rows,
)
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Finding

WEIGHTS = (WEAKEST, 1e-3, 1e-2, 1e-1, 1.0)
"""Weights of the prior that cross-validation chooses from."""

DEFAULT_WEIGHT = 1e-3
"""Weight where the recording is too short to cross-validate."""

ALIKE = 1.01
"""Errors on unseen stretches within this factor are alike: then the stronger prior is taken.

Segments of one motion resemble each other, so that a difference of 1 % between errors on them says
nothing about other motions. An unconstrained estimate that is consistent anyway is kept only where
its error is smaller.
"""

WORSE = 1.5
"""From this factor on, the consistent estimate's error on unseen stretches is clearly worse.

Segments of one motion resemble each other, which favours the unconstrained estimate: within the
part of the workspace that it has seen it can be better by a third, and outside it several times
worse. docs/consistency.md has the figures.
"""

CONTRADICTED = 1.1
"""From this factor on, the recording's residual grows too much by asking for consistency."""


_APPARENT = '.viscous_friction'
"""Friction, of both directions or one, that a delay can make negative: what torque lags by goes
with velocity too."""

_SHARED = 1e-6
"""Weight of the size of parameters that are fitted again, against columns of length 1."""


def choose(
    model: DynamicModel,
    base: BaseParameters,
    condensed: Condensed,
    fit: Estimate,
    completion: Completion,
    options: IdentifyOptions,
) -> tuple[Completion, Selection]:
    """Choose the estimate to export.

    With `options.consistent` 'auto' it is the consistent one unless its error on unseen
    stretches is clearly worse, or no better where the unconstrained estimate is consistent
    anyway. Where the recording contradicts every consistent robot (its residual would grow by
    more than a tenth), the links are kept, and rotor inertias, friction and offsets are fitted
    again, rotor inertias and viscous friction without limits: measured at the link, or with a
    delay, they are apparent values. No delay makes other friction drive a joint: it stays limited.

    :param fit: the unconstrained estimate
    :param completion: its standard parameters
    """
    if options.consistent == 'no' and options.ridge is None:
        return completion, Selection()
    trial = _Trial.of(model, base, condensed, _sigma(condensed, fit, options), options)
    if options.ridge is not None:
        values, selection = trial.drawn(options.ridge)
        possible = is_consistent(model, values)
        return (
            replace(completion, values=values, physically_consistent=possible, findings=()),
            selection,
        )
    if not bodies_of(model).links:
        return _without_links(completion, options), Selection()
    try:
        values, selection = trial.consistent(reweigh=options.estimator != 'ols')
        if options.consistent == 'auto' and selection.excess > CONTRADICTED:
            values, selection = trial.consistent_links(values, selection)
    except IdentificationError as error:
        if completion.physically_consistent and options.consistent == 'auto':
            return completion, Selection()
        refused = finding('not_physically_consistent.unconstrained', reason=error)
        return replace(completion, findings=(refused,)), Selection()
    if options.consistent == 'auto' and _keeps_unconstrained(completion, selection):
        return completion, replace(selection, estimate='unconstrained')
    possible, found = is_consistent(model, values), tuple(_apparent_findings(model, values))
    chosen = replace(completion, values=values, physically_consistent=possible, findings=found)
    return chosen, selection


def _without_links(completion: Completion, options: IdentifyOptions) -> Completion:
    """Say that a consistent estimate was asked for where there is nothing to be consistent."""
    if options.consistent == 'auto':
        return completion
    found = finding('consistency_without_links')
    return replace(completion, findings=(*completion.findings, found))


def _sigma(condensed: Condensed, fit: Estimate, options: IdentifyOptions) -> Array:
    """Residual standard deviations (n,) that the estimate weighed joints by: alike with OLS."""
    sigma = residual_sigma(condensed.merged(), fit.values)
    return np.full_like(sigma, np.sqrt(np.mean(sigma**2))) if options.estimator == 'ols' else sigma


def _apparent_findings(model: DynamicModel, values: Array) -> Iterator[Finding]:
    """Whether what had no limits, rotor inertias and viscous friction, is negative."""
    rotors = bodies_of(model).rotors
    negative = [model.parameters[k].name for k in rotors if values[k] < 0.0]
    if negative:
        yield finding('not_physically_consistent.rotors', parameters=', '.join(negative))
    driving = [
        parameter.name
        for parameter, value in zip(model.parameters, values, strict=True)
        if _APPARENT in parameter.name and value < 0.0
    ]
    if driving:
        yield finding('negative_friction', parameters=', '.join(driving))


def _keeps_unconstrained(completion: Completion, selection: Selection) -> bool:
    """Whether the unconstrained estimate is as good as the consistent one."""
    if np.isnan(selection.unseen_error):
        return completion.physically_consistent
    ratio = selection.unseen_error / selection.unseen_error_unconstrained
    return bool(ratio > (1.0 if completion.physically_consistent else WORSE))


@dataclass(frozen=True)
class _Fold:
    """Data with one stretch left out, and the rows of that stretch."""

    seen: Data
    matrix: Array
    target: Array

    @classmethod
    def of(cls, condensed: Condensed, unseen: int, sigma: Array) -> _Fold:
        others = [k for k in range(len(condensed.segments)) if k != unseen]
        rows = weighted_rows(condensed.segments[unseen], condensed.width, sigma)
        return cls(Data.of(condensed.merged(others), condensed.width, sigma), *rows)

    def error(self, base_values: Array) -> float:
        """Mean squared residual on the stretch left out."""
        return float(np.sum((self.matrix @ base_values - self.target) ** 2))


@dataclass(frozen=True)
class _Trial:
    """A recording to be fitted by consistent robots, and its stretches to test them on."""

    problem: Problem
    factors: tuple[JointFactor, ...]
    sigma: Array
    folds: tuple[_Fold, ...]
    prior: Prior

    @classmethod
    def of(
        cls,
        model: DynamicModel,
        base: BaseParameters,
        condensed: Condensed,
        sigma: Array,
        options: IdentifyOptions,
    ) -> _Trial:
        prior, known = starting_prior(model, options.prior)
        count = len(condensed.segments)
        return cls(
            problem=Problem.of(model, base, prior),
            factors=condensed.merged(),
            sigma=sigma,
            folds=tuple(_Fold.of(condensed, k, sigma) for k in range(count) if count > 1),
            prior='urdf' if known else 'none',
        )

    def consistent(self, *, reweigh: bool) -> tuple[Array, Selection]:
        """Consistent estimate (p,), its prior as strong as cross-validation favours."""
        weight, error = DEFAULT_WEIGHT if self.prior == 'urdf' else WEAKEST, float('nan')
        if self.folds:
            weight, error = self._best_weight(self.problem.solve)
        values = fit_consistent(self.problem, self.factors, self.sigma, weight, reweigh=reweigh)
        selection = Selection(
            estimate='consistent',
            prior=self.prior,
            prior_weight=weight,
            unseen_error=error,
            unseen_error_unconstrained=self._unseen_error(lambda data: data.values),
            excess=self._excess(values),
        )
        return values, selection

    def consistent_links(self, values: Array, selection: Selection) -> tuple[Array, Selection]:
        """Keep the links of a consistent estimate, all else is fitted again (`refit_joints`)."""
        problem, weight = self.problem, selection.prior_weight
        error = self._unseen_error(
            lambda data: (
                problem.grouping @ refit_joints(problem, data, problem.solve(data, weight))
            )
        )
        data = Data.of(self.factors, len(self.problem.grouping), self.sigma)
        found = replace(selection, estimate='consistent_links', unseen_error=error)
        return refit_joints(self.problem, data, values), found

    def drawn(self, weight: float) -> tuple[Array, Selection]:
        """Return the estimate (p,) that is regularised towards the prior without constraints.

        :param weight: of the prior; 0: chosen by cross-validation
        """
        error = float('nan')
        if not weight:
            weight = DEFAULT_WEIGHT
            if self.folds:
                weight, error = self._best_weight(self.problem.draw)
        data = Data.of(self.factors, len(self.problem.grouping), self.sigma)
        return self.problem.draw(data, weight), Selection(
            estimate='ridge',
            prior=self.prior,
            prior_weight=weight,
            unseen_error=error,
            unseen_error_unconstrained=self._unseen_error(lambda data: data.values),
        )

    def _best_weight(self, solve: Callable[[Data, float], Array]) -> tuple[float, float]:
        """Strongest prior whose error on unseen stretches is as good as the best, its error."""
        errors: list[float] = []
        weights = WEIGHTS if self.prior == 'urdf' else WEIGHTS[:1]
        for weight in weights:  # from the weakest up, until it draws too much
            errors.append(self._unseen_error(partial(self._base_values, solve, weight)))
            if errors[-1] > ALIKE * min(errors):
                break
        chosen = max(k for k, error in enumerate(errors) if error <= ALIKE * min(errors))
        return weights[chosen], errors[chosen]

    def _base_values(
        self, solve: Callable[[Data, float], Array], weight: float, data: Data
    ) -> Array:
        base_values: Array = self.problem.grouping @ solve(data, weight)
        return base_values

    def _unseen_error(self, fit: Callable[[Data], Array]) -> float:
        """RMS error of fits, each on the segment that it has not seen; NaN without segments.

        :param fit: gives base values (b,)
        """
        if not self.folds:
            return float('nan')
        errors = unseen_errors(
            len(self.folds),
            lambda fold: fit(self.folds[fold].seen),
            lambda values, fold: self.folds[fold].error(values),
        )
        return float(np.sqrt(np.mean(errors)))

    def _excess(self, values: Array) -> float:
        """Residual of parameter values over that of least squares, all joints weighted.

        The smallest is 1 by the definition of sigma, except where sigma is a floor.
        """
        width = len(self.problem.grouping)
        matrix, target = weighted_rows(self.factors, width, self.sigma)
        least = Data.of(self.factors, width, self.sigma).values
        size, smallest = (
            np.linalg.norm(matrix @ base_values - target)
            for base_values in (self.problem.grouping @ values, least)
        )
        return float(size / max(smallest, 1.0))


def refit_joints(problem: Problem, data: Data, values: Array) -> Array:
    """Keep the links, fit all else again, limited where no delay makes it negative, (p,)."""
    links = [index for _, own in problem.bodies.links for index in own]
    others = np.setdiff1d(np.arange(len(values)), links)
    result = np.array(values)
    if not others.size:  # a payload alone; SciPy before 1.12 cannot solve for nothing
        return result
    result[others] = 0.0
    rest = data.triangle @ (data.values - problem.grouping @ result)
    matrix = data.triangle @ problem.grouping[:, others]
    length = np.linalg.norm(matrix, axis=0)
    length[length == 0.0] = 1.0
    limited = [
        index
        for index in problem.bodies.friction
        if _APPARENT not in problem.model.parameters[index].name
    ]
    least = np.where(np.isin(others, limited), 0.0, -np.inf)
    # What the recording does not tell apart (friction and offset of a joint that turns one way)
    # is shared: the solver itself would divide by the rounding errors of their difference.
    matrix = np.vstack([matrix / length, _SHARED * np.eye(len(others))])
    rest = np.append(rest, np.zeros(len(others)))
    result[others] = lsq_linear(matrix, rest, (least, np.inf), method='bvls').x / length
    return result
