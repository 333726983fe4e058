# SPDX-License-Identifier: Apache-2.0
"""Diagnosis: causes of a bad or doubtful identification, the most likely one first.

softMC document, sections "Review of the possible reasons for an identification failure" and "How
to assess what is the failure reason based on the output files". The meaning of each finding,
its measurement and its limits are in docs/diagnosis.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.findings import Finding, finding, has_error
from robodyn_ros.identification.diagnosis.case import Case, Sample, draw
from robodyn_ros.identification.diagnosis.corrections import correction_findings
from robodyn_ros.identification.diagnosis.cutoff import cutoff_findings, with_harmonics
from robodyn_ros.identification.diagnosis.intervals import (
    half_delay_findings,
    interval_findings,
    stuck_findings,
)
from robodyn_ros.identification.diagnosis.motion import (
    joint_ranges,
    motion_findings,
    region_findings,
)
from robodyn_ros.identification.diagnosis.position_limits import limit_findings
from robodyn_ros.identification.diagnosis.saturation import saturation_findings
from robodyn_ros.identification.diagnosis.scale import inertia_findings
from robodyn_ros.identification.diagnosis.signals import (
    delay_findings,
    delays,
    noise_findings,
    slow_joints,
    stale_findings,
)
from robodyn_ros.identification.diagnosis.together import together, with_others
from robodyn_ros.identification.diagnosis.torque_factors import factor_findings, sign_findings
from robodyn_ros.models.interface import Array

DEAD = ('no_motion', 'zero_torque', 'constant_torque', 'frozen_joint', 'time_scale')
"""Findings of the reader and the processing that are causes themselves."""


def diagnose(case: Case) -> tuple[Finding, ...]:
    """Name the causes of a bad identification; empty if nothing is found. Never raises.

    Causes that make data useless come first, and hide what is only their consequence; then what
    makes the model wrong; then what makes it doubtful.
    """
    return _completed(_findings(case, _model_based))


def diagnose_all(cases: Sequence[Case]) -> Iterator[tuple[Finding, ...]]:
    """Yield the causes for each of several recordings of one robot, then those of all together.

    What one recording says about the robot or its model is an error if the others confirm it, or
    if it is so together in all that have no error of their own.
    """
    with suppress(RobodynError, ArithmeticError, ValueError):  # then each is judged by itself
        cases = with_others(cases)
    known = [diagnose(case) for case in cases]
    yield from known
    sound = [(case, own) for case, own in zip(cases, known, strict=True) if not has_error(own)]
    if len(sound) > 1:
        seen = {(item.code, item.joint) for _, own in sound for item in own}
        together = _of_the_robot([case for case, _ in sound])
        yield _completed(item for item in together if (item.code, item.joint) in seen)


def diagnose_payload(case: Case) -> tuple[Finding, ...]:
    """Name the causes of a bad identification of a payload; empty if none is found. Never raises.

    The same without the tests of the model, which the arm's own identification went through, and
    of how much the motion shows, which a payload needs less of: joints may stand still or move
    slowly.

    :param case: with the arm's model, and the values that it has with the payload
    """
    return _completed(_findings(case, _payload_based))


def _completed(findings: Iterator[Finding]) -> tuple[Finding, ...]:
    found: list[Finding] = []
    try:
        found.extend(findings)
    except (RobodynError, ArithmeticError, ValueError, LookupError, TypeError) as error:
        reason = ' '.join(str(error).split()).rstrip('.')
        found.append(finding('diagnosis_incomplete', reason=reason))
    return tuple(found)


def _findings(case: Case, tests: Callable[[Case], Iterator[Finding]]) -> Iterator[Finding]:
    known = (*case.recording.findings, *case.signals.findings)
    dead = [item for item in known if item.code in DEAD and item.severity == 'error']
    low, units = (
        list(cutoff_findings(case)),
        list(limit_findings(*_positions(case), _prismatic(case))),
    )
    stale = [*stuck_findings(case), *stale_findings(case)]
    yield from (*dead, *units, *low, *stale)
    if not (dead or low or has_error((*units, *stale))):
        yield from tests(with_harmonics(case))
        return
    yield from region_findings(case)
    yield from motion_findings(case)


def _positions(case: Case) -> tuple[tuple[str, ...], Array, dict[str, tuple[float, float]]]:
    """Return joints, positions (N, n), and limits by name of the joints that have them."""
    names, ranges = case.signals.joints, joint_ranges(case)
    limits = {
        name: (float(low), float(high))
        for name, (low, high) in zip(names, ranges, strict=True)
        if np.isfinite([low, high]).all()
    }
    return names, case.signals.measured_position, limits


def _prismatic(case: Case) -> set[str]:
    return {joint.name for joint in case.model.joints if joint.type == 'prismatic'}


_ERRORS: tuple[Callable[[Case, Sample], Iterator[Finding]], ...] = (
    inertia_findings,
    correction_findings,
    sign_findings,
    saturation_findings,
    interval_findings,
    half_delay_findings,
    factor_findings,
)


def _model_based(case: Case) -> Iterator[Finding]:
    """Yield findings that need the model; the first kind of error ends them."""
    sample = draw(case)
    for test in _ERRORS:
        found = list(test(case, sample))
        yield from found
        if has_error(found):
            yield from region_findings(case)
            yield from motion_findings(case)
            return
    shifts = delays(case, sample)
    slow = slow_joints(case, sample, shifts)
    yield from delay_findings(case, shifts, set(slow))
    yield from noise_findings(case, sample)
    yield from region_findings(case)  # a joint that moves little moves slowly
    yield from (item.finding for item in slow.values() if item.clear)
    yield from motion_findings(case)
    yield from (item.finding for item in slow.values() if not item.clear)


def _of_the_robot(cases: Sequence[Case]) -> Iterator[Finding]:
    """Yield flaws of the robot and its model that all recordings together show."""
    case = together(cases)
    sample = draw(case)
    for test in (correction_findings, sign_findings, factor_findings):
        found = [item for item in test(case, sample) if item.severity == 'error']
        yield from found
        if found:
            return


def _payload_based(case: Case) -> Iterator[Finding]:
    """Yield findings that need a fit of the loaded arm to each joint's torque alone."""
    sample = draw(case)
    saturated = list(saturation_findings(case, sample))
    yield from saturated
    if not saturated:
        shifts = delays(case, sample)
        yield from delay_findings(case, shifts, set(slow_joints(case, sample, shifts)))
    yield from region_findings(case)
    yield from motion_findings(case)
