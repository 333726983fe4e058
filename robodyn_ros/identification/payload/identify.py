"""Identification with a payload: the arm's parameters stay, only the payload is estimated.

softMC document, "Identification with a Payload": first a run without payload, then one with it.
What the arm's identified parameters do not explain of the second run's torque is the payload's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from robodyn_ros.errors import IdentificationError, InsufficientData, ModelError
from robodyn_ros.identification.diagnosis.case import Case
from robodyn_ros.identification.diagnosis.diagnose import diagnose_payload
from robodyn_ros.identification.factors.condense import Condensed, JointFactor
from robodyn_ros.identification.factors.passes import Progress, condensed_signals
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.fit.least_squares import ESTIMATORS, Estimate, Estimator, estimate
from robodyn_ros.identification.fit.torque_errors import correlation_length, evaluate
from robodyn_ros.identification.fit.uncertainty import torque_uncertainty
from robodyn_ros.identification.gears.double_encoder import without_residual
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.payload.findings import (
    base_findings,
    body_findings,
    data_findings,
    scalar_findings,
    seen_findings,
    softened,
)
from robodyn_ros.identification.physical.completion import complete
from robodyn_ros.identification.physical.consistency import is_consistent
from robodyn_ros.identification.physical.selection import choose
from robodyn_ros.identification.physical.semidefinite import weighted_rows
from robodyn_ros.identification.pipeline import fit_findings
from robodyn_ros.identification.result import (
    FitReport,
    IdentificationResult,
    IdentifiedModel,
    IdentifiedPayload,
    Selection,
    Signals,
)
from robodyn_ros.identification.signals.moving_samples import options_for
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.base_parameters import BaseParameters, base_parameters, grouped
from robodyn_ros.models.catalog import model_hash
from robodyn_ros.models.friction import body_of, open_friction
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import Payload, PayloadModel
from robodyn_ros.recording.recording import Finding, Recording

SEEN = 1e-3
"""A parameter's column must be new to the others by this share to be told from them: a smaller
share means a standard deviation a thousand times that of a well seen parameter."""


def load_base(path: str | Path, model: DynamicModel | None = None) -> IdentifiedModel:
    """Read the result of the run without payload.

    :param path: result file
    :param model: the model meant, if another than the file's is possible
    :raises IdentificationError: no path, no result file, or the result of another model
    """
    if not str(path):
        raise IdentificationError(
            'a payload is identified on top of the parameters of the arm: name the result file '
            'of a run without payload as base result'
        )
    base = load_identified_model(path)
    if model is None:
        return base
    if base.model.joint_names != model.joint_names:
        raise IdentificationError(
            f'the base result {path} is of a robot with the joints {list(base.joints)}, expected '
            f'{list(model.joint_names)}'
        )
    meant = base.model
    if open_friction(model) is not None:  # any friction of the same robot will do
        meant, model = body_of(meant), body_of(model)
    if model_hash(meant) != model_hash(model):
        raise IdentificationError(
            f'the base result {path} is of another model than this one{_difference(base, model)}: '
            f'identify without payload with this model first'
        )
    return base


def _difference(base: IdentifiedModel, model: DynamicModel) -> str:
    ours, theirs = _facts(model.describe()), _facts(base.model.describe())
    keys = [key for key in {**theirs, **ours} if theirs.get(key) != ours.get(key)]
    return f' (other {", ".join(keys)})' if keys else ''


def _facts(description: dict[str, object]) -> dict[str, object]:
    """Keys of a description, those of a sum's parts together."""
    parts = description.get('parts')
    if not isinstance(parts, list):
        return description
    return {
        f'{part["kind"]}.{key}': value for part in parts for key, value in _facts(part).items()
    }


def identify_payload(
    recording: Recording,
    base: IdentifiedModel,
    *,
    frame: str = '',
    options: IdentifyOptions | None = None,
    validation: Recording | None = None,
    progress: Progress | None = None,
) -> IdentificationResult:
    """Identify the payload that a robot carries in a recording.

    The result has the arm's parameters as they are in `base`, in `payload` what was identified,
    and as base parameters the combinations of the payload's parameters that the motion shows.
    Standard deviations contain the arm's own uncertainty, as far as its result tells it. The
    residual torque of the base is taken off recordings that have the motor side, and kept. A
    recording with too little to estimate anything gives a failed result, as `identify`.

    :param frame: URDF robots: link in whose frame the payload is described; default: the last
    :raises ModelError: an arm that cannot carry a payload
    :raises RecordingError: a joint is not in a recording
    :raises IdentificationError: a motion that does not show the payload
    """
    options = options_for(base.model, options or IdentifyOptions())
    _check_estimator(options)
    try:
        return _identified(recording, base, frame, options, validation, progress)
    except InsufficientData as error:
        return IdentificationResult.failed(recording, base.model, options, str(error))


