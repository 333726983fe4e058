# SPDX-License-Identifier: Apache-2.0
"""Flaws that a correction of the signals or of the model would remove.

Joint order, torque signs, direction of gravity, scale of time, size of the robot and encoder
offsets are tried in the same manner: each correction is fitted, and those that fit best are
compared with the recording as it is on folds left out of the fit. The flaw is an error only if
correcting it lowers that error significantly and by a share that matters (see `trial`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.findings import Finding, Severity, finding, sentence
from robodyn_ros.identification.diagnosis.case import Case, Sample
from robodyn_ros.identification.diagnosis.other_models import parts_of, variants
from robodyn_ros.identification.diagnosis.saturation import saturation_findings
from robodyn_ros.identification.diagnosis.scale import scaled_gravity
from robodyn_ros.identification.diagnosis.torque_factors import (
    DISAGREE,
    NEGATIVE,
    disagreement,
    shared,
    signs,
)
from robodyn_ros.identification.diagnosis.trial import (
    Trial,
    confirmed,
    folds,
    share_left,
    solution,
)
from robodyn_ros.identification.fit.choice import FOUR, MOST, is_better
from robodyn_ros.identification.fit.folds import Labels
from robodyn_ros.models.interface import Array, Indices
from robodyn_ros.models.sensitivity import STEP
from robodyn_ros.models.serial.urdf import UrdfModel

SUSPICIOUS = 0.2
"""Share of a joint's torque that its residual must exceed for corrections to be tried, unless the
joints disagree about shared parameters."""


@dataclass(frozen=True)
class Correction:
    """A flaw, and the samples with the flaw corrected.

    :param finding: builds the finding of the flaw from its evidence
    """

    finding: Callable[..., Finding]
    trial: Trial


def correction_findings(case: Case, sample: Sample) -> Iterator[Finding]:
    """Return the flaw whose correction lowers the held-out error most, if there is one.

    Dozens are tried, and the best of them is better than none by chance: the flaw is an error only
    from `FOUR` standard errors on.
    """
    present = Trial.of(case, sample)
    of_urdf = any(isinstance(part, UrdfModel) for part in parts_of(case.model))
    if of_urdf and not _suspicious(case, sample):
        return
    tried = [(each.trial.fitted()[1], each) for each in _corrections(case, sample, present)]
    best = sorted(tried, key=lambda pair: pair[0])[:2]  # held-out errors cost more
    division, count = folds(present), int(np.count_nonzero(present.weight))
    error = present.held_out(division)
    left = [(share_left(error, each.trial.held_out(division), count), each) for _, each in best]
    if not left:
        return
    share, found = min(left, key=lambda pair: pair[0])
    clear = is_better(error, found.trial.held_out(division), FOUR)
    small = share > MOST  # then a warning, if it is certain and can be told from springs
    if (small and not (clear and of_urdf)) or _factor_explains(case, sample, share):
        return
    spring = of_urdf and _springs_explain(present, found.trial, division, count)
    if small and spring:
        return
    words = 'correction.spring' if spring else 'correction' if clear else 'correction.unclear'
    severity: Severity | None = None if clear and not (small or spring) else 'warning'
    told = found.finding(severity=severity, evidence=sentence(words, share=share))
    if told.code == 'encoder_offset' and any(saturation_findings(case, sample)):
        return  # an offset can be like torque that is missing at the top
    yield confirmed(case, told, present, found.trial)


def _springs_explain(
    present: Trial, corrected: Trial, division: tuple[Labels, ...], count: int
) -> bool:
    """Return True if springs on the joints leave no more than twice the error of a correction.

    The correction is then no evidence: a mounting or an encoder would be blamed for a balancer.
    Other dynamic models of the closed forms are choices of the user, who loses nothing by them.
    """
    spring = present.with_springs().held_out(division)
    return share_left(spring, corrected.held_out(division), count) > MOST


def _suspicious(case: Case, sample: Sample) -> bool:
    """Return True if joints disagree, or one of them has torque that its model cannot explain."""
    shares = (own.sigma / max(own.rms, 1e-300) for _, own in sample.fits())
    return max(shares, default=0.0) > SUSPICIOUS or disagreement(case, sample) > DISAGREE


def _factor_explains(case: Case, sample: Sample, share: float) -> bool:
    """Return True if a factor of one joint's torque leaves less of the disagreement."""
    found = shared(case, sample)
    return bool(found.excesses.min(initial=np.inf) ** 2 < share * found.excess**2)


