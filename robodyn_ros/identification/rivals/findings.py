# SPDX-License-Identifier: Apache-2.0
"""Findings of the rival hypotheses that explain a recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from robodyn_ros.findings import Finding, Severity, code_of, finding, sentence
from robodyn_ros.identification.rivals.compare import RIVALS, Hypothesis, Named, compare
from robodyn_ros.identification.rivals.evidence import EXPLAINED, residual_shares
from robodyn_ros.identification.rivals.other_models import reason
from robodyn_ros.identification.rivals.reading import Reading

NEARLY = 0.8
"""Share of the best gain from which on another cause is named beside it."""


def rival_findings(
    reading: Reading, hypotheses: Sequence[Hypothesis] = RIVALS
) -> Iterator[Finding]:
    """Yield the convention that explains a recording best, if one does."""
    named = compare(reading, hypotheses)
    best = named[0] if named else None
    if best is not None and best.clear:
        kind = code_of(best.rival.key), best.rival.joints
        others = [each for each in named if (code_of(each.rival.key), each.rival.joints) != kind]
        near = [each for each in others if each.gain > NEARLY * best.gain and not each.rival.last]
        yield _finding(reading, best, near)
        return
    share, pooled = residual_shares(reading.present)
    if pooled > EXPLAINED and hypotheses is RIVALS:
        bad = np.flatnonzero(share > EXPLAINED).tolist()
        name = _joints(reading, bad) if len(bad) == 1 else ''
        yield finding('not_explained', name, joints=_joints(reading, bad), error=pooled)
    elif best is not None:
        item = _finding(reading, best, ())
        name = item.joint if item.code.startswith(('torque', 'sensor')) else ''  # others: of all
        word: Severity = 'warning' if reading.doubted else 'info'
        yield finding('convention_doubtful', name, word, cause=item.text)


def _finding(reading: Reading, named: Named, near: Sequence[Named]) -> Finding:
    rival = named.rival
    joint, share = named.evidence
    names = reading.present.model.joint_names
    key = 'evidence'
    if named.masses > max(0.5 * named.gain, 0.5):
        key = 'evidence.masses_alone' if share > 0.9 else 'evidence.masses'
    evidence = sentence(key, best=names[joint], share=share)
    if near:
        other = _finding(reading, near[0], ()).text.partition('. With that corrected')[0]
        evidence = sentence('evidence.rival', evidence=evidence, other=other)
    values: dict[str, Any] = {
        **rival.values,
        'joints': _joints(reading, rival.joints),
        'evidence': evidence,
    }
    if 'factor' in values:
        values['causes'] = reason(float(str(values['factor'])))
    first = names[rival.joints[0]] if len(rival.joints) == 1 else ''
    return finding(rival.key, first, **values)


def _joints(reading: Reading, joints: Sequence[int]) -> str:
    """Return the names of joints, in words."""
    names = [reading.present.model.joint_names[k] for k in joints]
    if len(names) == len(reading.present.model.joint_names) > 2:
        return f'{names[0]} to {names[-1]}'
    return ' and '.join([', '.join(names[:-1]), names[-1]]) if len(names) > 1 else ''.join(names)
