# SPDX-License-Identifier: Apache-2.0
"""Rival conventions of torque and model: order, sign and factor of torques, gravity, mounting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.rivals.evidence import Evidence, residual_shares
from robodyn_ros.identification.rivals.other_models import variants
from robodyn_ros.identification.rivals.reading import Reading
from robodyn_ros.identification.rivals.rival import FEW, Rival
from robodyn_ros.identification.signals.processed import Mask
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.interface import Array, DynamicModel, Indices
from robodyn_ros.models.serial.urdf import rigid_part

GUESSED, KNOWN = 8.0, 4.0
"""Factors by which masses of a URDF are not all wrong to the same side: guesses, and those that
suit each other."""

SURELY = 0.045
"""Difference from the masses, see `Evidence.masses`, below which they suit each other."""

PRESENT = 0.2
"""Part of the URDF's gravity from which on a fit has found gravity: masses of the URDF that are
several times too large leave that much of it."""

COPY = 0.05, 0.9
"""Part of the URDF's gravity and correlation with it, from which on a fit has found gravity in
another unit."""

DRIVING = 1.0, 1.5
"""Inverse hyperbolic tangent of the correlation of velocity and torque against it, as friction
has it with the other sign, and what is added for one turn of the motion: few have it by chance."""

LITTLE = 0.03
"""Part of the largest range, of joints of its kind, below which the motion of a joint is too small
to show its factor."""

PAIR = 0.5
"""Cost of a reversed axis more: see `Evidence.cost`."""

RESTING = 0.2
"""Part of a torque with its gravity that a fit leaves if only gravity was missing: added gravity
hides any torque."""


def orders(reading: Reading) -> Iterator[Rival]:
    """Yield torques of two joints exchanged, or names, and both in reverse order."""
    present = reading.present
    count = present.torque.shape[1]
    pairs = [_exchange(count, pair) for pair in combinations(range(count), 2)]
    every = [*pairs, *_further(present.few(), pairs)]
    if count > 2:
        every.append(np.arange(count)[::-1])
    for order in every:
        changed = tuple(np.flatnonzero(order != np.arange(count)).tolist())
        reordered = _reorder(present, order)
        yield Rival('joint_order.torques', changed, reordered, least=1.0)
        with suppress(RobodynError):  # another joint's position may be out of reach
            q, qd, qdd = (values[:, order] for values in present.motion)
            renamed = replace(reordered, motion=(q, qd, qdd))
            renamed.regressor  # noqa: B018
            yield Rival('joint_order.names', changed, renamed, least=2.0)


def _further(few: Evidence, pairs: Sequence[Indices]) -> Iterator[Indices]:
    """Yield the best order that a second exchange makes of the best one, as columns moved on."""
    if few.torque.shape[1] < 3:
        return
    first = min(pairs, key=lambda order: _reorder(few, order).cost)
    both = [first[order] for order in pairs if (order != first).any()]
    yield min(both, key=lambda order: _reorder(few, order).cost)


def _reorder(read: Evidence, order: Indices) -> Evidence:
    return read.read(torque=read.torque[:, order], used=read.used[:, order], column=order)


def _exchange(count: int, pair: tuple[int, int]) -> Indices:
    order = np.arange(count)
    order[list(pair)] = order[list(pair)[::-1]]
    return order


def signs(reading: Reading) -> Iterator[Rival]:
    """Yield all torques with the other sign, then those of one or two joints, and further ones."""
    present = reading.present
    count = present.torque.shape[1]
    yield Rival('torque_sign.all', tuple(range(count)), present.scale(-np.ones(count)))
    driving = _driving(present)
    if driving.any() and not driving.all():
        joints = tuple(np.flatnonzero(driving).tolist())
        read = present.scale(present.factors(joints, -1.0))
        yield Rival('torque_sign', joints, read, least=0.5, certain=0.0, ordinary=False)
    best, turned = present, np.zeros(count, dtype=bool)
    for size in (2, 1, 1, 1):  # two signs that contradict each other help only together
        fresh = [each for k in range(size) for each in combinations(range(count), k + 1)]
        tried = [turned ^ np.isin(np.arange(count), each) for each in fresh]
        tried = [each for each in tried if each.any() and each.sum() < count]
        if not tried:
            return
        readings = [present.scale(np.where(each, -1.0, 1.0)) for each in tried]
        index = int(np.argmin([each.cost for each in readings]))
        if readings[index].cost > best.cost - 0.03:
            return
        best, turned = readings[index], tried[index]
        yield Rival('torque_sign', tuple(np.flatnonzero(turned).tolist()), best, least=0.5)


def _driving(present: Evidence) -> Mask:
    """Return the joints whose torque is against their velocity, as no friction is, shape (n,)."""
    speed = present.motion[1]
    size = np.sqrt(np.mean(present.torque**2, axis=0) * np.mean(speed**2, axis=0))
    power = np.mean(present.torque * speed, axis=0) / np.maximum(size, 1e-300)
    turns = np.count_nonzero(np.diff(np.sign(speed), axis=0), axis=0)
    least = np.tanh(DRIVING[0] + DRIVING[1] / np.maximum(turns, 1e-9))
    return np.asarray(power < -least)


def reversals(reading: Reading) -> Iterator[Rival]:
    """Yield joints whose position has the other sign, and one or two whose axis is reversed."""
    present, few = reading.present, reading.present.few()
    count = present.torque.shape[1]
    for joint in range(count):
        turned = present.mix(np.diag(present.factors(joint, -1.0)))
        yield Rival('axis_reversed.position', (joint,), turned)
    every = [joints for size in (1, 2) for joints in combinations(range(count), size)]
    every = [joints for joints in every if len(joints) < max(count, 2)]
    best = min(every, key=lambda joints: _reverse(few, joints).cost + PAIR * len(joints))
    yield Rival('axis_reversed', best, _reverse(present, best))


def _reverse(present: Evidence, joints: tuple[int, ...]) -> Evidence:
    """Return the samples with position and torque of joints with the other sign."""
    sign = present.factors(joints, -1.0)
    return present.mix(np.diag(sign)).scale(sign)


def unit(reading: Reading) -> Iterator[Rival]:
    """Yield one factor of all torques that the masses of the URDF need.

    Masses are guesses, which may be wrong by a few times, and friction scales with the torque.
    """
    present, few = reading.present, reading.present.few()
    every = np.ones(present.torque.shape[1])
    best = _search(lambda size: few.scale(size * every))
    if not best:
        return
    read, joints = present.scale(best * every), tuple(range(len(every)))
    squares = np.sum(present.torque**2, axis=0)
    few_joints = np.count_nonzero(read.masses) < 3  # guesses suit each other there by chance
    guessed = few_joints or float(read.masses @ squares) > SURELY * float(squares.sum())
    if abs(np.log(best)) > np.log(GUESSED if guessed else KNOWN):
        yield Rival('torque_factor.all', joints, read, {'factor': best}, fitted=1)


def factors(reading: Reading) -> Iterator[Rival]:
    """Yield for each joint the factor of its torque that suits the others best."""
    present, few = reading.present, reading.present.few()
    ranges = np.ptp(present.motion[0], axis=0)
    units = np.array([joint.torque_unit for joint in present.model.joints])
    largest = np.array([ranges[units == unit].max() for unit in units])
    moving = np.flatnonzero(present.used.any(axis=0) & (ranges > LITTLE * largest))
    for joint in moving.tolist() if len(moving) > 1 else ():
        best = _search(lambda size, joint=joint: few.scale(few.factors(joint, size)))  # type: ignore[misc]
        if best:
            read = present.scale(present.factors(joint, best))
            values = {'factor': best}
            yield Rival(
                'torque_factor.rival', (joint,), read, values, least=1.7, fitted=1, of_data=True
            )


def times(reading: Reading) -> Iterator[Rival]:
    """Yield the scale of time for which gravity and inertia suit each other best."""
    present = reading.present
    if rigid_part(present.model) is None:
        return

    def stretch(read: Evidence) -> Callable[[float], Evidence]:
        q, qd, qdd = read.motion
        rest = np.zeros_like(q)
        held = read.model.select_columns(q, rest, rest, read.base.columns)

        def at(factor: float) -> Evidence:  # friction may take any factor
            fresh = replace(read, motion=(q, factor * qd, factor**2 * qdd))
            fresh.__dict__['regressor'] = held + factor**2 * (read.regressor - held)
            return fresh

        return at

    best = _search(stretch(present.few()))
    if best:
        read = stretch(present)(best)
        yield Rival('time_scale.gravity', (), read, {'factor': best}, least=0.85, fitted=1)


def _search(read: Callable[[float], Evidence]) -> float:
    """Return the factor of the best of a family of readings, by bisection; 0: about one."""
    costs = {float(each): read(float(np.exp(each))).cost for each in np.linspace(-9.0, 9.0, 37)}
    best, step = min(costs, key=costs.__getitem__), 0.5
    while step > 0.02:
        step /= 2.0
        for each in (best - step, best + step):
            costs[each] = read(float(np.exp(each))).cost
        best = min(costs, key=costs.__getitem__)
    return float(np.exp(best)) if np.log(1.25) < abs(best) < 8.9 else 0.0  # no model is more exact


def gravity(reading: Reading) -> Iterator[Rival]:
    """Yield torque from which the driver has subtracted gravity.

    That of the masses of the URDF is added again: a fit can do without, but not these masses.
    """
    present = reading.present
    rest = np.zeros_like(present.motion[0])
    held = present.model.select_columns(present.motion[0], rest, rest, present.base.columns)
    names = [present.model.parameters[k].name for k in present.base.columns]
    body = np.array([not name.endswith(('_friction', '_offset')) for name in names])
    prior = present.base.values(np.nan_to_num(present.model.prior()))
    weight, fit = held @ (body * prior), held @ (body * present.values)
    expected, resting = weight - weight.mean(axis=0), fit - fit.mean(axis=0)
    squares = np.sum(expected**2, axis=0)
    most = int(np.argmax(squares))
    share = float(np.sum(expected[:, most] * resting[:, most]) / max(squares[most], 1e-300))
    size = float(np.sqrt(np.sum(resting[:, most] ** 2) / max(squares[most], 1e-300)))
    scaled = share > max(COPY[0], COPY[1] * size)
    if scaled:  # or the driver subtracts most of gravity: what moves has all its torque then
        swung, push = present.regressor[:, most] - held[:, most], present.motion[2][:, most]
        moving = _moving_share(push, swung @ (body * prior), swung @ (body * present.values))
        scaled = moving < np.sqrt(share)
    if squares[most] > 1e-18 and abs(share) < PRESENT and not scaled:
        added = present.read(torque=present.torque + weight)
        if residual_shares(added)[1] < RESTING:
            values = {'share': max(share, 0.0)}
            yield Rival('effort_without_gravity', (), added, values, least=FEW)


def _moving_share(push: Array, expected: Array, fitted: Array) -> float:
    """Return the part of the torque of moving masses that a fit found, beside that of rotors.

    :param push: acceleration, shape (M,), as torques by the masses and by the fit; 0: none moves
    """
    both = np.column_stack([expected, fitted])
    both -= np.outer(push, push @ both) / max(float(push @ push), 1e-300)
    return float(both[:, 0] @ both[:, 1]) / max(float(both[:, 0] @ both[:, 0]), 1e-300)


def models(reading: Reading) -> Iterator[Rival]:
    """Yield other mountings of the robot, and other models of a closed form."""
    for variant in variants(reading.present.model):
        with suppress(RobodynError):
            other = _explain(reading.present, variant.model)
            urdf = variant.key == 'wrong_dynamic_model.gravity'
            least = 2.0 * FEW if urdf else FEW
            yield Rival(variant.key, (), other, variant.values, least=least, ordinary=urdf)


def _explain(present: Evidence, model: DynamicModel) -> Evidence:
    return replace(present, model=model, base=base_parameters(model))
