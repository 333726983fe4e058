"""From a recording to an identified model: the steps in their order.

Signals are filtered and differentiated (`processing`), condensed to one triangular factor per
joint (`condense`), fitted (`estimators`), and completed to all standard parameters (`completion`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

import numpy as np
from threadpoolctl import threadpool_limits

from robodyn_ros.errors import InsufficientData
from robodyn_ros.identification.diagnosis.case import Case
from robodyn_ros.identification.diagnosis.diagnose import diagnose
from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.factors.passes import (
    SAMPLES_PER_COLUMN,
    Progress,
    condensed_parts,
    phase_of,
)
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.fit.time_offset import offset_findings, offsets_of
from robodyn_ros.identification.fit.torque_errors import evaluate_all, residual_ratio
from robodyn_ros.identification.fit.uncertainty import torque_uncertainty
from robodyn_ros.identification.fit.weighting import fit_condensed, reweighing
from robodyn_ros.identification.friction.law_selection import friction_findings, settled_friction
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.completion import (
    Completion,
    complete,
    parameter_stddevs,
    seen_and_prior,
)
from robodyn_ros.identification.physical.named_parameters import named_parameters
from robodyn_ros.identification.physical.selection import choose, selection_findings
from robodyn_ros.identification.result import (
    FitReport,
    FrictionChoice,
    IdentificationResult,
    Selection,
    Signals,
)
from robodyn_ros.identification.signals.moving_samples import options_for
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.segments import Stretches, stretches_of
from robodyn_ros.identification.signals.torque_shift import TimeOffset
from robodyn_ros.models.base_parameters import BaseParameters, base_parameters
from robodyn_ros.models.closed_forms.closed_form import closed_form_part
from robodyn_ros.models.friction import open_friction
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Finding, Recording

ILL_CONDITIONED = 1e4
"""Condition number (columns scaled) from which on a result is warned about."""

FEWEST_SAMPLES = 0.8
"""Share of the samples needed below which a result fails. A Panda's 17 s with 0.9 of them gave an
error of 3.7 % on its next 7 s, and of 3.1 % where fitted."""

WEAKLY_DETERMINED = 0.3
"""Expected uncertainty of a joint's torque on other motions from which on it is warned about."""


def identify(
    recording: Recording,
    model: DynamicModel,
    *,
    options: IdentifyOptions | None = None,
    validation: Recording | None = None,
    progress: Progress | None = None,
) -> IdentificationResult:
    """Identify a model's parameters from a recording; joints are matched by name.

    One that must not be used has `success` false and findings that say why, the cause first;
    where there is too little to estimate anything, all its values are NaN (`has_estimate`).

    :param validation: another recording, on which the identified model is only tested
    :param progress: called with phase ('condense', 'evaluate' or 'validate') and share done
    :raises RobodynError: a joint is not in a recording, or an option that cannot be used
    """
    options = options_for(model, options or IdentifyOptions())
    try:
        # Matrices are small: where others use the cores, threads that wait for each other take
        # ten times as long.
        with threadpool_limits(limits=1, user_api='blas'):
            return _identified(recording, model, options, validation, progress)
    except InsufficientData as error:
        return IdentificationResult.failed(recording, model, options, str(error))


def _identified(
    recording: Recording,
    model: DynamicModel,
    options: IdentifyOptions,
    validation: Recording | None,
    progress: Progress | None,
) -> IdentificationResult:
    """The steps in their order."""
    clock, source = _Clock(), recording.source
    with clock.step('total'):
        with clock.step('process'):
            raw = stretches_of(recording, model.joint_names, options)
        with clock.step('friction'):
            model, friction = _settled(model, raw, options)
        with clock.step('base_parameters'):
            base = base_parameters(model)
        with clock.step('time_offset'):
            offsets = offsets_of(model, base, raw.shown, options)
            parts = raw.corrected(offsets)
            signals = parts.shown
        with clock.step('condense'):
            condensed = condensed_parts(model, parts, base, options, progress)
        prior, shown = _prior(model, options), phase_of(progress, 'evaluate')
        with clock.step('estimate'):
            weigh = reweighing(model, parts, base, options, progress)
            fitted = fit_condensed(condensed, options, weigh)
            fit, weighted = fitted.fit, fitted.weighted
            seen = seen_and_prior(fit, base, prior)
        with clock.step('complete'):
            completion = complete(model, base, seen, fit.covariance, prior)
            plain = completion.values
        with clock.step('choose'):
            completion, chosen = choose(model, base, weighted, fit, completion, options)
            error = fit.error_of(base.values(completion.values))
            completion = replace(completion, stddevs=parameter_stddevs(base, error))
        with clock.step('evaluate'):
            values = completion.values
            report, predicted = evaluate_all(model, values, parts, source=source, progress=shown)
            share = 1.0
            if chosen.estimate != 'unconstrained':
                share = residual_ratio(model, plain, signals, predicted)
            residual = share * report.relative_residual
            selection = replace(chosen, unconstrained_residual=residual)
        with clock.step('uncertainty'):
            uncertainty = torque_uncertainty(model, base, fit, signals)
        with clock.step('validate'):
            tested = _validate(model, completion, validation, offsets, options, progress)
            checked, untested = tested
        with clock.step('diagnose'):
            facts = (base, condensed, completion.values, report.max_relative_torque_error)
            causes = diagnose(Case(parts.recording, model, options, raw.shown, *facts))
            told = (
                *parts.findings(),
                *fitted.findings,
                *untested,
                *offset_findings(offsets, model, recording.period),
            )
    found = (error, completion, selection, uncertainty, report, checked, causes, told, predicted)
    steps = _Steps(signals, base, condensed, fit, *found, friction)
    return _result(recording, model, options, steps, clock.timings)


