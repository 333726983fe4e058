# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of the motion: too short, too small a region, joints that move alike, stale data.

softMC document, sections "Review of the possible reasons for an identification failure" and
"Data acquisition" (choice of frequencies).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from robodyn_ros.excitation.cycles import CYCLES, count_cycles
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.case import COMPARED, Case, thin
from robodyn_ros.identification.diagnosis.position_limits import position_limits
from robodyn_ros.models.closed_forms.closed_form import closed_form_part
from robodyn_ros.models.closed_forms.puma import PumaGravityModel
from robodyn_ros.models.interface import Array

REGION = 0.25
"""Share of a joint's range below which the region is too small."""

ALIKE = 0.985
"""Canonical correlation of two joints' motions (position and velocity) that move as one."""


def motion_findings(case: Case) -> Iterator[Finding]:
    """Yield findings on how long and in which pattern the robot moved."""
    moving = _moving(case)
    yield from _too_short(case, moving)
    yield from _alike(case, moving)


def _moving(case: Case) -> list[int]:
    used: list[int] = np.flatnonzero(case.signals.used.any(axis=0)).tolist()
    return used


def _too_short(case: Case, moving: list[int]) -> Iterator[Finding]:
    part = closed_form_part(case.model)
    if part is not None and isinstance(part[0], PumaGravityModel):
        return  # one cycle of slow motion is enough for it
    if any(item.code in ('slow_sampling', 'static_poses') for item in case.recording.findings):
        return  # times are in another unit, or longer would not help
    done = count_cycles(thin(case.signals.position))
    # A lead-in takes a part of a cycle: 3 cycles of 20 s with one are enough.
    short = [k for k in sorted(moving, key=lambda k: float(done[k])) if done[k] < 0.9 * CYCLES]
    if not short:
        return
    seconds, least = len(case.signals) / case.rate, float(done[short[0]])
    names = case.signals.joints
    others = ', '.join(f'{names[k]} {done[k]:.1f}' for k in short[1:])
    yield finding(
        'too_short',
        joint=names[short[0]],
        done=least,
        seconds=seconds,
        others=f' ({others})' if others else '',
        cycles=CYCLES,
        longer=seconds * CYCLES / least,
    )


def joint_ranges(case: Case) -> Array:
    """Return the position limits of the joints, shape (n, 2), infinite where unknown."""
    limits = position_limits(case.model) | dict(case.options.position_limits or {})
    return np.array([limits.get(name, (-np.inf, np.inf)) for name in case.signals.joints])


def region_findings(case: Case) -> Iterator[Finding]:
    """Yield the joints that move in a small part of their range."""
    moving = _moving(case)
    limits = joint_ranges(case)
    low, high = case.signals.position.min(axis=0), case.signals.position.max(axis=0)
    width = np.diff(limits, axis=1)[:, 0]
    rotary = [joint.type != 'prismatic' for joint in case.model.joints]
    width = np.where(rotary, np.minimum(width, 2.0 * np.pi), width)  # all repeats after a turn
    width[~np.isfinite(limits).all(axis=1)] = np.inf
    share = np.where(np.isfinite(width) & (width > 0.0), (high - low) / width, np.inf)
    for joint in sorted(moving, key=lambda k: float(share[k])):
        if share[joint] < REGION:
            yield finding(
                'region_too_small',
                joint=case.signals.joints[joint],
                low=low[joint],
                high=high[joint],
                unit=case.model.joints[joint].position_unit,
                share=share[joint],
                lower=limits[joint, 0],
                upper=limits[joint, 1],
                limit=REGION,
            )


def _alike(case: Case, moving: list[int]) -> Iterator[Finding]:
    """Yield joints that move together, and pairs whose motion repeats after a few cycles."""
    matches, repeats = _pairs(case, moving)
    names = case.signals.joints
    if matches:
        match, first, second = max(matches)
        yield finding(
            'joints_move_together',
            joint=names[second],
            other=names[first],
            correlation=match,
            limit=ALIKE,
            pairs=len(matches),
        )
    if repeats:
        count, period, first, second = min(repeats)
        yield finding(
            'motion_repeats',
            joint=names[second],
            other=names[first],
            period=period,
            count=count,
            pairs=len(repeats),
        )


def _pairs(
    case: Case, moving: list[int]
) -> tuple[list[tuple[float, int, int]], list[tuple[int, float, int, int]]]:
    """Return pairs of joints that move together, and pairs whose motion repeats too early.

    :return: correlation, first and second joint; cycles, period in [s], first and second joint
    """
    step = max(1, len(case.signals) // COMPARED)
    position, velocity = case.signals.position[::step], case.signals.velocity[::step]
    planes = {joint: _plane(position[:, joint], velocity[:, joint]) for joint in moving}
    seconds = step / case.rate
    matches, repeats = [], []
    returns = dict(zip(moving, _distances(position[:, moving]).T, strict=True))
    done = count_cycles(position) / (len(position) * seconds)
    for first, second in combinations(moving, 2):
        match = np.linalg.svd(planes[first].T @ planes[second], compute_uv=False)[-1]
        if match > ALIKE:
            matches.append((float(match), first, second))
            continue
        period = seconds * _repeat(np.maximum(returns[first], returns[second]))
        slower = period * min(done[first], done[second])
        if 0.0 < slower < CYCLES - 0.5:
            repeats.append((round(slower), period, first, second))
    return matches, repeats


def _plane(position: Array, velocity: Array) -> Array:
    """Return orthonormal basis (N, 2) of a joint's position and velocity, without their means."""
    both = np.stack([position, velocity], axis=1)
    both = both - both.mean(axis=0)
    both /= np.maximum(np.linalg.norm(both, axis=0), 1e-300)
    return np.linalg.qr(both)[0]


def _distances(position: Array) -> Array:
    """Return the distance of each motion from itself 1, 2, ... samples ago, in sigmas.

    :param position: shape (N, n)
    """
    unit = position / np.maximum(position.std(axis=0), 1e-300)
    shifts = range(1, len(unit) // 2)
    ways = [np.abs(unit[shift:] - unit[:-shift]).mean(axis=0) for shift in shifts]
    return np.array(ways).reshape(len(shifts), position.shape[1])


def _repeat(distance: Array) -> int:
    """Return the number of samples after which a motion is back for the first time; 0: never."""
    near = distance < 0.06  # of the standard deviation: noise and the steps of the samples
    if near.all() or not near.any():
        return 0
    start = int(np.argmin(near))  # shortly after, every motion is near itself
    if not near[start:].any():
        return 0
    first = start + int(np.argmax(near[start:]))
    stop = len(near) if near[first:].all() else first + int(np.argmin(near[first:]))
    return 1 + first + int(np.argmin(distance[first:stop]))
