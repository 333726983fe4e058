# SPDX-License-Identifier: Apache-2.0
"""Diagnosis: causes of a bad or doubtful identification, the most likely one first.

softMC document, sections "Review of the possible reasons for an identification failure" and "How
to assess what is the failure reason based on the output files". The meaning of each finding,
its measurement and its limits are in docs/diagnosis.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from robodyn_ros.errors import RobodynError
from robodyn_ros.findings import Finding, finding, has_error
from robodyn_ros.identification.diagnosis.case import Case
from robodyn_ros.identification.diagnosis.cutoff import cutoff_findings, with_harmonics
from robodyn_ros.identification.diagnosis.motion import (
    joint_ranges,
    motion_findings,
    region_findings,
)
from robodyn_ros.identification.diagnosis.position_limits import limit_findings
from robodyn_ros.identification.diagnosis.signals import (
    noise_findings,
    slow_joints,
    stale_findings,
)
from robodyn_ros.identification.rivals import delays, positions
from robodyn_ros.identification.rivals.compare import OF_SIGNAL
from robodyn_ros.identification.rivals.findings import rival_findings
from robodyn_ros.identification.rivals.torque_signal import disturbances

DEAD = ('no_motion', 'zero_torque', 'constant_torque', 'time_scale')
"""Findings of the reader and the processing that are causes themselves."""


def diagnose(case: Case) -> tuple[Finding, ...]:
    """Name the causes of a bad identification; empty if nothing is found. Never raises.

    Causes that make data useless come first, and hide what is only their consequence; then what
    makes the model wrong; then what makes it doubtful.
    """
    return _complete(_findings(case, _model_based))


def diagnose_payload(case: Case) -> tuple[Finding, ...]:
    """Name the causes of a bad identification of a payload; empty if none is found. Never raises.

    The same without the tests of the model, which the arm's own identification went through, and
    of how much the motion shows, which a payload needs less of: joints may stand still or move
    slowly.

    :param case: with the arm's model, and the values that it has with the payload
    """
    return _complete(_findings(case, _payload_based))


def diagnose_validation(case: Case) -> tuple[Finding, ...]:
    """Name flaws of the torque of a validation, as warnings. Never raises."""
    items = rival_findings(case.reading, (*OF_SIGNAL, disturbances))
    text = f'{case.recording.source}, the validation: '
    return tuple(
        replace(item, text=f'{text}{item.text}', severity='warning') for item in _complete(items)
    )


def _complete(findings: Iterator[Finding]) -> tuple[Finding, ...]:
    named: list[Finding] = []
    try:
        named.extend(findings)
    except (RobodynError, ArithmeticError, ValueError, LookupError, TypeError) as error:
        reason = ' '.join(str(error).split()).rstrip('.')
        named.append(finding('diagnosis_incomplete', reason=reason))
    return tuple(named)


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
    """Yield positions beyond their limits, or the unit that explains them."""
    position = case.signals.measured_position
    outside = list(limit_findings(case.signals.joints, position, joint_ranges(case)))
    units = list(rival_findings(case.reading, (positions.units,))) if outside else []
    yield from units if has_error(units) else outside


def _model_based(case: Case) -> Iterator[Finding]:
    """Yield findings that need the model: the convention that explains the recording, and doubts.

    A convention that is wrong makes the rest its consequence.
    """
    rivals = list(rival_findings(case.reading))
    yield from rivals
    if not case.signals.velocity.any():  # static poses look like noise, and do not repeat
        yield from region_findings(case)
        return
    yield from noise_findings(case)
    yield from region_findings(case)  # a joint that moves little moves slowly
    slow = () if has_error(rivals) else slow_joints(case)
    yield from (item for item, clear in slow if clear)
    yield from motion_findings(case)
    yield from (item for item, clear in slow if not clear)


def _payload_based(case: Case) -> Iterator[Finding]:
    """Yield findings of the torque signal and its delay: conventions are those of the arm."""
    yield from rival_findings(case.reading, (*OF_SIGNAL, delays.delays))
    yield from region_findings(case)
    yield from motion_findings(case)