@dataclass(frozen=True)
class _Steps:
    """What the steps produced.

    :param error: mean squared error (b, b) of the base values that are exported
    """

    signals: Processed
    base: BaseParameters
    condensed: Condensed
    fit: Estimate
    error: Array
    completion: Completion
    selection: Selection
    uncertainty: Array
    report: FitReport
    validation: FitReport | None
    causes: tuple[Finding, ...]
    told: tuple[Finding, ...]
    predicted: Array
    friction: FrictionChoice | None = None


@dataclass
class _Clock:
    """Wall-clock time of each step, in [s]."""

    timings: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.timings[name] = time.perf_counter() - start


def _settled(
    model: DynamicModel, raw: Stretches, options: IdentifyOptions
) -> tuple[DynamicModel, FrictionChoice | None]:
    """Complete the friction of a model, on torque that belongs to its motion.

    Late torque has its jumps where the velocity is not zero any more, which would look like
    another law.
    """
    if open_friction(model) is None:
        return model, None
    offsets = offsets_of(model, base_parameters(model), raw.shown, options)
    return settled_friction(model, raw.corrected(offsets).shown, options)


def _prior(model: DynamicModel, options: IdentifyOptions) -> Array:
    """Values to complete the parameters near, shape (p,); NaN where nothing is known.

    What the description of a closed-form model gives is known, whatever a URDF is worth.
    """
    prior = model.prior()
    if options.prior == 'none' and closed_form_part(model) is None:
        return np.zeros(len(prior))
    return prior


def _validate(
    model: DynamicModel,
    completion: Completion,
    validation: Recording | None,
    offsets: dict[int, TimeOffset],
    options: IdentifyOptions,
    progress: Progress | None,
) -> tuple[FitReport | None, tuple[Finding, ...]]:
    """Torque errors on another recording, processed by the same rules as the first.

    Offsets in time are those of the first: they are the measurement's. One that is too short is
    a finding.
    """
    if validation is None:
        return None, ()
    try:
        other = stretches_of(validation, model.joint_names, options).corrected(offsets)
    except InsufficientData as error:
        text = f'the model could not be tested on the validation recording: {error}'
        return None, (Finding('validation_too_short', text, severity='error'),)
    report, _ = evaluate_all(
        model,
        completion.values,
        other,
        source=validation.source,
        progress=phase_of(progress, 'validate'),
    )
    return report, ()


