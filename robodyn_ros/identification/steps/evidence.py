# SPDX-License-Identifier: Apache-2.0
"""Evidence of a run for the verdict: errors, reach, plausibility, consistency, contradictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from robodyn_ros.findings import Finding
from robodyn_ros.identification.fit.success import reference_torque, relative_error
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
from robodyn_ros.identification.steps.run import IdentificationRun
from robodyn_ros.identification.steps.unseen import unseen_error
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.urdf import rigid_part

OF_ONE_JOINT = frozenset((
    'constant_torque', 'not_explained', 'relative_error_too_large', 'too_few_samples',
    'torque_factor', 'torque_lost', 'torque_saturation', 'torque_sign',
    'torque_unsigned', 'torque_wrapped', 'zero_torque',
))  # fmt: skip
"""Errors of a joint's torque. All others, as of a position or an order, spoil all joints."""
HARMLESS = (
    'relative_error_too_large',
    'not_explained',
    'too_few_samples',
    'zero_torque',
    'constant_torque',
)
"""Those that leave the parameters of the other joints as they are."""
DOUBTS = ('sensor_delay', 'torque_filtered', 'slow_sampling', 'convention_doubtful')
"""Findings that are no errors and conventions too: torque that is late, and what is likely."""
LATE = 0.1
"""Part of a joint's torque that a time offset changes, from which on its correction counts."""


def verdict_of(run: IdentificationRun, findings: Sequence[Finding]) -> Verdict:
    """Return the verdict on a run from its findings and its figures."""
    errors = [item for item in findings if item.severity == 'error']
    if run.payload is not None and run.task.arm is not None:
        return _of_payload(run, findings)
    model = run.prepared.model
    other, tested = unseen_error(run.prepared.model, run.estimated, run.report, run.validation)
    fitted = relative_error(run.report, model)
    beyond, limit = _beyond(run), run.task.options.max_relative_error
    joints, idle = [], _idle(run)
    spoils = _spoils(run, fitted, other)
    negative = _negative_rotors(run)
    for index, name in enumerate(model.joint_names):
        moved = name not in idle
        facts = [*_contradictions(errors, name), *_doubts(findings, name)]
        facts += [] if moved else [('with care', 'it did not move')]
        facts += _find_shift(run, index)
        figures = (fitted[index], 'in the fit'), (other[index], f'on {tested}')
        for error, where in figures if moved or run.report.rms_error[index] > 0.0 else ():
            facts += _grade(error, f'of its torque is not explained {where}', run)
        doubts = [item for item in findings if item.code == 'convention_doubtful']
        if moved and doubts and np.fmin(fitted[index], other[index]) > GOOD * limit:
            facts.append(('not usable', 'its torque contradicts the conventions of the recording'))
        if run.task.options.success_rule == 'softmc':
            facts += _by_softmc(run, index)
        if moved and np.isnan(other[index]):
            facts.append(('with care', 'it was not tested on other data'))
        shared: list[Evidence] = [
            ('with care', f'the fit, which it shares, does not explain {model.joint_names[each]}')
            for each in np.flatnonzero(spoils[:, index])
            if model.joint_names[each] not in idle
        ]
        shared += [('with care', 'its rotor inertia is negative')] if name in negative else []
        uses = Use.of([*facts, *beyond[index], *shared]), Use.of(facts)
        joints.append(JointVerdict(name, *uses, float(fitted[index]), float(other[index]), moved))
    return Verdict(tuple(joints), _inertials(run, errors, joints, beyond), tested=tested)


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


def _grade(error: float, text: str, run: IdentificationRun) -> Iterator[Evidence]:
    limit = run.task.options.max_relative_error
    if error > GOOD * limit:
        yield 'not usable' if error > limit else 'with care', f'{error:.0%} {text}'


def _by_softmc(run: IdentificationRun, joint: int) -> Iterator[Evidence]:
    """Yield the largest error over the largest torque, where softMC's rule refuses it."""
    for report in filter(None, (run.report, run.validation)):
        error = report.max_relative_torque_error[joint]
        if error > run.task.options.max_relative_error:
            yield 'not usable', f'its largest error is {error:.0%} of its largest torque'


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
        where = f' of {item.joint}' if item.joint else ''
        text = f'{item.code.replace("_", " ")}{where}'
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
            yield 'with care', item.code.replace('_', ' ')


