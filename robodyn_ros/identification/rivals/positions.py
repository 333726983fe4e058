# SPDX-License-Identifier: Apache-2.0
"""Rival readings of positions: zeros of encoders, degrees, turns of the motor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from robodyn_ros.identification.rivals.evidence import Evidence, roughness
from robodyn_ros.identification.rivals.reading import Reading
from robodyn_ros.identification.rivals.rival import FEW, Rival
from robodyn_ros.models.interface import Array

TURN = 2.0 * np.pi
_RATIOS = 2.0 ** np.delete(np.arange(-3.0, 3.5, 0.5), 6)
KEYS = ('position_coupling', 'position_coupling.motors')
CHOSEN = 5.0
"""Standard errors by which the best of some fifty couplings or ratios must be better."""
_GRID = np.deg2rad(np.arange(-150.0, 181.0, 30.0))


def zeros(reading: Reading) -> Iterator[Rival]:
    """Yield the zero offset that explains most, then a second and a third one together with it."""
    best, offsets = reading.present.few(), np.zeros(reading.present.torque.shape[1])
    for _ in range(min(3, len(offsets))):
        few = replace(reading.present.few(), rough=best.rough)
        tried = []
        for joint in np.flatnonzero(offsets == 0.0):
            for each in _GRID[np.abs(_GRID) > 1e-9]:
                one = np.where(np.arange(len(offsets)) == joint, each, 0.0)
                tried.append(offsets + one)  # of parallel axes, only the sum was found
                tried += [offsets + one - each * (np.abs(offsets) > 0.0)] if offsets.any() else []
        costs = [_at(few, each, 0, float(each[0])).cost for each in tried]
        better, offsets = _refine(few, tried[int(np.argmin(costs))])
        gained = replace(best, rough=few.rough).cost - better.cost
        if gained < (1.0 if np.count_nonzero(offsets) > 1 else 0.2):
            return
        best = _nearest(few, better, offsets)
        offsets = (best.motion[0] - few.motion[0])[0]
        best = replace(best, rough=roughness(best.masses))
        offsets[np.abs(offsets) < 1e-9] = 0.0
        joints = tuple(np.flatnonzero(offsets).tolist())
        if np.abs(offsets[list(joints)]).min() > np.deg2rad(3.0):
            names = best.model.joint_names
            each = (f'{names[k]} {-np.rad2deg(offsets[k]):.3g} deg' for k in joints)
            read, texts = _at(reading.present, offsets, 0, float(offsets[0])), ', '.join(each)
            number = len(joints)
            yield Rival('encoder_offset', joints, read, {'offsets': texts}, FEW, fitted=number)


def _at(present: Evidence, offsets: Array, joint: int, offset: float) -> Evidence:
    """Return the samples with offsets (n,) added to the positions, one of them replaced."""
    added = np.where(np.arange(len(offsets)) == joint, offset, offsets)
    q, qd, qdd = present.motion
    return replace(present, motion=(q + added, qd, qdd))


def _refine(present: Evidence, offsets: Array) -> tuple[Evidence, Array]:
    """Return the samples at the best offsets near these, each varied in turn."""
    step = float(_GRID[1] - _GRID[0]) / 2.0
    best = _at(present, offsets, 0, float(offsets[0]))
    while step > np.deg2rad(0.4):
        for joint in np.flatnonzero(offsets).tolist():
            for each in (offsets[joint] - step, offsets[joint] + step):
                tried = _at(present, offsets, joint, float(each))
                if tried.cost < best.cost:
                    best = tried
                    offsets = np.where(np.arange(len(offsets)) == joint, each, offsets)
        step /= 2.0
    return best, offsets


def _nearest(few: Evidence, best: Evidence, offsets: Array) -> Evidence:
    """Return the samples at offsets, or half a turn off where these are smaller and as good.

    Half a turn further, first moments with the other sign give the same torque; masses tell.
    """
    for joint in np.flatnonzero(np.abs(offsets) > np.pi / 2.0).tolist():
        turned = float(offsets[joint] - np.pi * np.sign(offsets[joint]))
        other = _at(few, offsets, joint, turned)
        if other.cost < best.cost + 0.1:
            best, offsets = other, np.where(np.arange(len(offsets)) == joint, turned, offsets)
    return best


def couplings(reading: Reading) -> Iterator[Rival]:
    """Yield the joint whose position most likely holds that of the joint before or after.

    Motors of an arm with belts or of a wrist have such positions, and where torques are those of
    the motors, too, the other joint has the torque of this one in addition.
    """
    present, few = reading.present, reading.present.few()
    rotary = [joint.position_unit == 'rad' for joint in present.model.joints]
    mixed = [
        (pair, sign, torque)
        for before in range(len(rotary) - 1)
        for pair in ((before + 1, before), (before, before + 1))
        for sign in (1.0, -1.0)
        for torque in (False, True)
        if rotary[before] and rotary[before + 1]
    ]
    if not mixed:
        return
    pair, sign, torque = min(mixed, key=lambda row: _uncouple(few, *row).cost)
    how, back = ('plus', 'minus') if sign > 0.0 else ('minus', 'plus')
    values = {'other': present.model.joint_names[pair[1]], 'how': how, 'back': back}
    read = _uncouple(present, pair, sign, torque)
    yield Rival(KEYS[torque], pair[:1], read, values, least=FEW, certain=CHOSEN)


def _uncouple(read: Evidence, pair: tuple[int, int], sign: float, torque: bool) -> Evidence:
    """Return the samples without the position of another joint in that of a joint.

    :param torque: what a motor does to both of its joints counts at both: no power is lost
    """
    each = np.eye(read.torque.shape[1])
    part = sign * np.outer(each[pair[1]], each[pair[0]])
    freed = read.mix(each - part)
    return replace(freed, torque=read.torque @ (each + part.T)) if torque else freed


def ratios(reading: Reading) -> Iterator[Rival]:
    """Yield the joint, or all, whose positions are most likely some times the true ones.

    A gear that was forgotten, or turns, half turns and other units.
    """
    present, few = reading.present, reading.present.few()
    count = present.torque.shape[1]
    some = [(joint,) for joint in range(count)] + [tuple(range(count))] * (count > 1)

    def read(joints: tuple[int, ...], factor: float, of: Evidence = few) -> Evidence:
        return of.mix(np.diag(of.factors(joints, 1.0 / factor)))

    costs = {(each, factor): read(each, factor).cost for each in some for factor in _RATIOS}
    joints, factor = min(costs, key=costs.__getitem__)
    step = float(np.sqrt(_RATIOS[1] / _RATIOS[0]))
    while step > 1.01:
        near = (factor, factor / step, factor * step)
        factor = min(near, key=lambda each: read(joints, each).cost)
        step = float(np.sqrt(step))
    if abs(np.log(factor)) > np.log(1.25):  # no model is more exact
        rival = Rival('position_factor', joints, read(joints, factor, present), {'factor': factor})
        yield replace(rival, least=FEW, certain=CHOSEN, fitted=1, of_data=True)


def units(reading: Reading) -> Iterator[Rival]:
    """Yield positions in degrees, and joints whose position is that of the motor."""
    present = reading.present
    rotary = np.array([joint.position_unit == 'rad' for joint in present.model.joints])
    stroke = np.ptp(present.motion[0], axis=0) * rotary
    far = np.flatnonzero(stroke > 2.0 * TURN)
    if not len(far):
        return
    every = tuple(np.flatnonzero(rotary).tolist())
    degrees = np.diag(present.factors(every, np.pi / 180.0))
    yield Rival('positions_in_degrees.rival', every, present.mix(degrees), least=0.3)
    few = present.few()
    for joint in far.tolist():
        tried = np.geomspace(stroke[joint] / (2.5 * TURN), stroke[joint] / 0.1, 80)
        for _ in range(3):
            errors = [few.mix(np.diag(few.factors(joint, 1.0 / each))).cost for each in tried]
            best = float(tried[int(np.argmin(errors))])
            width = (tried[1] / tried[0]) ** 1.5
            tried = np.geomspace(best / width, best * width, 9)
        one = int(len(every) == 1)  # that of one joint may be in degrees as well
        better = present.mix(np.diag(present.factors(joint, 1.0 / best)))
        yield Rival('position_factor', (joint,), better, {'factor': best}, fitted=2 * one)
