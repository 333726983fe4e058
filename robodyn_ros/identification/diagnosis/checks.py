# SPDX-License-Identifier: Apache-2.0
"""Checks of an estimate: enough samples, observable parameters, torque errors within limits."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from robodyn_ros.findings import SEVERITIES, Finding, finding
from robodyn_ros.identification.factors.condense import SAMPLES_PER_COLUMN, Condensed
from robodyn_ros.identification.factors.joint_fit import ENOUGH, fit_joint, root_mean_square
from robodyn_ros.identification.fit.choice import INDEPENDENT
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.fit.torque_errors import (
    FitReport,
    reference_torque,
    relative_error,
)
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.cutoff import moving_joints
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.processing import standstill_findings, torque_findings
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.recording.recording import Recording

ILL_CONDITIONED = 1e4
"""Condition number (columns scaled) from which on a result is warned about: errors of 0.01 % of
the torque can then change a parameter by its own size."""


def data_findings(
    condensed: Condensed, fit: Estimate, base: BaseParameters, frozen: Collection[str]
) -> Iterator[Finding]:
    """Check that the samples determine the parameters.

    :param frozen: names of joints without a motion or a torque, which have a finding of their own
    """
    for name, factor in zip(condensed.joints, condensed.factors, strict=True):
        needed = SAMPLES_PER_COLUMN * len(factor.columns)
        least = INDEPENDENT * len(factor.columns)
        if factor.samples < needed and name not in frozen:
            yield finding(
                'too_few_samples',
                joint=name,
                severity='error' if factor.samples < least else 'warning',
                samples=factor.samples,
                needed=needed,
                parameters=len(factor.columns),
            )
    unseen = fit.unseen
    if unseen.shape[1]:
        share = np.abs(unseen).max(axis=1)
        order = [k for k in np.argsort(-share, kind='stable') if share[k] > 0.05]
        shown = ', '.join(base.expressions[k] for k in order[:5])
        more = f' and {len(order) - 5} more' if len(order) > 5 else ''
        named = zip(condensed.joints, condensed.factors, strict=True)
        felt = [name for name, factor in named if np.isin(factor.columns, order).any()]
        yield finding(
            'rank_deficient',
            severity='warning' if frozen else 'error',
            missing=unseen.shape[1],
            rank=base.rank,
            joints=', '.join(felt),
            parameters=f'{shown}{more}',
        )
    elif fit.condition_number_scaled > ILL_CONDITIONED:
        condition = fit.condition_number_scaled
        yield finding('ill_conditioned', condition=condition, limit=ILL_CONDITIONED)


def fit_findings(
    report: FitReport, options: IdentifyOptions, model: DynamicModel
) -> Iterator[Finding]:
    """Yield the joints of whose torque the model leaves too much unexplained.

    :param report: of the fit, or of the validation
    """
    limit = percent(options.max_relative_error)
    source, largest = report.source, report.max_relative_torque_error
    for index, error in enumerate(relative_error(report, model)):
        name = model.joint_names[index]
        if not report.moving_samples[index]:
            continue
        if not error <= options.max_relative_error:
            yield finding(
                'relative_error_too_large',
                joint=name,
                error=percent(error),
                limit=limit,
                source=source,
            )
        elif options.success_rule == 'softmc' and not largest[index] <= options.max_relative_error:
            yield finding(
                'relative_error_too_large.softmc',
                joint=name,
                error=percent(largest[index]),
                limit=limit,
                source=source,
            )


def with_stuck(
    signals: Processed,
    report: FitReport,
    model: DynamicModel,
    base: BaseParameters,
    options: IdentifyOptions,
) -> Iterator[Finding]:
    """Make joints at rest errors whose torque says that they moved: their encoders are stuck.

    Yields all findings of the processing. No parameters explain such a torque, and it spoils the
    joints in motion, too. A torque that only the estimate does not explain, beside joints that are
    explained, is one of links that these do not show.

    :param report: torque errors of the recording
    """
    reference, errors = reference_torque(report, model), relative_error(report, model)
    moving = report.moving_samples > 0
    spoilt = float(np.mean(errors[moving])) if moving.any() else 0.0
    for item in signals.findings:
        if item.code == 'frozen_joint':
            joint, limit = model.joint_names.index(item.joint), options.max_relative_error
            error = errors[joint]
            if error > limit:
                least = _residual_torque(signals, joint, model, base) / reference[joint]
                # So many parameters explain a part of any torque, of a slow sine all of it: then
                # the joints in motion are not explained.
                if 3.0 * (least + spoilt) > limit:
                    yield finding('frozen_joint.stuck', joint=item.joint, error=percent(error))
                else:
                    yield finding('frozen_joint.unfitted', joint=item.joint, error=percent(error))
                continue
        yield item


def _residual_torque(
    signals: Processed, joint: int, model: DynamicModel, base: BaseParameters
) -> float:
    """Return the RMS torque of a joint that no parameters explain, in [Nm] or [N]."""
    rows = np.linspace(0, len(signals) - 1, min(len(signals), ENOUGH)).astype(np.intp)
    q, qd, qdd = (values[rows] for values in signals.motion)
    regressor = model.select_columns(q, qd, qdd, base.columns)[:, joint]
    every = np.ones(len(rows), dtype=bool)
    listed = fit_joint(
        regressor, np.arange(regressor.shape[1]), signals.torque[rows, joint], every
    )
    return root_mean_square(signals.torque[rows, joint] if listed is None else listed.rest)


def percent(share: float) -> str:
    """Format a share as percentage with four digits at most."""
    return f'{100.0 * share:.4g}%'


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return one finding per code and joint: the most severe, the later of equals."""
    rank = SEVERITIES.index
    best: dict[tuple[str, str], Finding] = {}
    for item in findings:
        key = (item.code, item.joint)
        if key not in best or rank(item.severity) <= rank(best[key].severity):
            best[key] = item
    return tuple(best.values())