def _identified(
    recording: Recording,
    base: IdentifiedModel,
    frame: str,
    options: IdentifyOptions,
    validation: Recording | None,
    progress: Progress | None,
) -> IdentificationResult:
    """The steps in their order."""
    if base.residual is not None:
        recording = without_residual(recording.select(base.joints), base.residual)
        if validation is not None:
            validation = without_residual(validation.select(base.joints), base.residual)
    model = PayloadModel(arm=base.model, frame=frame)
    signals = process(recording, base.joints, options)
    signals = replace(signals, findings=tuple(softened(signals.findings)))
    source = recording.source
    without, known = evaluate(base.model, base.values, signals, source=source)
    arm = base_parameters(base.model)
    whole = condensed_signals(base.model, signals, arm, options, progress, known=known)
    mixing = arm.grouping @ model.matrix
    seen = _seen(model, _carried(whole.merged(), mixing), signals)
    fit = _fit(base, whole.merged(), mixing[:, seen.columns], signals, model, seen, options)
    condensed = _condensed_payload(whole, mixing[:, seen.columns])
    values, stddevs, selection, found = _values(model, seen, condensed, fit, options)
    payload = Payload(model=model, values=values, stddevs=stddevs)
    loaded = base.values + payload.added
    report, predicted = evaluate(base.model, loaded, signals, source=source)
    facts = IdentifiedPayload(payload, without, base.source, base.hash)
    fitted = (arm, whole, loaded, report.max_relative_torque_error)
    findings = (
        *diagnose_payload(Case(recording, base.model, options, signals, *fitted)),
        *recording.findings,
        *signals.findings,
        *base_findings(base),
        *data_findings(seen, condensed),
        *found,
        *fit_findings(report, options, base.joints),
        *seen_findings(facts, seen, fit, report),
    )
    return _result(
        base, facts, seen, fit, options,
        success=not any(item.severity == 'error' for item in findings),
        torque_uncertainty=torque_uncertainty(model, seen, fit, signals),
        identification=report,
        validation=_validated(base, loaded, validation, options),
        findings=tuple(dict.fromkeys(findings)),
        filter_cutoff=signals.cutoff,
        selection=selection,
        raw_samples=signals.raw_samples,
        signals=Signals(signals, predicted, recording.origin) if options.keep_signals else None,
    )  # fmt: skip


def _check_estimator(options: IdentifyOptions) -> None:
    """Refuse what has no effect on a payload.

    :raises IdentificationError: another estimator than those for payloads
    """
    if options.estimator not in ESTIMATORS or options.ridge is not None:
        raise IdentificationError(
            f'a payload is identified by {" or ".join(ESTIMATORS)}, without ridge'
        )


def _estimator(options: IdentifyOptions) -> Estimator:
    return 'ols' if options.estimator == 'ols' else 'wls'


def _result(
    base: IdentifiedModel,
    facts: IdentifiedPayload,
    seen: BaseParameters,
    fit: Estimate,
    options: IdentifyOptions,
    **others: Any,
) -> IdentificationResult:
    return IdentificationResult(
        model=base.model,
        values=base.values,
        stddevs=base.stddevs,
        base_expressions=seen.expressions,
        base_units=seen.units,
        base_values=seen.values(facts.payload.values),
        base_stddevs=fit.stddevs,
        condition_number=fit.condition_number,
        condition_number_scaled=fit.condition_number_scaled,
        estimator=options.estimator,
        max_relative_error=options.max_relative_error,
        physically_consistent=_is_body(facts.payload),
        date=datetime.now(timezone.utc).isoformat(timespec='seconds'),
        timings={},
        payload=facts,
        residual_of_base=base.residual,
        **others,
    )


def _validated(
    base: IdentifiedModel, loaded: Array, validation: Recording | None, options: IdentifyOptions
) -> FitReport | None:
    if validation is None:
        return None
    try:
        other = process(validation, base.joints, options)
    except InsufficientData as error:
        raise IdentificationError(f'validation: {error}') from error
    return evaluate(base.model, loaded, other, source=validation.source)[0]


def _carried(factors: Sequence[JointFactor], mixing: Array) -> tuple[JointFactor, ...]:
    """Factors of the payload's columns: its regressor is Y_b K M, with Y_b K that of the arm.

    :param mixing: K M or columns of it, shape (b, k)
    """
    columns = np.arange(mixing.shape[1])
    return tuple(
        replace(
            factor,
            columns=columns,
            triangle=np.column_stack(
                [factor.triangle[:, :-1] @ mixing[factor.columns], factor.triangle[:, -1]]
            ),
        )
        for factor in factors
    )


