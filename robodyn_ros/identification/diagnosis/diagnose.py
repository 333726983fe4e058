# SPDX-License-Identifier: Apache-2.0
"""Diagnosis: causes of a bad or doubtful identification, the most likely one first.

softMC document, sections "Review of the possible reasons for an identification failure" and "How
to assess what is the failure reason based on the output files". The meaning of each finding,
its measurement and its limits are in docs/diagnosis.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.findings import Finding, finding, has_error
from robodyn_ros.identification.diagnosis.case import Case, draw
from robodyn_ros.identification.diagnosis.cutoff import cutoff_findings, with_harmonics
from robodyn_ros.identification.diagnosis.motion import (
    joint_ranges,
    motion_findings,
    region_findings,
)
from robodyn_ros.identification.diagnosis.plausibility import inertia_findings
from robodyn_ros.identification.diagnosis.position_limits import limit_findings
from robodyn_ros.identification.diagnosis.saturation import saturation_findings
from robodyn_ros.identification.diagnosis.signals import (
    noise_findings,
    slow_joints,
    stale_findings,
)
from robodyn_ros.identification.rivals import delays, positions
from robodyn_ros.identification.rivals.compare import OF_SIGNAL
from robodyn_ros.identification.rivals.findings import rival_findings
from robodyn_ros.identification.rivals.reading import Reading

DEAD = ('no_motion', 'zero_torque', 'constant_torque', 'time_scale')
"""Findings of the reader and the processing that are causes themselves."""


def diagnose(case: Case) -> tuple[Finding, ...]:
    """Name the causes of a bad identification; empty if nothing is found. Never raises.

    Causes that make data useless come first, and hide what is only their consequence; then what
    makes the model wrong; then what makes it doubtful.
    """
    return _completed(_findings(case, _model_based))


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
    low, units = list(cutoff_findings(case)), list(_units(case))
    stale = list(stale_findings(case))
    yield from (*dead, *units, *low, *stale)
    if not (dead or low or has_error((*units, *stale))):
        yield from tests(with_harmonics(case))
        return
    yield from region_findings(case)
    yield from motion_findings(case)


def _units(case: Case) -> Iterator[Finding]:
    """Yield positions beyond their limits; turns of one motor are not degrees of all joints."""
    names, ranges = case.signals.joints, joint_ranges(case)
    limits = {
        name: (float(low), float(high))
        for name, (low, high) in zip(names, ranges, strict=True)
        if np.isfinite([low, high]).all()
    }
    prismatic = {joint.name for joint in case.model.joints if joint.type == 'prismatic'}
    found = list(limit_findings(names, case.signals.measured_position, limits, prismatic))
    if has_error(found):
        reading = Reading.of(case.signals, case.model, case.recording)
        turns = [
            item
            for item in rival_findings(reading, (positions.units,))
            if item.code == 'position_factor'
        ]
        found = turns or found
    yield from found


def _model_based(case: Case) -> Iterator[Finding]:
    """Yield findings that need the model: the convention that explains the recording, and doubts.

    A convention that is wrong makes the rest its consequence.
    """
    sample = draw(case)
    rivals = list(rival_findings(Reading.of(case.signals, case.model, case.recording)))
    rivals = [*inertia_findings(case, sample), *rivals]
    rivals += [] if has_error(rivals) else saturation_findings(case, sample)
    yield from rivals
    yield from noise_findings(case, sample)
    yield from region_findings(case)  # a joint that moves little moves slowly
    slow = () if has_error(rivals) else slow_joints(case, sample)
    yield from (item for item, clear in slow if clear)
    yield from motion_findings(case)
    yield from (item for item, clear in slow if not clear)


def _payload_based(case: Case) -> Iterator[Finding]:
    """Yield findings of the torque signal and its delay: conventions are those of the arm."""
    reading = Reading.of(case.signals, case.model, case.recording)
    yield from rival_findings(reading, (*OF_SIGNAL, delays.delays))
    yield from saturation_findings(case, draw(case))
    yield from region_findings(case)
    yield from motion_findings(case)
