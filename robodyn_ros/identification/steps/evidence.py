# SPDX-License-Identifier: Apache-2.0
"""Evidence of a run for the verdict: errors, reach, plausibility, consistency, contradictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from robodyn_ros.findings import Finding
from robodyn_ros.identification.fit.torque_errors import reference_torque, relative_error
from robodyn_ros.identification.physical.consistency import bodies_of, links_are_consistent
from robodyn_ros.identification.result.facts import moving_masses
from robodyn_ros.identification.result.verdict import (
    DOUBTFUL,
    FELT,
    GOOD,
    PAYLOAD_ERROR,
    Evidence,
    JointVerdict,
    Use,
    Verdict,
    Word,
)
from robodyn_ros.identification.steps.held_out import unseen_error
from robodyn_ros.identification.steps.run import IdentificationRun
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.urdf import rigid_part

OF_ONE_JOINT = frozenset((
    'constant_torque', 'not_explained', 'position_coupling', 'relative_error_too_large',
    'too_few_samples', 'torque_factor', 'torque_lost', 'torque_saturation', 'torque_sign',
    'torque_unsigned', 'torque_wrapped', 'zero_torque',
))  # fmt: skip
"""Errors of a joint's torque, and of its coupling: what that does to others shows in their errors.
All others, as of a position or an order, spoil all joints."""
HARMLESS = (
    'relative_error_too_large',
    'not_explained',
    'too_few_samples',
    'zero_torque',
    'constant_torque',
)
"""Those that leave the parameters of the other joints as they are."""
DOUBTS = (
    'static_poses',
    'sensor_delay',
    'torque_filtered',
    'slow_sampling',
    'convention_doubtful',
)
"""Findings that are no errors and conventions too: torque that is late, and what is likely."""
BEARING = 0.25
"""Share of the largest gravity torque by the URDF from which on a joint bears the arm: whatever a
gripper adds, its gravity torque stays that of this arm, apart from a factor."""
CONTRARY = 0.95
"""Difference of the gravity torque of such a joint from which on the URDF is that of another
robot: a factor of 20, or no relation at all."""
ELSEWHERE = 0.1
"""Error to be expected on other motions from which on links are not those of the robot: a URDF is
used for every motion."""
IDLE = 'idle: constant torque'
"""Evidence on a joint that did not move: no more of it is known than its mean torque."""
UNDETERMINED = 'not all parameters determined'
LATE = 0.1
"""Part of a joint's torque that a time offset changes, from which on its correction counts."""


def verdict_of(run: IdentificationRun, findings: Sequence[Finding]) -> Verdict:
    """Return the verdict on a run from its findings and its figures."""
    errors = [item for item in findings if item.severity == 'error']
    if run.payload is not None and run.task.arm is not None:
        return _of_payload(run, findings)
    model = run.prepared.model
    other, tested = unseen_error(
        run.prepared.model, run.estimated, run.report, run.validation, repeats=run.repeats
    )
    fitted = relative_error(run.report, model)
    reach, idle = _reach(run), _idle(run)
    gravity = _gravity_difference(run)
    beyond, spoils = _beyond(run, reach, gravity[0]), _spoils(run, fitted, other)
    # A named cause at a joint changes the gravity torque, too: the URDF is not to blame then.
    explained = any(item.joint and item.code not in HARMLESS for item in errors)
    foreign = [] if explained else list(_find_foreign(run, idle, *gravity))
    negative, joints = _negative_rotors(run), []
    doubted = any(item.code == 'convention_doubtful' for item in findings)
    for index, name in enumerate(model.joint_names):
        both = float(fitted[index]), float(other[index])
        figures = {'error': both[0], 'other_error': both[1], 'expected': float(reach[index])}
        facts = [*_contradictions(errors, name), *foreign, *_doubts(findings, name)]
        if name in idle:  # how well a constant holds says nothing about a joint in motion
            if both[0] > 1.0:  # such torque is worse than none
                facts.append(('not usable', f'{both[0]:.0%} of torque unexplained'))
            use = Use.of([*facts, ('with care', IDLE)])
            joints.append(JointVerdict(name, use, use, moved=False, **figures))
            continue
        facts += _grade(run, index, both)
        if doubted and np.fmin(*both) > GOOD * run.task.options.max_relative_error:
            facts.append(('not usable', 'torque contradicts the conventions'))
        facts += _find_shift(run, index)
        shared: list[Evidence] = [
            ('with care', f'{each} is unexplained')
            for each, spoilt in zip(model.joint_names, spoils[:, index], strict=True)
            if spoilt and each not in idle
        ]
        shared += [('with care', 'negative rotor inertia')] if name in negative else []
        feedforward, monitoring = Use.of([*facts, *beyond[index], *shared]), Use.of(facts)
        joints.append(JointVerdict(name, feedforward, monitoring, moved=True, **figures))
    inertials = _inertials(run, errors, joints, foreign)
    return Verdict(tuple(joints), inertials, tested=tested)


