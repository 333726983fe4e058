# SPDX-License-Identifier: Apache-2.0
"""Velocity thresholds: which samples of which joint count, for the fit and for its errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import IdentificationError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.models.closed_forms.closed_form import closed_form_part
from robodyn_ros.models.interface import Array, DynamicModel

Mask = NDArray[np.bool_]

STANDSTILL = 0.001
"""Share of its largest velocity below which a joint is at standstill, which the fit leaves out."""

SEMI_STATIC_SHARE = 0.1
"""Lower threshold of a semi-static model, as a share of a joint's largest velocity. softMC's
example prints 0.039 rad/s for a sine that reaches 0.34 rad/s."""

SEMI_STATIC_LIMIT = 0.5
"""Upper threshold [rad/s] of a semi-static model: there the centripetal acceleration at 1 m is
2.5 % of gravity. The document's slow sine stays below it."""


@dataclass(frozen=True)
class SpeedRange:
    """Velocities between which samples count, and which ones these are.

    :param lower: of each joint, shape (n,), in [rad/s] or [m/s]
    :param upper: the same; infinite: none
    :param used: samples for the fit, shape (N, n)
    :param moving: samples for relative torque errors, shape (N, n)
    :param still: velocities below which a joint is at rest, shape (n,)
    """

    lower: Array
    upper: Array
    used: Mask
    moving: Mask
    still: Array


def options_for(model: DynamicModel, options: IdentifyOptions) -> IdentifyOptions:
    """Return options with the two thresholds of a semi-static model, unless given.

    Such a model has gravity and friction only, so that samples count where no joint is fast
    (softMC document, "Semi-static model").
    """
    closed = closed_form_part(model)
    if closed is None or not closed[0].semi_static:
        return options
    upper = options.upper_velocity_threshold
    return replace(
        options,
        upper_velocity_threshold=SEMI_STATIC_LIMIT if upper is None else upper,
        velocity_share=max(options.velocity_share, SEMI_STATIC_SHARE),
    )


def thresholds(joints: Sequence[str], velocity: Array, options: IdentifyOptions) -> SpeedRange:
    """Return the thresholds of each joint, and the samples that they leave.

    Without absolute thresholds errors count from `velocity_share` of the joint's largest
    velocity on, and the fit leaves out standstill only. Absolute thresholds hold for both, as in
    softMC. A joint counts from its lower threshold on, while no joint is above its upper one: the
    others feel its dynamic forces.

    :param velocity: shape (N, n), in [rad/s] or [m/s]
    :raises IdentificationError: not one threshold, nor one per joint; none left between the two;
        no sample below the upper ones
    """
    speed = np.abs(velocity)
    upper = _per_joint(options.upper_velocity_threshold, joints, 'upper velocity threshold')
    fastest = speed.max(axis=0, initial=0.0)
    still = STANDSTILL * fastest
    if options.velocity_threshold is not None:
        lower = _per_joint(options.velocity_threshold, joints, 'velocity threshold')
    else:
        share = max(options.velocity_share, STANDSTILL)
        lower = share * np.minimum(fastest, upper)
    for name, low, high in zip(joints, lower, upper, strict=True):
        if low >= high:
            raise IdentificationError(
                f'the velocity threshold of joint {name}, {low:g}, must be below its upper one, '
                f'{high:g}'
            )
    slow = (speed <= upper).all(axis=1, keepdims=True)
    moving = (speed >= lower) & (speed > 0.0) & slow
    used = moving
    if options.velocity_threshold is None and np.isinf(upper).all():
        used = (speed >= still) & (speed > 0.0)
    if not speed.any():  # static poses
        used = moving = np.ones_like(moving)
    if not used.any() and np.isfinite(upper).any():
        raise IdentificationError(
            f'no sample is left below the upper velocity threshold, {upper.min():g} for joint '
            f'{joints[int(upper.argmin())]}: a semi-static model needs a slow motion'
        )
    return SpeedRange(lower=lower, upper=upper, used=used, moving=moving, still=still)


def speed_findings(
    joints: Sequence[str], velocity: Array, thresholds: SpeedRange
) -> Iterator[Finding]:
    """Yield the joints that are above their upper threshold most of the time."""
    shares = (np.abs(velocity) > thresholds.upper).mean(axis=0)
    for name, share, limit in zip(joints, shares, thresholds.upper, strict=True):
        if share > 0.5:
            yield finding('too_fast_for_semi_static', joint=name, limit=limit, share=share)


def _per_joint(given: float | Sequence[float] | None, joints: Sequence[str], what: str) -> Array:
    """Return one value per joint; infinite where none is given."""
    if given is None:
        return np.full(len(joints), np.inf)
    values = np.atleast_1d(np.asarray(given, dtype=np.float64))
    if len(values) not in (1, len(joints)):
        raise IdentificationError(
            f'the {what} needs one value or one for each of the {len(joints)} joints, '
            f'got {len(values)}'
        )
    return np.array(np.broadcast_to(values, (len(joints),)))