def _corrections(case: Case, sample: Sample, present: Trial) -> Iterator[Correction]:
    names, physical = case.signals.joints, signs(case, sample)
    for variant in variants(case.model):
        yield Correction(variant.finding, present.explained_by(variant.model))
    yield from _orders(names, present)
    for joint, name in enumerate(names if len(names) > 1 else ()):
        if min(physical.get(joint, (-np.inf,))) > -NEGATIVE:
            continue  # its inertia and its friction say that its sign is right
        sign = np.where(np.arange(len(names)) == joint, -1.0, 1.0)
        described = partial(finding, 'torque_sign.correction', name)
        yield Correction(described, replace(present, torque=present.torque * sign))
    scaled = scaled_gravity(present)
    if scaled is not None:
        yield Correction(*scaled)
    with suppress(RobodynError):
        yield from _offset(names, present)


def _orders(names: tuple[str, ...], present: Trial) -> Iterator[Correction]:
    """Return swapped torques, and joints that have each other's names, in pairs or all."""
    count = len(names)
    pairs = list(combinations(range(count), 2))
    orders: list[Indices] = [_swapped(count, pair) for pair in pairs]
    if count > 2:
        orders.append(np.arange(count)[::-1])
    for order in orders:
        moved = [names[k] for k in np.flatnonzero(order != np.arange(count))]
        every = len(moved) > 2
        joints = f'{moved[0]} to {moved[-1]}' if every else ' and '.join(moved)
        key = 'joint_order.all_torques' if every else 'joint_order.torques'
        torques = partial(finding, key, moved[0], joints=joints)
        key = 'joint_order.all_names' if every else 'joint_order.names'
        named = partial(finding, key, moved[0], joints=joints)
        torque, weight = present.torque[:, order], present.weight[:, order]
        trial = replace(present, torque=torque, weight=weight)
        yield Correction(torques, trial)
        q, qd, qdd = (values[:, order] for values in present.motion)
        with suppress(RobodynError):  # another joint's position may be out of reach
            yield Correction(named, trial.moved((q, qd, qdd)))


def _swapped(count: int, pair: tuple[int, int]) -> Indices:
    order = np.arange(count)
    order[list(pair)] = order[list(pair)[::-1]]
    return order


def _offset(names: tuple[str, ...], present: Trial) -> Iterator[Correction]:
    """Return the encoder offset that explains most of the residual, by Gauss-Newton steps."""
    joint, offset, trial = -1, 0.0, present
    for _ in range(3):
        steps, gains = _offset_steps(trial)
        if joint < 0:
            joint = int(np.argmax(gains))
        offset += float(np.clip(steps[joint], -0.3, 0.3))
        position = np.array(present.motion[0])
        position[:, joint] += offset
        trial = present.moved((position, *present.motion[1:]))
    told = _length_or_angle(-offset, present.model.joints[joint].position_unit)
    described = partial(finding, 'encoder_offset', names[joint], offset=told)
    yield Correction(described, trial)


def _length_or_angle(value: float, unit: str) -> str:
    """Return a length in [m], or an angle in [rad], and in degrees too, as drives have it."""
    degrees = f' ({np.rad2deg(value):.3g} deg)' if unit == 'rad' else ''
    return f'{value:.3g} {unit}{degrees}'


def _offset_steps(trial: Trial) -> tuple[Array, Array]:
    """Return the offset of each joint (n,) that fits best, and the squared error it removes."""
    values, _ = trial.fitted()
    rows = trial.rows
    used = rows[:, :, :-1].reshape(-1, rows.shape[-1] - 1)
    gram = used.T @ used
    residual = (rows[:, :, -1] - rows[:, :, :-1] @ values).ravel()
    steps, gains = np.zeros((2, rows.shape[1]))
    q, qd, qdd = trial.motion
    for joint in range(rows.shape[1]):
        shift = np.where(np.arange(rows.shape[1]) == joint, STEP, 0.0)
        ahead = trial.model.torque(q + shift, qd, qdd, values)
        behind = trial.model.torque(q - shift, qd, qdd, values)
        slope = (trial.weight * (ahead - behind) / (2.0 * STEP)).ravel()
        clear = slope - used @ solution(gram, used.T @ slope)
        norm = float(clear @ clear)
        if norm > 1e-6 * float(slope @ slope) and norm > 0.0:
            steps[joint] = float(clear @ residual) / norm
            gains[joint] = steps[joint] ** 2 * norm
    return steps, gains
