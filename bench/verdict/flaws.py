# SPDX-License-Identifier: Apache-2.0
"""Flaws of recordings, as public bug reports have them, and the findings that name each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from scipy.signal import lfilter

from robodyn_ros.models.interface import Array
from robodyn_ros.recording.checks import check_recording
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.tables.columns import Signals

Plant = Callable[[Recording, Generator], Recording]


@dataclass(frozen=True)
class Flaw:
    """A flaw that is planted in a recording.

    :param plant: return the recording with the flaw; random numbers choose joint and size
    :param causes: codes of the findings that name it
    :param joints: least number of joints of a robot that it can be planted in
    :param everywhere: planted in the validation too, as a wrong convention is
    """

    name: str
    plant: Plant
    causes: tuple[str, ...]
    joints: int = 1
    everywhere: bool = True


def moving(recording: Recording) -> Array:
    """Return the joints with torque and motion that count, largest torque first."""
    torque = np.sqrt(np.mean(recording.torque**2, axis=0))
    stroke = np.ptp(recording.position, axis=0)
    known = np.flatnonzero((stroke > 0.1) & (torque > 0.03 * torque.max()))
    return known[np.argsort(-torque[known])]


def _pick(recording: Recording, random: Generator, count: int = 1) -> Array:
    return random.choice(moving(recording), count, replace=False)


def _torque(recording: Recording, torque: Array) -> Recording:
    return replace(recording, torque=np.ascontiguousarray(torque))


def _motion(recording: Recording, factor: Array, offset: Array | float = 0.0) -> Recording:
    """Return a recording with scaled and shifted positions and what follows from them."""
    matrix = np.diag(np.broadcast_to(factor, len(recording.joints)))
    return _mix(recording, matrix, offset)


def _mix(recording: Recording, matrix: Array, offset: Array | float = 0.0) -> Recording:
    """Return a recording with positions times a matrix (n, n), and what follows from them."""
    signals = {'position': recording.position @ matrix + offset}
    for name in ('velocity', 'acceleration'):
        if getattr(recording, name) is not None:
            signals[name] = getattr(recording, name) @ matrix
    return replace(recording, **signals)


def _one(recording: Recording, joints: Array, value: float, other: float = 1.0) -> Array:
    return np.where(np.isin(np.arange(len(recording.joints)), joints), value, other)


def _noise(recording: Recording, random: Generator) -> Recording:
    size = np.maximum(recording.torque.std(axis=0), 1e-3 * recording.torque.std())
    noise = random.normal(size=recording.torque.shape) * size
    slow = np.sin(2.0 * np.pi * 0.5 * recording.time)[:, None]
    return _torque(recording, noise + 0.1 * size * slow)


def _other_torque(recording: Recording, random: Generator) -> Recording:
    """Return torque of another part of the motion."""
    part = len(recording.time) * 3 // 8
    return _torque(recording, np.roll(recording.torque[::-1], part, axis=0))


def _lost(start: float, end: float, value: float = 0.0, one: bool = False) -> Plant:
    def plant(recording: Recording, random: Generator) -> Recording:
        torque, count = np.array(recording.torque), len(recording.time)
        rows = slice(round(start * count), round(end * count))
        columns = _pick(recording, random) if one else slice(None)
        torque[rows, columns] = torque[rows.start, columns] if value else 0.0
        return _torque(recording, torque)

    return plant


def _factor(value: float, one: bool = True) -> Plant:
    def plant(recording: Recording, random: Generator) -> Recording:
        joints = _pick(recording, random) if one else np.arange(len(recording.joints))
        return _torque(recording, recording.torque * _one(recording, joints, value))

    return plant


def _columns(names: bool = False, far: bool = False) -> Plant:
    def plant(recording: Recording, random: Generator) -> Recording:
        joints = moving(recording)
        first = int(random.integers(len(joints) - 1))
        last = len(joints) - 1 if far else first + 1
        order = np.arange(len(recording.joints))
        pair = joints[[first, last]]
        order[pair] = order[pair[::-1]]
        if names:
            return replace(recording, joints=tuple(recording.joints[k] for k in order))
        return _torque(recording, recording.torque[:, order])

    return plant


def _late(seconds: float, *, one: bool = False, half: bool = False) -> Plant:
    def plant(recording: Recording, random: Generator) -> Recording:
        torque, count = np.array(recording.torque), len(recording.time)
        shift = max(1, round(seconds / recording.period))
        rows = np.arange(count // 2 if half else 0, count)
        columns = _pick(recording, random) if one else np.arange(torque.shape[1])
        late = recording.torque[np.maximum(rows - shift, 0)][:, columns]
        torque[np.ix_(rows, columns)] = late
        return _torque(recording, torque)

    return plant


def _offset(degrees: float, count: int = 1) -> Plant:
    def plant(recording: Recording, random: Generator) -> Recording:
        joints = _pick(recording, random, count)
        return _motion(recording, np.ones(1), np.deg2rad(_one(recording, joints, degrees, 0.0)))

    return plant


def _reversed(torque: bool, count: int = 1) -> Plant:
    def plant(recording: Recording, random: Generator) -> Recording:
        sign = _one(recording, _pick(recording, random, count), -1.0)
        turned = _motion(recording, sign)
        return _torque(turned, turned.torque * sign) if torque else turned

    return plant


def _scaled_position(value: float, one: bool = False) -> Plant:
    def plant(recording: Recording, random: Generator) -> Recording:
        joints = _pick(recording, random) if one else np.arange(len(recording.joints))
        return _motion(recording, _one(recording, joints, value))

    return plant


def _coupled(recording: Recording, random: Generator) -> Recording:
    """Return the position of a joint plus that of the joint before, as motors of belts have it."""
    known = moving(recording)
    after = known[np.isin(known - 1, known)]
    mixed = np.eye(len(recording.joints))
    if len(after):
        joint = random.choice(after)
        mixed[joint - 1, joint] = 1.0
    return _mix(recording, mixed)


def _time(factor: float) -> Plant:
    """Return a plant of times in another unit, which pass the checks of the readers too."""

    def plant(recording: Recording, random: Generator) -> Recording:
        values = {'position': np.array(recording.position), 'torque': np.array(recording.torque)}
        time = factor * np.array(recording.time)
        return check_recording(Signals(time, recording.joints, recording.source, values))

    return plant


def _unsigned(recording: Recording, random: Generator) -> Recording:
    return _torque(recording, np.abs(recording.torque))


def _wrapped(recording: Recording, random: Generator) -> Recording:
    """Return torque in steps of 1/1000 of its largest, read as unsigned 16-bit numbers."""
    unit = np.maximum(np.abs(recording.torque).max(axis=0), 1e-9) / 1000.0
    return _torque(recording, np.round(recording.torque / unit) % 65536 * unit)


def _saturated(recording: Recording, random: Generator) -> Recording:
    torque, joint = np.array(recording.torque), _pick(recording, random)[0]
    level = 0.6 * np.abs(torque[:, joint]).max()
    torque[:, joint] = np.clip(torque[:, joint], -level, level)
    return _torque(recording, torque)


def _contact(recording: Recording, random: Generator) -> Recording:
    torque, count = np.array(recording.torque), len(recording.time)
    length = min(count // 8, max(10, round(1.0 / recording.period)))
    start = int(random.integers(count // 4, count // 2))
    size = 1.5 * torque.std(axis=0) * random.choice([-1.0, 1.0], torque.shape[1])
    torque[start : start + length] += np.sin(np.pi * np.arange(length) / length)[:, None] * size
    return _torque(recording, torque)


def _two_publishers(recording: Recording, random: Generator) -> Recording:
    """Return messages of a second publisher, without measured effort, between the first one's."""
    torque = np.array(recording.torque)
    torque[random.uniform(size=len(torque)) < 0.4] = 0.0
    return _torque(recording, torque)


