# SPDX-License-Identifier: Apache-2.0
"""Rival conventions of torque and model: order, sign and factor of torques, gravity, mounting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import combinations

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.rivals.evidence import EXPLAINED, Evidence, unexplained
from robodyn_ros.identification.rivals.other_models import variants, without_gravity
from robodyn_ros.identification.rivals.reading import DISAGREE, Reading
from robodyn_ros.identification.rivals.rival import FEW, Rival
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.interface import Array, DynamicModel, Indices


def orders(reading: Reading) -> Iterator[Rival]:
    """Yield torques of two joints exchanged, or names, and both in reverse order."""
    present = reading.present
    count = present.torque.shape[1]
    every = [_exchanged(count, pair) for pair in combinations(range(count), 2)]
    if count > 2:
        every.append(np.arange(count)[::-1])
    for order in every:
        moved = tuple(np.flatnonzero(order != np.arange(count)).tolist())
        reordered = present.read(
            torque=present.torque[:, order], used=present.used[:, order], column=order
        )
        yield Rival('joint_order.torques', moved, reordered)
        with suppress(RobodynError):  # another joint's position may be out of reach
            q, qd, qdd = (values[:, order] for values in present.motion)
            renamed = replace(reordered, motion=(q, qd, qdd))
            renamed.regressor  # noqa: B018
            yield Rival('joint_order.names', moved, renamed, least=FEW)


def _exchanged(count: int, pair: tuple[int, int]) -> Indices:
    order = np.arange(count)
    order[list(pair)] = order[list(pair)[::-1]]
    return order


def signs(reading: Reading) -> Iterator[Rival]:
    """Yield all torques with the other sign, then those of one or two joints, and further ones."""
    present = reading.present
    count = present.torque.shape[1]
    yield Rival('torque_sign.all', tuple(range(count)), present.scaled(-np.ones(count)))
    best, turned = present, np.zeros(count, dtype=bool)
    for size in (2, 1, 1, 1):  # two signs that contradict each other help only together
        fresh = [each for k in range(size) for each in combinations(range(count), k + 1)]
        tried = [turned ^ np.isin(np.arange(count), each) for each in fresh]
        tried = [each for each in tried if each.any() and each.sum() < count]
        if not tried:
            return
        readings = [present.scaled(np.where(each, -1.0, 1.0)) for each in tried]
        index = int(np.argmin([each.error for each in readings]))
        if readings[index].error > 0.97 * best.error:
            return
        best, turned = readings[index], tried[index]
        yield Rival('torque_sign', tuple(np.flatnonzero(turned).tolist()), best)


def reversals(reading: Reading) -> Iterator[Rival]:
    """Yield joints whose position has the other sign, and those whose axis is reversed."""
    present = reading.present
    count = present.torque.shape[1]
    for joint in range(count):
        turned = present.moved(joint, -1.0)
        yield Rival('axis_reversed.position', (joint,), turned)
        sign = np.where(np.arange(count) == joint, -1.0, 1.0)
        yield Rival('axis_reversed', (joint,), turned.scaled(sign))


def factors(reading: Reading) -> Iterator[Rival]:
    """Yield for each joint the factor of its torque that suits the others best."""
    present = reading.present
    count = present.torque.shape[1]
    for joint in range(count if count > 1 else 0):

        def read(logarithm: float, joint: int = joint) -> Evidence:
            factor = np.where(np.arange(count) == joint, np.exp(logarithm), 1.0)
            return present.scaled(factor)

        best = _searched(read, np.linspace(-7.5, 7.5, 31))
        if np.log(1.25) < abs(best) < 7.4:  # no model is more exact
            factor = float(np.exp(best))
            yield Rival(
                'torque_factor.rival',
                (joint,),
                read(best),
                {'factor': factor},
                least=1.0,
                fitted=1,
            )


def times(reading: Reading) -> Iterator[Rival]:
    """Yield the scale of time for which gravity and inertia suit each other best."""
    present = reading.present
    if without_gravity(present.model) is None:
        return

    def read(logarithm: float) -> Evidence:
        q, qd, qdd = present.motion
        factor = np.exp(logarithm)
        return replace(present, motion=(q, factor * qd, factor**2 * qdd))

    best = _searched(read, np.linspace(-2.1, 2.1, 15))
    if np.log(1.25) < abs(best) < 2.0:  # far beyond, gravity has no part in it
        factor = float(np.exp(best))
        yield Rival('time_scale.gravity', (), read(best), {'factor': factor}, fitted=1)


def _searched(read: object, grid: Array) -> float:
    """Return the argument of the smallest error of a family of readings, by bisection."""
    errors = {float(each): read(float(each)).error for each in grid}  # type: ignore[operator]
    best, step = min(errors, key=errors.__getitem__), float(grid[1] - grid[0])
    while step > 0.02:
        step /= 2.0
        for each in (best - step, best + step):
            errors[each] = read(each).error  # type: ignore[operator]
        best = min(errors, key=errors.__getitem__)
    return best


def gravity(reading: Reading) -> Iterator[Rival]:
    """Yield torque from which the driver has subtracted gravity.

    A model without gravity has fewer parameters and fits no better. It must fit as well, while the
    URDF asks for several times the torque at rest that the fit finds, and explains the recording
    worse: in a small motion an offset is gravity as well.
    """
    present = reading.present
    still, prior = without_gravity(present.model), np.nan_to_num(present.model.prior())
    if still is None or not prior.any():
        return
    q = present.motion[0]
    rest = np.zeros_like(q)
    held = present.model.select_columns(q, rest, rest, present.base.columns)
    names = [present.model.parameters[k].name for k in present.base.columns]
    body = np.array([not name.endswith(('_friction', '_offset')) for name in names])
    weight = held @ (body * present.base.values(prior))
    expected, found = weight.std(axis=0), (held @ (body * present.values)).std(axis=0)
    most = int(np.argmax(expected))
    measured = present.torque.std(axis=0)
    without = _explained(present, still)
    small = expected[most] > max(2.0 * found[most], 0.3 * measured[most])
    seen = replace(without, torque=present.torque - weight).error > DISAGREE * without.error
    if small and seen and unexplained(without)[1] < EXPLAINED / 2.0:
        share = float(found[most] / expected[most])
        yield Rival(
            'effort_without_gravity', (), without, {'share': share},
            least=-0.2 * len(measured), certain=-np.inf,
        )  # fmt: skip


def models(reading: Reading) -> Iterator[Rival]:
    """Yield other mountings of the robot, and other models of a closed form."""
    for variant in variants(reading.present.model):
        with suppress(RobodynError):
            other = _explained(reading.present, variant.model)
            urdf = variant.key == 'wrong_dynamic_model.gravity'
            yield Rival(variant.key, (), other, variant.values, least=FEW, ordinary=urdf)


def _explained(present: Evidence, model: DynamicModel) -> Evidence:
    return replace(present, model=model, base=base_parameters(model))
