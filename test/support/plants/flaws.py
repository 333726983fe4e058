# SPDX-License-Identifier: Apache-2.0
"""Recordings with exactly one flaw each, and healthy ones, of the robots in `flaw_plants`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from flaw_plants import Case, Robot, record, robots

from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.recording.recording import Recording

__all__ = ['FLAWS', 'Case', 'Flawed', 'Robot', 'flawed', 'healthy', 'record', 'robots']


@dataclass(frozen=True)
class Flawed:
    """A recording with one flaw.

    :param code: of the finding that should come first
    :param joint: that it should name; '' if no single one is meant
    :param also: other findings that say the same
    :param model: to identify, which may be the wrong one
    """

    recording: Recording
    model: DynamicModel
    robot: Robot
    code: str
    joint: str = ''
    also: tuple[str, ...] = ()


def healthy(robot: Robot, seed: int, kind: str = 'sine') -> Recording:
    """Return a recording that nothing is wrong with."""
    return record(Case(robot, seed, kind=kind))[0]


def flawed(flaw: str, robot: Robot, seed: int, level: int, kind: str = 'sine') -> Flawed | None:
    """Recording with a flaw, None where this robot cannot have it.

    :param level: 0 slight, 1, 2 severe
    """
    return FLAWS[flaw](Case(robot, seed, kind=kind), level)


def _made(case: Case, code: str, joint: str = '', **changes: object) -> Flawed:
    recording, _ = record(case)
    if changes:
        recording = _changed(recording, **changes)
    return Flawed(recording, case.robot.model, case.robot, code, joint)


def _changed(recording: Recording, **signals: object) -> Recording:
    return Recording(
        time=signals.get('time', recording.time),
        joints=recording.joints,
        position=signals.get('position', recording.position),
        torque=signals.get('torque', recording.torque),
        source=recording.source,
    )


def _any_joint(case: Case) -> int:
    return int(case.random.integers(len(case.robot.joints)))


def too_slow(case: Case, level: int) -> Flawed:
    """All joints at a fraction of the usual speed, long enough for three cycles."""
    share = (0.12, 0.08, 0.04)[level]
    case.frequency = case.frequency * share
    case.rate, case.duration = 100.0, 3.3 / case.frequency.min()
    return _made(case, 'moving_too_slowly')


def saturated(case: Case, level: int) -> Flawed:
    """The torque of one joint is cut at a share of its largest."""
    share, joint = (0.75, 0.6, 0.45)[level], _any_joint(case)
    recording, torque = record(case)
    limit = share * np.abs(torque[:, joint]).max()
    seen = np.array(recording.torque)
    noise = seen[:, joint] - torque[:, joint]
    if case.seed % 2:  # the drive's current is limited, and measured with noise
        seen[:, joint] = np.clip(torque[:, joint], -limit, limit) + noise
    else:  # the measurement ends there
        seen[:, joint] = np.clip(seen[:, joint], -limit, limit)
    changed = _changed(recording, torque=seen)
    name = case.robot.joints[joint]
    return Flawed(changed, case.robot.model, case.robot, 'torque_saturation', name)


def too_short(case: Case, level: int) -> Flawed:
    """The slowest joint completes a cycle or two."""
    case.kind = 'sine'  # the cycles of a Fourier series are not those of its frequency
    case.duration = (2.0, 1.5, 1.0)[level] / case.frequency.min()
    return _made(case, 'too_short', case.robot.joints[int(np.argmin(case.frequency))])


def small_region(case: Case, level: int) -> Flawed:
    """One joint swings in a small part of its range, as hard as in a large one."""
    share, joint = (0.2, 0.12, 0.06)[level], _any_joint(case)
    before = case.swing[joint]
    width = np.diff(case.robot.limits[joint])[0]  # a turn is all that a joint's position can be
    case.swing[joint] = share * min(width, 2.0 * np.pi) / 2.0
    case.frequency[joint] *= np.sqrt(before / case.swing[joint])
    return _made(case, 'region_too_small', case.robot.joints[joint])


def wrong_sign(case: Case, level: int) -> Flawed:
    """Torque of one joint with the wrong sign; severe: of all joints."""
    recording, _ = record(case)
    count = len(case.robot.joints)
    sign = np.ones(count)
    joint = _any_joint(case)
    sign[joint] = -1.0
    if level == 2:
        sign[:] = -1.0
    changed = _changed(recording, torque=recording.torque * sign)
    name = '' if level == 2 and count > 1 else case.robot.joints[joint]
    return Flawed(changed, case.robot.model, case.robot, 'torque_sign', name)


FACTORS = (2.0, 0.5, 0.01, 1000.0, 0.001, 1.0 / 121, 1.0 / 50, 10.0, 0.1, 3.0)


def wrong_factor(case: Case, level: int) -> Flawed | None:
    """Torque of one joint with the wrong factor: a factor 2, a gear forgotten, a wrong unit."""
    shares = {'six_axis': 5, 'scara': 2, 'scara3': 2, 'delta': 3, 'delta3': 3, 'puma': 3}
    if case.robot.name not in shares:
        return None  # one axis has nobody to compare with
    joint = int(case.random.integers(shares[case.robot.name]))
    factor = FACTORS[int(case.random.integers(len(FACTORS)))]
    if level == 0:
        factor = (2.0, 0.5)[case.seed % 2]
    recording, _ = record(case)
    scale = np.ones(len(case.robot.joints))
    scale[joint] = factor
    changed = _changed(recording, torque=recording.torque * scale)
    name = case.robot.joints[joint]
    return Flawed(changed, case.robot.model, case.robot, 'torque_factor', name)


def wrong_unit(case: Case, level: int) -> Flawed | None:
    """Torque of all joints in another unit; only a prior tells."""
    if case.robot.name != 'six_axis':
        return None
    recording, _ = record(case)
    changed = _changed(recording, torque=recording.torque * (10.0, 0.01, 1000.0)[level])
    return Flawed(changed, case.robot.model, case.robot, 'torque_factor')


def wrong_model(case: Case, level: int) -> Flawed | None:
    """Another dynamic model of the kind, or gravity in another direction."""
    choices = case.robot.wrong
    if not choices:
        return None
    if case.robot.name == 'puma':  # its semi-static model refuses motions that are all fast
        case.frequency = 0.25 * case.frequency
        case.duration = 3.3 / case.frequency.min()
    recording, _ = record(case)
    model = choices[level % len(choices)]
    also = ('too_fast_for_semi_static', 'refused') if case.robot.name == 'puma' else ()
    return Flawed(recording, model, case.robot, 'wrong_dynamic_model', also=also)


def noisy(case: Case, level: int) -> Flawed:
    """Noise as large as the torque, on the joint with the least torque."""
    _, torque = record(case)
    joint = int(np.argmin(np.sqrt(np.mean(torque**2, axis=0))))
    case.noise[joint] = (0.4, 0.7, 1.5)[level]
    return _made(case, 'noise_as_large_as_signal', case.robot.joints[joint])


def together(case: Case, level: int) -> Flawed | None:
    """Two joints with the same frequency."""
    count = len(case.robot.joints)
    if count < 2 or case.kind != 'sine':
        return None
    first, second = case.random.choice(count, 2, replace=False)
    case.frequency[second] = case.frequency[first]
    case.phase[second] = (1.3, 0.6, 0.0)[level]
    return _made(case, 'joints_move_together')


def repeating(case: Case, level: int) -> Flawed | None:
    """All joints' frequencies are simple multiples of the slowest one's."""
    count = len(case.robot.joints)
    if count < 2 or case.kind != 'sine':
        return None
    first, second = sorted(case.random.choice(count, 2, replace=False))
    ratio = (1.5, 2.0, 2.0)[level]
    others = np.delete(case.frequency, [first, second])
    for low in case.frequency[first] / np.sqrt(ratio) * np.linspace(1.0, 0.6, 41):
        pair = np.array([low, low * ratio])
        if (np.abs(np.log(others[:, None] / pair)) > 0.1).all():  # not together with a third
            break
    case.frequency[[first, second]] = pair
    case.phase[second] = (0.0, 0.0, 0.7)[level]
    case.duration = max(case.duration, 3.3 / case.frequency.min())
    return _made(case, 'motion_repeats')


def delayed(case: Case, level: int) -> Flawed:
    """Torque late against position, or early; of one joint or of all."""
    cycles = (2.0, 4.0, 8.0)[level]
    sign = -1.0 if case.random.uniform() < 0.3 else 1.0
    joint = _any_joint(case)
    if case.random.uniform() < 0.5:
        case.delay[:] = sign * cycles / case.rate
    case.delay[joint] = sign * cycles / case.rate
    return replace(_made(case, 'sensor_delay'), also=('time_offset',))  # found and corrected


def stale(case: Case, level: int) -> Flawed:
    """The driver hangs a few times, or gives new values only every few cycles."""
    recording, _ = record(case)
    rows = np.arange(len(recording))
    if level == 2:
        rows -= rows % 5
    else:
        for start in case.random.integers(0, len(rows) - 200, (10, 25)[level]):
            length = int(case.random.uniform(0.05, 0.3) * case.rate)
            rows[start : start + length] = rows[start]
    position, torque = recording.position[rows], recording.torque[rows]
    return Flawed(
        _changed(recording, position=position, torque=torque),
        case.robot.model,
        case.robot,
        'stale_joint',
    )


def frozen(case: Case, level: int) -> Flawed | None:
    """The encoder of one joint stays where it is, or toggles by one step."""
    if len(case.robot.joints) == 1:
        return None  # then nothing moves, and identification refuses
    recording, _ = record(case)
    joint = _any_joint(case)
    position = np.array(recording.position)
    step = case.robot.resolution[joint] * (0, 1, 3)[level]
    position[:, joint] = position[0, joint] + step * case.random.integers(0, 2, len(position))
    name = case.robot.joints[joint]
    changed = _changed(recording, position=position)
    return Flawed(changed, case.robot.model, case.robot, 'frozen_joint', name)


FLAWS: dict[str, Callable[[Case, int], Flawed | None]] = {
    'too slow': too_slow,
    'saturation': saturated,
    'too short': too_short,
    'small region': small_region,
    'wrong sign': wrong_sign,
    'wrong factor': wrong_factor,
    'wrong unit': wrong_unit,
    'wrong model': wrong_model,
    'noise': noisy,
    'joints together': together,
    'motion repeats': repeating,
    'delay': delayed,
    'stale': stale,
    'frozen': frozen,
}


def limits_of(robot: Robot) -> dict[str, tuple[float, float]]:
    """Joint limits as `IdentifyOptions.position_limits` takes them."""
    return {
        name: (float(low), float(high))
        for name, (low, high) in zip(robot.joints, robot.limits, strict=True)
    }
