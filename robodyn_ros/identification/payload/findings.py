"""What there is to say about an identified payload."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.factors.passes import SAMPLES_PER_COLUMN
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.physical.consistency import is_consistent
from robodyn_ros.identification.physical.selection import CONTRADICTED
from robodyn_ros.identification.result import (
    FitReport,
    IdentifiedModel,
    IdentifiedPayload,
    Selection,
)
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array
from robodyn_ros.models.payload import PayloadModel
from robodyn_ros.recording.recording import Finding

CLEAR = 3.0
"""A value is there from so many standard deviations on."""


def body_findings(model: PayloadModel, values: Array, selection: Selection) -> Iterator[Finding]:
    """Whether a body can have the ten identified values (10,)."""
    if not is_consistent(model, values):
        yield Finding(
            'payload_not_physical',
            f'no body has the identified payload (mass {values[0]:.3g} kg): was the base result '
            f'identified on the same robot without payload, and is the torque unit the same?',
            severity='error' if values[0] <= 0.0 else 'warning',
        )
    elif selection.excess > CONTRADICTED:
        yield Finding(
            'payload_contradicted',
            f'the residual is {selection.excess:.2f} times as large with the best body as with '
            f'free parameters: the arm may have changed since the base result',
        )


def scalar_findings(
    model: PayloadModel, seen: BaseParameters, values: Array, stddevs: Array
) -> Iterator[Finding]:
    """Mass and inertia of the models of the document."""
    names = [item.name.removeprefix('payload.') for item in model.parameters]
    for index, value in enumerate(values.tolist()):
        unit = model.parameters[index].unit
        if index not in seen.columns:
            beside = seen.grouping[:, index].any()
            text = (
                f"is not told apart from the payload's {names[seen.columns[0]]} and taken as 0"
                if beside
                else 'has no effect in this motion and is taken as 0'
            )
            yield Finding('payload_partly_visible', f"the payload's {names[index]} {text}")
        elif not model.products and value < 0.0:
            clear = value < -CLEAR * stddevs[index]
            text = f"the payload's {names[index]} came out as {value:.3g} {unit}, "
            text += (
                'which no body has: was the base result identified without payload?'
                if clear
                else f'0 within its standard deviation {stddevs[index]:.3g}, and is taken as 0'
            )
            yield Finding('payload_not_physical', text, severity='error' if clear else 'info')


def base_findings(base: IdentifiedModel) -> Iterator[Finding]:
    """Whether the arm's parameters are to be trusted."""
    if base.facts.get('success') is False:
        text = f'the base result {base.source} is one of a failed identification'
        yield Finding('base_failed', text)


def payload_data_findings(seen: BaseParameters, condensed: Condensed) -> Iterator[Finding]:
    """Whether there are enough samples."""
    samples, needed = int(condensed.samples.sum()), SAMPLES_PER_COLUMN * seen.rank
    if samples < needed:
        yield Finding(
            'too_few_samples',
            f'{samples} independent moving samples are too few to identify a payload, at least '
            f'{needed} are needed: record longer',
            severity='error',
        )


def seen_findings(
    facts: IdentifiedPayload, seen: BaseParameters, fit: Estimate, report: FitReport
) -> Iterator[Finding]:
    """How much of the torque the payload explains, and what of it cannot be seen."""
    payload = facts.payload
    yield Finding(
        'payload_residual',
        f'the relative residual is {report.relative_residual:.2%} with the payload and '
        f'{facts.without.relative_residual:.2%} without',
        severity='info',
    )
    stddevs = np.array([]) if payload.stddevs is None else payload.stddevs
    names = [item.name.removeprefix('payload.') for item in payload.model.parameters]
    if payload.model.products:
        yield Finding(
            'payload_products',
            f'only what the payload adds to {", ".join(names)} is known: for its mass give '
            f'{", ".join(payload.model.products)} in "prior" of the model',
            severity='info',
        )
    if len(stddevs) == 10 and np.isnan(stddevs).any():
        hidden = ', '.join(name for name, s in zip(names, stddevs, strict=True) if np.isnan(s))
        yield Finding(
            'payload_partly_visible',
            f'of the payload this motion shows {seen.rank} combinations; not known on their own '
            f'are {hidden}',
            severity='info',
        )
    known = np.isfinite(stddevs) & (stddevs > 0.0)
    clear = np.abs(payload.values[known]) >= CLEAR * stddevs[known] if len(stddevs) else stddevs
    if not ((np.abs(fit.values) >= CLEAR * fit.stddevs).any() or clear.any()):
        yield Finding(
            'payload_not_visible',
            'the payload is not visible in this motion: no parameter of it differs from 0 by '
            'more than its uncertainty; move faster, or joints that lift it',
        )