def _result(
    recording: Recording,
    model: DynamicModel,
    options: IdentifyOptions,
    steps: _Steps,
    timings: dict[str, float],
) -> IdentificationResult:
    findings = _distinct(
        (
            *steps.causes,
            *recording.findings,
            *steps.signals.findings,
            *_data_findings(steps),
            *_reach_findings(steps),
            *fit_findings(steps.report, options, steps.signals.joints),
            *steps.completion.findings,
            *steps.told,
            *selection_findings(steps.selection, steps.report.relative_residual),
            *friction_findings(steps.friction),
        )
    )
    kept = Signals(steps.signals, steps.predicted, recording.origin)
    return IdentificationResult(
        success=not any(item.severity == 'error' for item in findings),
        model=model,
        values=steps.completion.values,
        stddevs=steps.completion.stddevs,
        base_expressions=steps.base.expressions,
        base_units=steps.base.units,
        base_values=steps.base.values(steps.completion.values),
        base_stddevs=np.sqrt(np.diag(steps.error)),
        torque_uncertainty=steps.uncertainty,
        condition_number=steps.fit.condition_number,
        condition_number_scaled=steps.fit.condition_number_scaled,
        identification=steps.report,
        validation=steps.validation,
        findings=findings,
        estimator=options.estimator,
        filter_cutoff=steps.signals.cutoff,
        max_relative_error=options.max_relative_error,
        physically_consistent=steps.completion.physically_consistent,
        selection=steps.selection,
        raw_samples=len(recording),
        date=datetime.now(timezone.utc).isoformat(timespec='seconds'),
        timings=timings,
        named=named_parameters(model, steps.completion.values, steps.base, steps.error),
        completion_rule=steps.completion.rule,
        signals=kept if options.keep_signals else None,
        friction=steps.friction,
    )


def _data_findings(steps: _Steps) -> Iterator[Finding]:
    """Whether the recording determines the parameters."""
    frozen = {item.joint for item in steps.signals.findings if item.code == 'frozen_joint'}
    for name, factor in zip(steps.condensed.joints, steps.condensed.merged(), strict=True):
        needed = SAMPLES_PER_COLUMN * len(factor.columns)
        if factor.samples < needed and name not in frozen:
            yield Finding(
                code='too_few_samples',
                joint=name,
                text=f'joint {name} has {factor.samples} independent moving samples, at least '
                f'{needed} are needed for the {len(factor.columns)} parameters that act on it: '
                f'record longer or move faster',
                severity='error' if factor.samples < FEWEST_SAMPLES * needed else 'warning',
            )
    unseen = steps.fit.unseen
    if unseen.shape[1]:
        share = np.abs(unseen).max(axis=1)
        order = [k for k in np.argsort(-share, kind='stable') if share[k] > 0.05]
        shown = ', '.join(steps.base.expressions[k] for k in order[:5])
        more = f' and {len(order) - 5} more' if len(order) > 5 else ''
        named = zip(steps.condensed.joints, steps.condensed.merged(), strict=True)
        felt = [name for name, factor in named if np.isin(factor.columns, order).any()]
        yield Finding(
            code='rank_deficient',
            text=f'the motion leaves {unseen.shape[1]} of {steps.base.rank} parameter '
            f'combinations undetermined, which act on {", ".join(felt)}, among these '
            f'parameters: {shown}{more}: use a motion in which these joints move otherwise',
            severity='error',
        )
    elif steps.fit.condition_number_scaled > ILL_CONDITIONED:
        yield Finding(
            code='ill_conditioned',
            text=f'the motion hardly tells some parameters apart (condition number '
            f'{steps.fit.condition_number_scaled:.3g} with scaled columns, below '
            f'{ILL_CONDITIONED:.0e} is expected): use a richer motion',
        )


def _reach_findings(steps: _Steps) -> Iterator[Finding]:
    """Whether the estimate will hold on another motion."""
    for name, share in zip(steps.signals.joints, steps.uncertainty, strict=True):
        if share > WEAKLY_DETERMINED:
            yield Finding(
                code='weakly_determined',
                joint=name,
                text=f'on other motions the torque of joint {name} is expected to be uncertain by '
                f'{share:.0%}: this recording hardly shows some of its parameters, move it '
                f'faster or farther',
            )


def fit_findings(
    report: FitReport, options: IdentifyOptions, joints: tuple[str, ...]
) -> Iterator[Finding]:
    """Success condition of softMC, joint by joint."""
    errors = report.max_relative_torque_error
    for name, error, moving in zip(joints, errors, report.moving_samples, strict=True):
        if moving and not error <= options.max_relative_error:
            yield Finding(
                code='relative_error_too_large',
                joint=name,
                text=f'the largest torque error of joint {name} is {percent(error)} of its '
                f'largest torque, at most {percent(options.max_relative_error)} is allowed',
                severity='error',
            )


def percent(share: float) -> str:
    """Share as percentage, of four digits at most."""
    return f'{100.0 * share:.4g}%'


def _distinct(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """One finding per code and joint: the most severe, the later of equals."""
    rank = {'info': 0, 'warning': 1, 'error': 2}
    best: dict[tuple[str, str], Finding] = {}
    for item in findings:
        key = (item.code, item.joint)
        if key not in best or rank[item.severity] >= rank[best[key].severity]:
            best[key] = item
    return tuple(best.values())