def _spoils(run: IdentificationRun, fitted: Array, other: Array) -> Array:
    """Return which joint (row) is explained so badly that it spoils which other one, (n, n).

    One beyond the limit spoils all. Torque that is explained on no data may as well have gone to
    the parameters of another joint: that counts where it is a part of that joint's torque.
    """
    limit = run.task.options.max_relative_error
    size = np.maximum(reference_torque(run.report, run.prepared.model), 1e-300)
    lacking = np.fmin(fitted, other)
    part = np.outer(lacking * size, 1.0 / size)
    spoils = (lacking[:, None] > GOOD * limit) & (part > GOOD * limit)
    spoils |= (np.fmax(fitted, other) > limit)[:, None]
    return np.asarray(spoils & ~np.eye(len(size), dtype=bool))


def _grade(run: IdentificationRun, joint: int, errors: tuple[float, float]) -> Iterator[Evidence]:
    """Yield the larger error of a joint, in the fit or on other data, if it is large."""
    limit, worst = run.task.options.max_relative_error, np.fmax(*errors)
    if not worst <= GOOD * limit:
        word: Word = 'with care' if worst <= limit else 'not usable'
        yield word, f'{worst:.0%} of torque unexplained'
    if np.isnan(errors[1]):
        yield 'with care', 'not tested on other data'
    softmc = run.task.options.success_rule == 'softmc'
    for report in filter(None, (run.report, run.validation) if softmc else ()):
        error = report.max_relative_torque_error[joint]
        if error > limit:
            yield 'not usable', f'largest error {error:.0%} of the largest torque'


def _idle(run: IdentificationRun) -> frozenset[str]:
    """Return the joints that move in no recording."""
    return frozenset.intersection(
        *(
            frozenset(item.joint for item in parts.shown.findings if item.code == 'frozen_joint')
            for parts in run.prepared.parts
        )
    )


def _contradictions(errors: Sequence[Finding], joint: str) -> Iterator[Evidence]:
    """Yield the errors that spoil a joint."""
    for item in errors:
        text = f'{item.code} ({item.joint})' if item.joint not in ('', joint) else item.code
        if (
            item.code not in OF_ONE_JOINT
            or not item.joint
            or (item.joint == joint and item.code != 'relative_error_too_large')
        ):
            yield 'not usable', text
        elif item.joint != joint and item.code not in HARMLESS:
            yield 'with care', text


def _doubts(findings: Sequence[Finding], joint: str) -> Iterator[Evidence]:
    """Yield the doubts whether a joint's torque is what its model gives."""
    for item in findings:
        if item.severity != 'error' and item.code in DOUBTS and item.joint in ('', joint):
            yield 'with care', item.code


def _find_shift(run: IdentificationRun, joint: int) -> Iterator[Evidence]:
    """Yield that the torque of a joint was late by a time that matters."""
    offset, shown = run.prepared.offsets.get(joint), run.prepared.parts[0].shown
    if offset is None or not offset.applied:
        return
    slope = np.gradient(shown.torque[:, joint], shown.time)
    changed = abs(offset.seconds) * float(np.sqrt(np.mean(slope**2)))
    if changed > LATE * reference_torque(run.report, run.prepared.model)[joint]:
        yield 'with care', f'torque was {1e3 * offset.seconds:.3g} ms late (shifted)'


def _reach(run: IdentificationRun) -> Array:
    """Return the expected error of each joint on other motions, relative to its torque, (n,)."""
    reference = reference_torque(run.report, run.prepared.model)
    expected = run.expected / np.maximum(reference, 1e-300)
    return np.asarray(np.where(np.isnan(expected), run.uncertainty, expected))


def _beyond(run: IdentificationRun, reach: Array, gravity: Array) -> list[list[Evidence]]:
    """Return the evidence of each joint on other motions than the recorded one."""
    model, good = run.prepared.model, GOOD * run.task.options.max_relative_error
    missing = 'holds only while idle joints stay' if _idle(run) else UNDETERMINED
    every: list[list[Evidence]] = []
    for index, name in enumerate(model.joint_names):
        facts: list[Evidence] = []
        if name not in run.prepared.frozen:
            if np.isnan(run.uncertainty[index]):
                facts.append(('with care', missing))
            if reach[index] > good:
                facts.append(('with care', f'expected error on other motions {reach[index]:.0%}'))
            if gravity[index] > DOUBTFUL:
                share = f'{gravity[index]:.0%}'
                facts.append(('with care', f"gravity torque {share} off the URDF's"))
        every.append(facts)
    return every


def _find_foreign(
    run: IdentificationRun, idle: frozenset[str], gravity: Array, given: Array
) -> Iterator[Evidence]:
    """Yield that the gravity torque of a joint that bears the arm is not that of the URDF."""
    units = np.array([joint.torque_unit for joint in run.prepared.model.joints])
    for joint, name in enumerate(run.prepared.model.joint_names):
        bears = given[joint] > BEARING * given[units == units[joint]].max()
        if bears and gravity[joint] > CONTRARY and name not in idle:
            yield 'not usable', f'{name}: gravity contradicts the URDF'


