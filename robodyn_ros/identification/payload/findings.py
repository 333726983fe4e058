# SPDX-License-Identifier: Apache-2.0
"""Findings on an identified payload."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.factors.condense import SAMPLES_PER_COLUMN, Condensed
from robodyn_ros.identification.fit.choice import FOUR, MOST, HeldOut, is_better
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.fit.torque_errors import FitReport
from robodyn_ros.identification.payload.estimate import CLEAR
from robodyn_ros.identification.physical.consistency import is_consistent
from robodyn_ros.identification.physical.possible import CONTRADICTED
from robodyn_ros.identification.result.content import IdentifiedPayload
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.identification.result.weighted import Weighted
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array
from robodyn_ros.models.payload import PayloadModel


def body_findings(model: PayloadModel, values: Array, weighted: Weighted) -> Iterator[Finding]:
    """Check that a body can have the ten identified values (10,)."""
    if not is_consistent(model, values):
        yield finding(
            'payload_not_physical.body',
            severity='error' if values[0] <= 0.0 else 'warning',
            mass=values[0],
        )
    elif weighted.excess > CONTRADICTED:
        yield finding('payload_contradicted', excess=weighted.excess, limit=CONTRADICTED)


def base_findings(base: IdentifiedModel) -> Iterator[Finding]:
    """Yield a finding if the arm's parameters cannot be trusted."""
    bad = [each.joint for each in base.verdict.joints if not each.works]
    if bad:
        yield finding('base_failed', source=base.source, joints=', '.join(bad))


def arm_findings(errors: tuple[HeldOut, HeldOut] | None) -> Iterator[Finding]:
    """Yield a finding if another arm explains the recording much better than any payload.

    :param errors: held-out errors of the payload and of free parameters of the arm; None: unknown
    """
    if errors is not None and is_better(*errors, FOUR, share=1.0 - MOST):
        payload, free = errors
        yield finding('arm_changed', share=free.mean / payload.mean)


def payload_data_findings(seen: BaseParameters, condensed: Condensed) -> Iterator[Finding]:
    """Yield a finding if there are too few samples."""
    samples, needed = int(condensed.samples.sum()), SAMPLES_PER_COLUMN * seen.rank
    if samples < needed:
        yield finding('too_few_samples.payload', samples=samples, needed=needed)


def share_findings(
    facts: IdentifiedPayload, seen: BaseParameters, fit: Estimate, report: FitReport
) -> Iterator[Finding]:
    """Yield how much of the torque the payload explains, and what of it cannot be seen."""
    payload = facts.payload
    yield finding(
        'payload_residual',
        residual=report.relative_residual,
        without=facts.without.relative_residual,
    )
    stddevs = np.array([]) if payload.stddevs is None else payload.stddevs
    names = [item.name.removeprefix('payload.') for item in payload.model.parameters]
    if payload.model.products:
        yield finding(
            'payload_products',
            parameters=', '.join(names),
            products=', '.join(payload.model.products),
        )
    if len(stddevs) == 10 and np.isnan(stddevs).any():
        hidden = ', '.join(name for name, s in zip(names, stddevs, strict=True) if np.isnan(s))
        yield finding('payload_partly_visible', rank=seen.rank, parameters=hidden)
    known = np.isfinite(stddevs) & (stddevs > 0.0)
    clear = np.abs(payload.values[known]) >= CLEAR * stddevs[known] if len(stddevs) else stddevs
    if not ((np.abs(fit.values) >= CLEAR * fit.stddevs).any() or clear.any()):
        yield finding('payload_not_visible', limit=CLEAR)
