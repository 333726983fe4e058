# SPDX-License-Identifier: Apache-2.0
"""Advice for manually chosen sines.

Source: softMC document "Inverse dynamic model", section "Data acquisition" with its Table 2: the
joints' pattern must not repeat itself, every joint should run through at least three cycles, its
amplitude should be close to its range and its peak velocity close to its limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np

from robodyn_ros.excitation.cycles import CYCLES
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.excitation.trajectory import Array

Quality = Literal['bad', 'medium', 'good']
ENOUGH_VELOCITY = 0.7
"""Share of the velocity limit that the fastest joint should reach."""
CLOSE = 0.95
"""Share of the velocity limit that the fastest joint reaches with the proposed factor."""


@dataclass(frozen=True)
class Repetition:
    """Numbers of cycles, and time [s], after which two joints are in the same phase again."""

    joints: tuple[str, str]
    cycles: tuple[int, int]
    time: float

    @property
    def quality(self) -> Quality:
        """Bad: after one cycle of the slower joint; medium: within three; good: later."""
        fewer = min(self.cycles)
        return 'bad' if fewer == 1 else 'medium' if fewer <= CYCLES else 'good'


@dataclass(frozen=True)
class Advice:
    """Assessment of a motion; arrays of shape (n,).

    :param repetitions: of all pairs of joints whose pattern repeats, earliest first
    :param range_share: used share of the position range; `velocity_share` likewise
    :param factor: of all frequencies, which brings the fastest joint close to a limit
    """

    repetitions: tuple[Repetition, ...]
    quality: Quality
    cycles: Array
    range_share: Array
    velocity_share: Array
    factor: float
    lines: tuple[str, ...]


def find_repetitions(
    joints: Sequence[str], frequency: Sequence[float] | Array
) -> list[Repetition]:
    """Find repeating pairs of joints: frequencies f_i / f_j = p / q repeat after p and q cycles.

    :param frequency: shape (n,), above 0, in [Hz]
    """
    result = []
    for (one, first), (other, second) in combinations(zip(joints, frequency, strict=True), 2):
        share = float(first) / float(second)
        if not 1e-3 <= share <= 1e3:
            continue
        ratio = Fraction(share).limit_denominator(1000)  # others never repeat
        p, q = ratio.numerator, ratio.denominator
        if 0 < p <= 1000 and abs(p * second - q * first) <= 1e-9 * p * second:
            result.append(Repetition((one, other), (p, q), float(p / first)))
    return sorted(result, key=lambda item: (min(item.cycles), item.time))


def advise(motion: SineMotion, limits: JointLimits) -> Advice:
    """Evaluate a motion of sines.

    :raises MotionError: a joint without limits
    """
    limits = limits.select(motion.joints)
    running = motion.duration - 0.5 * (motion.lead_in + motion.lead_out)
    swing = np.abs(motion.target - motion.start)
    omega = 2.0 * np.pi * motion.frequency
    velocity = 0.5 * swing * omega / limits.velocity
    acceleration = 0.5 * swing * omega**2 / limits.acceleration
    repeated = find_repetitions(motion.joints, motion.frequency)
    worst = repeated[0].quality if repeated else 'good'
    cycles = motion.frequency * running
    range_share = swing / (limits.upper - limits.lower)
    factor = _factor(velocity, acceleration)
    lines = [
        *_repeating(repeated, running),
        *_cycles(motion, cycles),
        *_ranges(motion, limits, range_share),
        *_velocities(motion, velocity, factor),
    ]
    return Advice(tuple(repeated), worst, cycles, range_share, velocity, factor, tuple(lines))


def _factor(velocity: Array, acceleration: Array) -> float:
    """Return the largest factor: velocities are linear in it, accelerations quadratic."""
    peak, hardest = float(velocity.max()), float(acceleration.max())
    choices = [CLOSE / peak] if peak > 0.0 else []
    choices += [float(np.sqrt(CLOSE / hardest))] if hardest > 0.0 else []
    return min(choices, default=1.0)


def _repeating(repeated: list[Repetition], running: float) -> list[str]:
    lines = []
    for item in repeated:
        (one, other), (p, q) = item.joints, item.cycles
        if item.quality == 'good' and item.time >= running:
            continue
        again = (
            'never part' if p == q else f'repeat after {p} cycle(s) of {one} and {q} of {other}'
        )
        lines.append(
            f'{one} and {other} {again} ({item.time:.3g} s, {item.quality}): take frequencies '
            'whose ratio needs larger numbers, such as 1.1 : 1.3 : 1.5'
        )
    return lines


def _cycles(motion: SineMotion, cycles: Array) -> list[str]:
    return [
        f'{name} runs through {count:.2g} cycles: at least {CYCLES} are needed, so last '
        f'{CYCLES / count:.3g} times as long or raise its frequency'
        for name, count in zip(motion.joints, cycles, strict=True)
        if count < CYCLES * (1.0 - 1e-9)
    ]


def _ranges(motion: SineMotion, limits: JointLimits, share: Array) -> list[str]:
    lines = []
    for index, name in enumerate(motion.joints):
        if share[index] < 0.8 and np.isfinite(limits.upper[index] - limits.lower[index]):
            lines.append(
                f'{name} uses {share[index]:.0%} of its range {limits.lower[index]:.4g} to '
                f'{limits.upper[index]:.4g} {limits.units[index]}: let it swing wider'
            )
        elif share[index] > 1.0 + 1e-9:
            lines.append(f'{name} leaves its range ({share[index]:.0%} of it): let it swing less')
    return lines


def _velocities(motion: SineMotion, share: Array, factor: float) -> list[str]:
    if share.max() > 1.0 + 1e-9 or factor < CLOSE:
        return [
            f'{motion.joints[int(np.argmax(share))]} would exceed a limit: multiply all '
            f'frequencies by {factor:.3g}'
        ]
    lines = []
    if share.max() < ENOUGH_VELOCITY and factor > 1.0 / ENOUGH_VELOCITY:
        lines.append(
            f'no joint reaches more than {share.max():.0%} of its velocity limit: multiply all '
            f'frequencies by {factor:.3g}'
        )
    for name, reached in zip(motion.joints, share * max(factor, 1.0), strict=True):
        if reached < 0.5 * ENOUGH_VELOCITY:
            lines.append(
                f'{name} stays at {reached:.0%} of its velocity limit even so: raise its '
                'frequency relative to the others'
            )
    return lines