def _filtered(recording: Recording, random: Generator) -> Recording:
    """Return torque behind a driver's first-order low pass of 2 Hz."""
    pole = np.exp(-2.0 * np.pi * 2.0 * recording.period)
    first = recording.torque[:1] * pole
    torque, _ = lfilter([1.0 - pole], [1.0, -pole], recording.torque, axis=0, zi=first)
    return _torque(recording, torque)


ORDER = ('joint_order',)
LOST = ('torque_lost', 'stuck_torque', 'disturbed_interval', 'drives_off')
LATE = ('time_offset', 'sensor_delay', 'delay_changes')
SIGN = ('torque_sign', 'axis_reversed', 'wrong_dynamic_model')

FLAWS = (
    Flaw('pure noise', _noise, ('not_explained',)),
    Flaw('torque of another motion', _other_torque, ('not_explained',)),
    Flaw('torque lost, last 10 %', _lost(0.9, 1.0), LOST, everywhere=False),
    Flaw('torque lost, last 30 %', _lost(0.7, 1.0), LOST, everywhere=False),
    Flaw('torque lost, middle 10 %', _lost(0.45, 0.55), LOST, everywhere=False),
    Flaw('torque lost, one joint 20 %', _lost(0.5, 0.7, one=True), LOST, everywhere=False),
    Flaw('torque frozen, one joint 20 %', _lost(0.3, 0.5, 1.0, True), LOST, everywhere=False),
    Flaw('torques exchanged', _columns(), ORDER, 2),
    Flaw('torques far exchanged', _columns(far=True), ORDER, 3),
    Flaw('names exchanged', _columns(names=True), ORDER, 2),
    Flaw('sign of one torque', _factor(-1.0), (*SIGN, 'joint_order')),
    Flaw('sign of all torques', _factor(-1.0, one=False), SIGN),
    Flaw('torque late 10 ms', _late(0.01), LATE),
    Flaw('torque late 30 ms', _late(0.03), LATE),
    Flaw('one torque late 30 ms', _late(0.03, one=True), LATE),
    Flaw('second half late 0.185 s', _late(0.185, half=True), LATE, everywhere=False),
    Flaw('zero off by 90 deg', _offset(90.0), ('encoder_offset',)),
    Flaw('zero off by 30 deg', _offset(30.0), ('encoder_offset',)),
    Flaw('two zeros off by 30 deg', _offset(30.0, 2), ('encoder_offset',), 2),
    Flaw('one torque times 2', _factor(2.0), ('torque_factor',)),
    Flaw('one torque times 0.5', _factor(0.5), ('torque_factor',)),
    Flaw('all torques times 0.2', _factor(0.2, one=False), ('torque_factor',)),
    Flaw('all torques times 1000', _factor(1000.0, one=False), ('torque_factor',)),
    Flaw('unsigned torque', _unsigned, ('torque_unsigned',)),
    Flaw('16-bit wrap', _wrapped, ('torque_wrapped',)),
    Flaw('axis reversed', _reversed(True), SIGN),
    Flaw('two axes reversed', _reversed(True, 2), SIGN, 3),
    Flaw('position reversed', _reversed(False), SIGN),
    Flaw('positions in degrees', _scaled_position(180.0 / np.pi), ('positions_in_degrees',)),
    Flaw('motor turns', _scaled_position(100.0, one=True), ('position_factor',)),
    Flaw('positions times 2', _scaled_position(2.0), ('position_factor',)),
    Flaw('position of two joints', _coupled, ('position_coupling',), 2),
    Flaw('times x 2', _time(2.0), ('time_scale',)),
    Flaw('times in ms', _time(1000.0), ('time_scale', 'slow_sampling')),
    Flaw('two publishers', _two_publishers, ('two_sources', 'torque_lost')),
    Flaw('torque saturated', _saturated, ('torque_saturation',)),
    Flaw('contact', _contact, ('disturbed_interval',), everywhere=False),
    Flaw('filtered torque', _filtered, (*LATE, 'torque_filtered')),
)
"""Every flaw; without gravity is made of the model (`without_gravity` of bench_verdict)."""
