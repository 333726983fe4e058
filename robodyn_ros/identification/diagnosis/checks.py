"""Checks of an estimate: enough samples, observable parameters, torque errors within limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.factors.passes import SAMPLES_PER_COLUMN
from robodyn_ros.identification.findings import finding
from robodyn_ros.identification.fit.fit_report import FitReport
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.finding import Finding
from robodyn_ros.recording.recording import Recording

ILL_CONDITIONED = 1e4
"""Condition number (columns scaled) from which on a result is warned about: errors of 0.01 % of
the torque can then change a parameter by its own size."""

FEWEST_SAMPLES = 0.8
"""Share of the samples needed below which a result fails: the variance of an estimate grows in
proportion to the samples that are missing, so that a fifth of them is worth a warning only."""

WEAKLY_DETERMINED = 0.3
"""Expected uncertainty of a joint's torque on other motions from which on it is warned about."""


def data_findings(
    condensed: Condensed, fit: Estimate, base: BaseParameters, frozen: Collection[str]
) -> Iterator[Finding]:
    """Check that the samples determine the parameters.

    :param frozen: names of joints that do not move, which have a finding of their own
    """
    for name, factor in zip(condensed.joints, condensed.merged(), strict=True):
        needed = SAMPLES_PER_COLUMN * len(factor.columns)
        if factor.samples < needed and name not in frozen:
            yield finding(
                'too_few_samples',
                joint=name,
                severity='error' if factor.samples < FEWEST_SAMPLES * needed else 'warning',
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
        named = zip(condensed.joints, condensed.merged(), strict=True)
        felt = [name for name, factor in named if np.isin(factor.columns, order).any()]
        yield finding(
            'rank_deficient',
            missing=unseen.shape[1],
            rank=base.rank,
            joints=', '.join(felt),
            parameters=f'{shown}{more}',
        )
    elif fit.condition_number_scaled > ILL_CONDITIONED:
        condition = fit.condition_number_scaled
        yield finding('ill_conditioned', condition=condition, limit=ILL_CONDITIONED)


def reach_findings(joints: Sequence[str], uncertainty: Array) -> Iterator[Finding]:
    """Check that the estimate holds on another motion.

    :param uncertainty: see `torque_uncertainty`, shape (n,)
    """
    for name, share in zip(joints, uncertainty, strict=True):
        if share > WEAKLY_DETERMINED:
            yield finding('weakly_determined', joint=name, share=share, limit=WEAKLY_DETERMINED)


def fit_findings(
    report: FitReport, options: IdentifyOptions, joints: tuple[str, ...]
) -> Iterator[Finding]:
    """Check the success condition of softMC, joint by joint."""
    errors = report.max_relative_torque_error
    for name, error, moving in zip(joints, errors, report.moving_samples, strict=True):
        if moving and not error <= options.max_relative_error:
            limit = percent(options.max_relative_error)
            yield finding(
                'relative_error_too_large', joint=name, error=percent(error), limit=limit
            )


def percent(share: float) -> str:
    """Format a share as percentage with four digits at most."""
    return f'{100.0 * share:.4g}%'


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return one finding per code and joint: the most severe, the later of equals."""
    rank = {'info': 0, 'warning': 1, 'error': 2}
    best: dict[tuple[str, str], Finding] = {}
    for item in findings:
        key = (item.code, item.joint)
        if key not in best or rank[item.severity] >= rank[best[key].severity]:
            best[key] = item
    return tuple(best.values())


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
    every = [{(item.code, item.joint) for item in own} for own in findings]
    for source, own in zip(sources, findings, strict=True):
        for item in own:
            missing = any((item.code, item.joint) not in each for each in every)
            if not (item.code in MOTION_CODES and missing):
                yield replace(item, text=f'{source}: {item.text}')


def failure_findings(recording: Recording, model: DynamicModel, reason: str) -> Iterator[Finding]:
    """Name the joints that do not move, and why nothing could be estimated.

    :param recording: with the joints of the model
    :param reason: a sentence
    """
    position = recording.select(model.joint_names).position
    for column in np.flatnonzero(np.ptp(position, axis=0) == 0.0):
        name = model.joint_names[column]
        yield finding('frozen_joint.constant', joint=name, position=position[0, column])
    joints = ', '.join(model.joint_names)
    yield finding('too_few_samples.nothing', joints=joints, reason=reason)
