"""Short text about a result, from the facts that its file holds."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.payload import Payload

LINES, WIDTH = 25, 99
"""Largest size of a summary: it fits on a terminal without scrolling."""
JOINTS = LINES // 3
"""Most rows in the table of joints, so that findings have room too."""
SEVERITIES = ('error', 'warning', 'info')


def summary_text(model: DynamicModel, facts: Mapping[str, Any], payload: Payload | None) -> str:
    """Return verdict, torque errors per joint and findings in at most `LINES` lines.

    :param facts: the block `identification` of the result file; keys may be missing
    """
    lines = [*_verdict(model, facts, payload), '', *_joints(model, facts)]
    lines += _findings([str(each) for each in facts.get('findings', ())], LINES - len(lines))
    return '\n'.join(line if len(line) <= WIDTH else f'{line[: WIDTH - 3]}...' for line in lines)


def _findings(findings: list[str], room: int) -> list[str]:
    """Return an empty line and as many findings as there is room for, severe ones first."""
    lines = ['']
    found = sorted(findings, key=lambda text: SEVERITIES.index(text.partition(' ')[0]))
    for number, finding in enumerate(found):
        wrapped = textwrap.wrap(finding, WIDTH, subsequent_indent='  ')
        last = number == len(found) - 1
        if len(lines) + len(wrapped) + (not last) > room:
            return [*lines, f'and {len(found) - number} more findings']
        lines += wrapped
    return lines if findings else []


def _verdict(model: DynamicModel, facts: Mapping[str, Any], payload: Payload | None) -> list[str]:
    success = facts.get('success')
    verdict = 'of unknown success' if success is None else 'succeeded' if success else 'FAILED'
    rows = {
        'identification': f'{verdict} {facts.get("date", "")}'.strip(),
        'model': f'{len(model.joints)} joints, {len(model.parameters)} parameters',
        'recording': facts.get('source'),
        'samples': facts.get('samples'),
        'residual': _percent(facts, 'relative_residual'),
        'on validation': _percent(facts, 'validation_relative_residual'),
        'friction law': facts.get('friction_law'),
        'physical': {True: 'yes', False: 'no'}.get(facts.get('physically_consistent', '')),
        'payload': None if payload is None else f'mass {payload.mass:.4g} kg',
    }
    return [f'{name:<15} {value}' for name, value in rows.items() if value not in (None, '')]


def _joints(model: DynamicModel, facts: Mapping[str, Any]) -> list[str]:
    """Return a table of the torque errors, relative ones of the joint's largest torque."""
    rms, largest = facts.get('rms_error'), facts.get('max_relative_torque_error')
    if rms is None or largest is None:
        return []
    width = max(5, *(len(name) for name in model.joint_names))
    rows = [
        f'{joint.name:<{width}}  {f"{error:.4g} {joint.torque_unit}":>12}  {share:>9.2%}'
        for joint, error, share in zip(model.joints, rms, largest, strict=True)
    ]
    title = f'{"joint":<{width}}  {"RMS error":>12}  {"max error":>9}'
    if len(rows) > JOINTS:
        rows[JOINTS - 1 :] = [f'and {len(rows) - JOINTS + 1} more joints']
    return [title, *rows]


def _percent(facts: Mapping[str, Any], key: str) -> str | None:
    return f'{facts[key]:.2%}' if key in facts else None
