# SPDX-License-Identifier: Apache-2.0
"""Friction in the result of an identification: law, values and share of the torque per joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.models.catalog import Friction, robot_model
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.friction_terms import FRICTION_PARAMETERS, TERMS
from robodyn_ros.models.interface import DynamicModel, parts_of
from robodyn_ros.models.springs import SLIP_PARAMETERS

CONFIDENCE = 1.96
"""Half width of an interval of 95 %, in standard deviations."""
_FRICTION = {*FRICTION_PARAMETERS, *SLIP_PARAMETERS}
_CONSTANT = {term.parameter for term in TERMS.values() if term.constant}


@dataclass(frozen=True)
class FrictionValue:
    """Value of a friction parameter, and its interval of 95 %; NaN: not determined."""

    name: str
    value: float
    lower: float
    upper: float
    unit: str


@dataclass(frozen=True)
class JointFriction:
    """Friction of a joint that moved.

    :param values: of the parameters of the law, without those that are zero
    :param shape: shape coefficients of the law, see `models.friction_terms`
    :param share: RMS of friction without its constant, over the RMS of the torque
    :param error: share of the torque that the model does not explain
    :param verdict: what the joint can be used for
    """

    joint: str
    values: tuple[FrictionValue, ...]
    shape: dict[str, float]
    share: float
    error: float
    verdict: str


def model_of_axes(joints: Sequence[str], friction: Friction) -> DynamicModel:
    """Return a robot whose joints do not act on each other: a body on a horizontal axis each.

    It explains inertia and gravity of a joint that moves while all others are at rest, and of one
    that turns about a vertical axis.

    :param friction: as for `with_friction`
    """
    axes = ''.join(
        f'<link name="body{number}"/><joint name={quoteattr(name)} type="continuous">'
        f'<parent link="base"/><child link="body{number}"/><axis xyz="1 0 0"/></joint>'
        for number, name in enumerate(joints)
    )
    urdf = f'<robot name="axes"><link name="base"/>{axes}</robot>'
    return robot_model(urdf, joints=joints, friction=friction)


def friction_of(result: IdentificationResult) -> tuple[JointFriction, ...]:
    """Return the friction of each joint that moved.

    :param result: with its signals
    :raises IdentificationError: nothing was estimated, or the model has no friction
    """
    if result.signals is None or not result.has_estimate:
        reason = next((item.line for item in result.findings if item.severity == 'error'), '')
        raise IdentificationError(f'{result.identification.source}: no estimate: {reason}')
    signals, torque = result.signals.processed, np.zeros_like(result.signals.predicted)
    laws = [part for part, _ in parts_of(result.model) if isinstance(part, FrictionModel)]
    if not laws:
        raise IdentificationError('the model has no friction: choose a law with --friction')
    named = list(zip(result.model.parameters, result.values, result.stddevs, strict=True))
    named = [each for each in named if each[0].name.rpartition('.')[2] in _FRICTION]
    for part, rows in parts_of(result.model):
        acts = [item.name.rpartition('.')[2] in _FRICTION - _CONSTANT for item in part.parameters]
        if any(acts):
            values = np.where(acts, result.values[rows], 0.0)
            torque += part.torque(*signals.motion_at(slice(None)), values)
    measured = signals.measured_rows
    size = np.linalg.norm(signals.torque[measured], axis=0)
    share = np.linalg.norm(torque[measured], axis=0) / np.where(size > 0.0, size, np.nan)
    return tuple(
        JointFriction(
            joint=verdict.joint,
            values=tuple(
                FrictionValue(
                    item.name.removeprefix(f'{item.joint}.'), float(value),
                    float(value - CONFIDENCE * sigma), float(value + CONFIDENCE * sigma), item.unit,
                )
                for item, value, sigma in named
                if item.joint == verdict.joint and value != 0.0
            ),
            shape={
                name: float(each[place])
                for law in laws
                for name, each in law.coefficients.items()
            },
            share=float(share[place]),
            error=verdict.error,
            verdict=verdict.text,
        )
        for place, verdict in enumerate(result.verdict.joints)
        if verdict.moved
    )  # fmt: skip