def _gravity_difference(run: IdentificationRun) -> tuple[Array, Array]:
    """Return how far identified and URDF gravity torque differ, relative to the larger one, (n,).

    A difference below `FELT` of a joint's torque gives 0, as does a URDF without gravity torque,
    whose masses are not known.

    :return: the difference, and the RMS gravity torque by the URDF, in [Nm] or [N]
    """
    model, shown = run.prepared.model, run.prepared.parts[0].shown
    if rigid_part(model) is None:
        return np.zeros(len(model.joints)), np.zeros(len(model.joints))
    rows = np.unique(np.linspace(0, len(shown) - 1, 500).astype(int))
    moments = np.zeros(len(model.parameters), dtype=bool)
    moments[[k for _, indices in bodies_of(model).links for k in indices[:4]]] = True
    position, still = shown.position[rows], np.zeros((len(rows), len(model.joints)))
    torques = [
        model.torque(position, still, still, np.where(moments, values, 0.0))
        for values in (run.estimated.values, model.prior())
    ]
    torques.append(torques[0] - torques[1])
    identified, given, apart = (np.sqrt(np.mean(each**2, axis=0)) for each in torques)
    least = FELT * reference_torque(run.report, model)
    counts = (apart > least) & (given > 0.01 * identified)
    larger = np.maximum(np.maximum(identified, given), 1e-300)
    return np.where(counts, apart / larger, 0.0), given


def _inertials(
    run: IdentificationRun,
    errors: Sequence[Finding],
    joints: Sequence[JointVerdict],
    foreign: Sequence[Evidence],
) -> Use:
    """Return the use of the links' masses, centres and inertias."""
    model, values = run.prepared.model, run.estimated.values
    wrong = [text for _, text in _contradictions(errors, '')]
    wrong += ['the URDF is that of another robot'] if foreign else []
    facts: list[Evidence] = [('not usable', text) for text in wrong]  # of one joint, too
    if not links_are_consistent(model, values):
        facts.append(('not usable', 'no robot can have these links'))
    if negative := _negative_rotors(run):
        facts.append(('with care', f'negative rotor inertia of {", ".join(negative)}'))
    missing = run.estimated.fit.unseen.shape[1]
    if missing:
        facts.append(('with care', f'{missing} combinations of parameters not determined'))
    masses = moving_masses(model, values, run.estimated.completion.stddevs)
    mass, given = masses.get('moving_mass', 0.0), masses.get('moving_mass_of_urdf', 0.0)
    if masses and given == 0.0 and not masses['moving_mass_determined']:
        facts.append(('with care', 'torque does not determine the masses, and the URDF has none'))
    if given > 0.0 and not DOUBTFUL <= mass / given <= 1.0 / DOUBTFUL:
        facts.append(('with care', f'moving links {mass:.3g} kg, by the URDF {given:.3g} kg'))
    doubted = [each.joint for each in joints if each.moved and each.feedforward.word != 'usable']
    if doubted:
        more = f' and {len(doubted) - 3} more' if len(doubted) > 3 else ''
        facts.append(('with care', f'as the feed-forward of {", ".join(doubted[:3])}{more}'))
    apart = [each for each in joints if each.moved and each.expected > ELSEWHERE]
    if apart and not doubted:
        worst = max(apart, key=lambda each: each.expected)
        facts.append((
            'with care', f'{worst.joint}: expected error on other motions {worst.expected:.0%}'
        ))  # fmt: skip
    if not (wrong or any(each.works for each in joints if each.moved)):
        facts.append(('not usable', 'no joint that moved is usable'))
    return Use.of(facts)


def _negative_rotors(run: IdentificationRun) -> list[str]:
    """Return the joints whose rotor inertia is negative: only wrong data ask for that."""
    model, values = run.prepared.model, run.estimated.values
    rotors = zip(model.joint_names, bodies_of(model).rotors, strict=False)
    return [name for name, index in rotors if values[index] < 0.0]


def _of_payload(run: IdentificationRun, findings: Sequence[Finding]) -> Verdict:
    """Return the verdict on a payload, and that of its arm on the joints."""
    arm = run.task.arm
    assert arm is not None
    facts: list[Evidence] = [
        ('not usable' if item.severity == 'error' else 'with care', item.code)
        for item in findings
        if item.severity == 'error' or item.code == 'arm_changed'
    ]
    of_arm = float(arm.facts.get('relative_residual') or 0.0)
    changed = any(item.code == 'arm_changed' for item in findings)
    tests = [(run.report, 'recording')]
    tests += [] if run.validation is None else [(run.validation, 'validation')]
    for report, where in tests:
        error = report.relative_residual
        if not error <= PAYLOAD_ERROR:
            refused = (changed and error > 2.0 * of_arm) or not error <= 2.0 * PAYLOAD_ERROR
            word: Word = 'not usable' if refused else 'with care'
            facts.append((word, f'{error:.0%} of the torques not explained in the {where}'))
    base = arm.verdict
    bad = [each.joint for each in base.joints if not each.works]
    facts += [('with care', f'the base result is not usable for {", ".join(bad)}')] if bad else []
    return Verdict(base.joints, base.inertials, Use.of(facts), base.tested)
