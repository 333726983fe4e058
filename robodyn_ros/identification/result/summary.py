# SPDX-License-Identifier: Apache-2.0
"""Short text about a result, from the facts that its file holds."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from robodyn_ros.findings import SEVERITIES
from robodyn_ros.identification.fit.success import MEANING
from robodyn_ros.identification.result.payload_block import payload_block, payload_figures
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.payload import Payload

LINES, WIDTH = 25, 99
"""Largest size of a summary: it fits on a terminal without scrolling."""
MORE = '--verbose, report.html'
"""Reference to the pages with everything that a summary leaves out."""


def summary_text(
    model: DynamicModel, facts: Mapping[str, Any], payload: Payload | None, lines: int = LINES
) -> str:
    """Return verdict, torque errors per joint and what to do about the findings.

    :param facts: the block `identification` of the result file; keys may be missing
    """
    joints = _joints(model, facts)
    text = [*_verdict(model, facts, payload), *(['', *joints] if joints else [])]
    text += _actions(facts, lines - len(text))
    return '\n'.join(line if len(line) <= WIDTH else f'{line[: WIDTH - 3]}...' for line in text)


def _actions(facts: Mapping[str, Any], room: int) -> list[str]:
    """Return an empty line and what to do about as many findings as there is room for."""
    every = [str(each) for each in facts.get('findings', ())]
    told = [str(each) for each in facts.get('actions', sorted(every, key=_severity))]
    lines = ['']
    for number, action in enumerate(told):
        wrapped = textwrap.wrap(action, WIDTH, subsequent_indent='  ')
        last = number == len(told) - 1 and len(every) == len(told)
        if len(lines) + len(wrapped) + (not last) > room:
            return [*lines, _more(len(told) - number, 'to do')]
        lines += wrapped
    if len(every) > len(told):
        return [*lines, f'{len(every)} findings in all: {MORE}']
    return lines if every else []


def _severity(finding: str) -> int:
    word = finding.partition(' ')[0]
    return SEVERITIES.index(word) if word in SEVERITIES else 0


def _more(count: int, what: str) -> str:
    return f'and {count} more {what}: {MORE}'


def _verdict(model: DynamicModel, facts: Mapping[str, Any], payload: Payload | None) -> list[str]:
    success = facts.get('success')
    verdict = 'of unknown success' if success is None else 'succeeded' if success else 'FAILED'
    rows = {
        'recording': _with_residual(facts, ''),
        'validation': _with_residual(facts, 'validation_') or 'none (--validate, --split)',
        'model': _model(model, facts),
        'mass': mass_text(facts) if payload is None else '',  # the arm's is that of its base
        'limit': limit_text(facts),
    }
    payload_rows = [] if payload is None else payload_figures(payload_block(payload))
    rows |= {
        'payload' if number == 0 else ' ' * number: f'{name} {text}'
        for number, (name, text) in enumerate(payload_rows)
    }
    if 'relative_residual' not in facts:
        del rows['validation']
    title = f'identification {verdict} {facts.get("date", "")}'.strip()
    return [title, *(f'{name:<10}  {value}' for name, value in rows.items() if value)]


def _model(model: DynamicModel, facts: Mapping[str, Any]) -> str:
    law, consistent = facts.get('friction_law'), facts.get('physically_consistent')
    parts = [f'{len(model.joints)} joints, {len(model.parameters)} parameters']
    parts += [f'friction law {law}'] if law else []
    if consistent is not None:
        parts.append('physically consistent' if consistent else 'not physically consistent')
    return ', '.join(parts)


def _with_residual(facts: Mapping[str, Any], prefix: str) -> str:
    """Return the recording and its residual; '': there is none."""
    share = facts.get(f'{prefix}relative_residual', math.nan)
    source = str(facts.get(f'{prefix}source', ''))
    if math.isnan(share):
        return source
    return f'residual {share:.2%}, {facts.get(f"{prefix}samples", "?")} samples, {source}'


def mass_text(facts: Mapping[str, Any]) -> str:
    """Return the mass of the moving links, identified and by the URDF; '': it is not known.

    Masses far from those of the URDF mean torque or masses in a wrong unit.
    """
    own, given = facts.get('moving_mass'), facts.get('moving_mass_of_urdf')
    if own is None or given is None or math.isnan(own + given):
        return ''
    return f'moving links {own:.4g} kg, by the URDF {given:.4g} kg'


def limit_text(facts: Mapping[str, Any]) -> str:
    """Return the limit of the torque error, and what it applies to; '': it is not known."""
    limit, rule = facts.get('max_relative_error_allowed'), facts.get('success_rule', '')
    if limit is None or rule not in MEANING:
        return ''
    return f'max error {limit:.0%} ({MEANING[rule]})'


def _joints(model: DynamicModel, facts: Mapping[str, Any]) -> list[str]:
    """Return a table of the torque errors that decide: on the validation, if there is one.

    It is empty if there are none, or if nothing could be identified.
    """
    prefix = 'validation_' if 'validation_rms_error' in facts else ''
    rms = facts.get(f'{prefix}rms_error')
    largest = facts.get(f'{prefix}decisive_error', facts.get(f'{prefix}max_relative_torque_error'))
    if rms is None or largest is None or all(math.isnan(error) for error in rms):
        return []
    limit = facts.get('max_relative_error_allowed', float('inf'))
    names = [each.name for each in model.joints]
    width = max(5, *(len(name) for name in names))
    rows = [
        f'{joint.name:<{width}}  {f"{error:.4g} {joint.torque_unit}":>12}  {share:>9.2%}'
        + ('  above the limit' if share > limit else '')
        if error > 0.0  # else no torque of it was measured
        else f'{joint.name:<{width}}  {"-":>12}  {"-":>9}'
        for joint, error, share in zip(model.joints, rms, largest, strict=True)
    ]
    title = f'{"joint":<{width}}  {"RMS error":>12}  {"max error":>9}'
    if len(rows) > LINES // 3:  # findings have room too
        shown = _worst(largest, LINES // 3 - 1)
        rows = [*(rows[k] for k in shown), f'and {len(rows) - len(shown)} more joints: {MORE}']
    return [f'{title}  on {"validation" if prefix else "the recording itself"}', *rows]


def _worst(errors: Sequence[float], count: int) -> list[int]:
    """Return the rows of the largest errors, in the order of the joints."""
    order = sorted(range(len(errors)), key=lambda row: -errors[row])
    return sorted(order[:count])