MERGED = (
    'frozen_joint', 'moving_too_slowly', 'region_too_small', 'sensor_delay', 'stale_joint',
    'time_offset',
)  # fmt: skip
"""Findings that often hold for all joints alike."""


def merge(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings that say the same of several joints as one, of all these joints."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for number, item in enumerate(findings):
        text = re.sub(rf'\b{re.escape(item.joint)}\b|[-+.\d]+', '', item.text)
        alike = text if item.code in MERGED and item.severity != 'error' else str(number)
        groups.setdefault((item.code, item.severity, alike), []).append(item)
    return tuple(_as_one(group) for group in groups.values())


def _as_one(group: Sequence[Finding]) -> Finding:
    joints = [item.joint for item in group]
    also = f' (also {", ".join(joints[1:])})' if len(joints) > 1 else ''
    return replace(group[0], text=f'{group[0].text}{also}', joint=', '.join(joints))


MOTION_CODES = (
    'frozen_joint',
    'region_too_small',
    'moving_too_slowly',
    'too_short',
    'joints_move_together',
    'motion_repeats',
)
"""Findings on motion that is missing: recordings make up for each other."""


def of_recordings(
    findings: Sequence[Sequence[Finding]], sources: Sequence[str]
) -> Iterator[Finding]:
    """Return the findings of several recordings that are fitted together.

    Motion that is missing counts only where every recording lacks it.

    :param findings: of each recording
    :param sources: name of each recording
    """
    if len(findings) == 1:
        yield from findings[0]
        return
    every = [{(item.code, item.joint) for item in listed} for listed in findings]
    for source, listed in zip(sources, findings, strict=True):
        for item in listed:
            missing = any((item.code, item.joint) not in each for each in every)
            if not (item.code in MOTION_CODES and missing):
                yield replace(item, text=f'{source}: {item.text}')


def failure_findings(
    recording: Recording, model: DynamicModel, reason: str
) -> tuple[Finding, ...]:
    """Return the joints that do not move or have no torque, and why nothing could be estimated.

    The findings of the reader follow, except those on the same joints.

    :param recording: with the joints of the model
    :param reason: a sentence
    """
    listed = recording.select(model.joint_names)
    joints = ', '.join(model.joint_names)
    duration, rate = recording.duration, 1.0 / recording.period
    reasons = [
        *standstill_findings(listed, ~moving_joints(listed.position)),
        *torque_findings(listed),
        finding(
            'too_few_samples.nothing', joints=joints, reason=reason, duration=duration, rate=rate
        ),
    ]
    known = {(item.code, item.joint) for item in reasons}
    others = (item for item in recording.findings if (item.code, item.joint) not in known)
    return merge((*reasons, *others))