def _find_shift(run: IdentificationRun, joint: int) -> Iterator[Evidence]:
    """Yield that the torque of a joint was late by a time that matters."""
    offset, shown = run.prepared.offsets.get(joint), run.prepared.parts[0].shown
    if offset is None or not offset.applied:
        return
    slope = np.gradient(shown.torque[:, joint], shown.time)
    changed = abs(offset.seconds) * float(np.sqrt(np.mean(slope**2)))
    if changed > LATE * reference_torque(run.report, run.prepared.model)[joint]:
        yield 'with care', f'its torque was {1e3 * offset.seconds:.3g} ms late, and was shifted'


def _beyond(run: IdentificationRun) -> list[list[Evidence]]:
    """Return the evidence of each joint on other motions than the recorded one."""
    model, good = run.prepared.model, GOOD * run.task.options.max_relative_error
    reference = np.maximum(reference_torque(run.report, model), 1e-300)
    expected = run.expected / reference
    reach = np.where(np.isnan(expected), run.uncertainty, expected)
    gravity = _gravity_difference(run, FELT * reference)
    every: list[list[Evidence]] = []
    for index, name in enumerate(model.joint_names):
        facts: list[Evidence] = []
        if name not in run.prepared.frozen:
            if np.isnan(run.uncertainty[index]):
                facts.append(('with care', 'the motion does not determine all of its parameters'))
            if reach[index] > good:
                facts.append(('with care', f'expected error on other motions {reach[index]:.0%}'))
            if gravity[index] > DOUBTFUL:
                share = f'{gravity[index]:.0%}'
                facts.append(('with care', f'its gravity torque is {share} off that of the URDF'))
        every.append(facts)
    return every


def _gravity_difference(run: IdentificationRun, least: Array) -> Array:
    """Return how far identified and URDF gravity torque differ, relative to the larger one, (n,).

    :param least: RMS difference that counts, shape (n,), in [Nm] or [N]; smaller ones give 0, as
        does a URDF without gravity torque, whose masses are not known
    """
    model, shown = run.prepared.model, run.prepared.parts[0].shown
    if rigid_part(model) is None:
        return np.zeros(len(model.joints))
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
    counts = (apart > least) & (given > 0.01 * identified)
    return np.where(counts, apart / np.maximum(np.maximum(identified, given), 1e-300), 0.0)


def _inertials(
    run: IdentificationRun,
    errors: Sequence[Finding],
    joints: Sequence[JointVerdict],
    beyond: list[list[Evidence]],
) -> Use:
    """Return the use of the links' masses, centres and inertias."""
    model, values = run.prepared.model, run.estimated.values
    facts: list[Evidence] = [
        ('not usable', text) for _, text in _contradictions(errors, '')
    ]  # the links carry what spoils one joint
    if not links_are_consistent(model, values):
        facts.append(('not usable', 'no robot can have these links'))
    if negative := _negative_rotors(run):
        facts.append(('with care', f'negative rotor inertia of {", ".join(negative)}'))
    missing = run.estimated.fit.unseen.shape[1]
    if missing:
        text = f'the motion does not determine {missing} combinations of parameters'
        facts.append(('with care', text))
    masses = moving_masses(model, values, run.estimated.completion.stddevs)
    mass, given = masses.get('moving_mass', 0.0), masses.get('moving_mass_of_urdf', 0.0)
    if masses and given == 0.0 and not masses['moving_mass_determined']:
        facts.append(('with care', 'torque does not determine the masses, and the URDF has none'))
    if given > 0.0 and not DOUBTFUL <= mass / given <= 1.0 / DOUBTFUL:
        facts.append(('with care', f'moving links {mass:.3g} kg, by the URDF {given:.3g} kg'))
    for joint, doubts in zip(joints, beyond, strict=True):
        facts += [(word, f'{joint.joint}: {text}') for word, text in doubts]
        if joint.moved and joint.feedforward.word != 'usable' and not doubts:
            facts.append(('with care', f'{joint.joint} is {joint.feedforward.word}'))
    if not any(each.works for each in joints if each.moved):
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
        ('not usable' if item.severity == 'error' else 'with care', item.code.replace('_', ' '))
        for item in findings
        if item.severity == 'error' or item.code == 'arm_changed'
    ]
    tests = [(run.report, 'recording')]
    tests += [] if run.validation is None else [(run.validation, 'validation')]
    for report, where in tests:
        error = report.relative_residual
        if not error <= PAYLOAD_ERROR:
            word: Word = 'with care' if error <= 2.0 * PAYLOAD_ERROR else 'not usable'
            facts.append((word, f'{error:.0%} of the torques of the {where} is not explained'))
    base = arm.verdict
    bad = [each.joint for each in base.joints if not each.works]
    facts += [('with care', f'the base result is not usable for {", ".join(bad)}')] if bad else []
    return Verdict(base.joints, base.inertials, Use.of(facts), base.tested)
