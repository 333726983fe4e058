# SPDX-License-Identifier: Apache-2.0
"""Friction in the result of an identification: law, values and share of the torque per joint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.models.catalog import Friction, robot_model
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.friction_terms import FRICTION_PARAMETERS, TERMS
from robodyn_ros.models.interface import Array, DynamicModel, parts_of
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
    return robot_model(urdf, joints=joints, rotor_inertia=False, friction=friction)


def friction_of(result: IdentificationResult) -> tuple[JointFriction, ...]:
    """Return the friction of each joint that moved.

    :param result: with its signals
    :raises IdentificationError: nothing was estimated, or the model has no friction
    """
    if result.signals is None or not result.has_estimate:
        reason = next((item.line for item in result.findings if item.severity == 'error'), '')
        raise IdentificationError(f'{result.identification.source}: no estimate: {reason}')
    laws = [part for part, _ in parts_of(result.model) if isinstance(part, FrictionModel)]
    kinds = {item.name.rpartition('.')[2] for item in result.model.parameters}
    if not kinds & _FRICTION:
        raise IdentificationError('the model has no friction: choose a law with --friction')
    shapes = {name: each for law in laws for name, each in law.coefficients.items()}
    share = _share_of_torque(result)
    return tuple(
        JointFriction(
            joint=verdict.joint,
            values=tuple(_values_of(result, verdict.joint)),
            shape={name: float(each[place]) for name, each in shapes.items()},
            share=float(share[place]),
            error=verdict.error,
            verdict=verdict.text,
        )
        for place, verdict in enumerate(result.verdict.joints)
        if verdict.moved
    )


def _values_of(result: IdentificationResult, joint: str) -> Iterator[FrictionValue]:
    """Yield the values of a joint's friction that are not zero."""
    for item, value, sigma in zip(
        result.model.parameters, result.values, result.stddevs, strict=True
    ):
        name = item.name.removeprefix(f'{joint}.')
        if item.joint == joint and name in _FRICTION and value != 0.0:
            lower, upper = value - CONFIDENCE * sigma, value + CONFIDENCE * sigma
            yield FrictionValue(name, float(value), float(lower), float(upper), item.unit)


def _share_of_torque(result: IdentificationResult) -> Array:
    """Return RMS friction without its constant over RMS torque, shape (n,)."""
    assert result.signals is not None
    signals = result.signals.processed
    torque = np.zeros_like(signals.torque)
    for part, rows in parts_of(result.model):
        acts = [item.name.rpartition('.')[2] in _FRICTION - _CONSTANT for item in part.parameters]
        if any(acts):
            values = np.where(acts, result.values[rows], 0.0)
            torque += part.torque(*signals.motion_at(slice(None)), values)
    measured = signals.measured_rows
    size = np.linalg.norm(signals.torque[measured], axis=0)
    friction = np.linalg.norm(torque[measured], axis=0)
    return np.asarray(friction / np.where(size > 0.0, size, np.nan))