def _condensed_payload(whole: Condensed, mixing: Array) -> Condensed:
    segments = tuple(_carried(part, mixing) for part in whole.segments)
    return replace(whole, width=mixing.shape[1], segments=segments)


def _seen(
    model: PayloadModel, factors: Sequence[JointFactor], signals: Processed
) -> BaseParameters:
    """What this motion shows of the payload, joints weighted by their torque.

    :raises IdentificationError: nothing
    """
    size = np.maximum(np.linalg.norm(signals.measured, axis=0), 1e-12)
    rows = np.vstack([f.triangle[:, :-1] / s for f, s in zip(factors, size, strict=True)])
    length = np.linalg.norm(rows, axis=0)
    length[length < 1e-9 * length.max(initial=1e-300)] = 0.0
    try:
        return grouped(model, rows, length, dependent=SEEN)
    except ModelError as error:
        raise IdentificationError(
            'the payload is not visible in this motion: no joint that moves feels it'
        ) from error


def _fit(
    base: IdentifiedModel,
    whole: Sequence[JointFactor],
    mixing: Array,
    signals: Processed,
    model: PayloadModel,
    seen: BaseParameters,
    options: IdentifyOptions,
) -> Estimate:
    """Least squares, its covariance widened by correlated residuals and the arm's uncertainty.

    :param whole: factors of the arm's base columns
    :param mixing: from the payload's columns that are seen to the arm's, shape (b, k)
    """
    factors = _carried(whole, mixing)
    fit = estimate(factors, seen.rank, estimator=_estimator(options))
    values = np.zeros(len(model.parameters))
    values[seen.columns] = fit.values
    _, predicted = evaluate(
        base.model, base.values + model.matrix @ values, signals, source='recording'
    )
    inflation = correlation_length(
        signals.thinning.apply(signals.measured - predicted),
        signals.used[signals.thinning.centres(len(signals))],
    )
    fit = estimate(factors, seen.rank, estimator=_estimator(options), inflation=inflation)
    spread = _arm_covariance(base, whole, len(mixing), options, inflation)
    rows, _ = weighted_rows(factors, seen.rank, fit.sigma)
    arms, _ = weighted_rows(whole, len(mixing), fit.sigma)
    passed = np.linalg.lstsq(rows, arms, rcond=1e-9)[0]
    return replace(fit, covariance=fit.covariance + passed @ spread @ passed.T)


def _arm_covariance(
    base: IdentifiedModel,
    whole: Sequence[JointFactor],
    width: int,
    options: IdentifyOptions,
    inflation: Array,
) -> Array:
    """Covariance (b, b) of the arm's base values.

    Its result has the standard deviations but not the correlations: these are taken from the
    motion at hand, and where the result has none, the standard deviations too.
    """
    alike = estimate(whole, width, estimator=_estimator(options), inflation=inflation)
    covariance = np.nan_to_num(alike.covariance)
    known = np.array(base.facts.get('base_parameter_stddevs', ()), dtype=float)
    if base.payload is not None or known.shape != (width,) or np.isnan(known).any():
        return covariance
    own = np.sqrt(np.diag(covariance))
    scale = known / np.where(own > 0.0, own, np.inf)
    result: Array = covariance * np.outer(scale, scale)
    return result


def _values(
    model: PayloadModel,
    seen: BaseParameters,
    condensed: Condensed,
    fit: Estimate,
    options: IdentifyOptions,
) -> tuple[Array, Array, Selection, tuple[Finding, ...]]:
    """All parameters of the payload from those seen, and what there is to say about them."""
    if len(model.parameters) == 10:
        completion = complete(
            model, seen, fit.values, fit.covariance, np.zeros(len(model.parameters))
        )
        completion, selection = choose(
            model, seen, condensed, fit, completion, replace(options, prior='none')
        )
        found = tuple(body_findings(model, completion.values, selection))
        return completion.values, completion.stddevs, selection, found
    stddevs = np.full(len(model.parameters), np.nan)
    stddevs[seen.columns] = fit.stddevs
    values = np.zeros(len(model.parameters))
    values[seen.columns] = fit.values
    found = tuple(scalar_findings(model, seen, values, stddevs))
    if not model.products and (values < 0.0).any():
        rows, target = weighted_rows(condensed.merged(), seen.rank, fit.sigma)
        if not any(item.severity == 'error' for item in found):
            values[seen.columns] = nnls(rows, target)[0]
    return values, stddevs, Selection(), found


def _is_body(payload: Payload) -> bool:
    if len(payload.values) == 10:
        return is_consistent(payload.model, payload.values)
    return bool(payload.model.products) or bool((payload.values >= 0.0).all())
