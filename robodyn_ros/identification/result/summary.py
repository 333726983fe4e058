# SPDX-License-Identifier: Apache-2.0
"""Short text about a result, from the facts that its file holds."""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from robodyn_ros.findings import SEVERITIES
from robodyn_ros.identification.result.payload_block import (
    is_within_zero,
    payload_block,
    payload_figures,
)
from robodyn_ros.identification.result.verdict import WORDS, Use, Verdict, of_block
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.payload import Payload

LINES, WIDTH = 30, 99
"""Largest size of a summary: it fits on a terminal without scrolling."""
FINDINGS = 3
"""Most findings in a summary: those that a user reads."""
MORE = '--verbose, report.html'
"""Reference to the pages with everything that a summary leaves out."""


def summary_text(
    model: DynamicModel, facts: Mapping[str, Any], payload: Payload | None, lines: int = LINES
) -> str:
    """Return the verdict, a line per joint, and the most important findings.

    :param facts: the block `identification` of the result file; keys may be missing
    """
    joints = _joints(facts) if payload is None else []  # they are those of the base
    text = [*_verdict(model, facts, payload), *(['', *joints] if joints else [])]
    text += _actions(facts, lines - len(text))
    return '\n'.join(line if len(line) <= WIDTH else f'{line[: WIDTH - 3]}...' for line in text)


def _actions(facts: Mapping[str, Any], room: int) -> list[str]:
    """Return an empty line and the findings of most consequence, as many as there is room for."""
    every = [str(each) for each in facts.get('findings', ())]
    texts = [str(each) for each in facts.get('actions', sorted(every, key=_severity))]
    texts = [each for each in texts if not each.startswith('info')][:FINDINGS]
    lines = ['']
    for number, action in enumerate(texts):
        wrapped = textwrap.wrap(action, WIDTH, subsequent_indent='  ')
        if len(lines) + len(wrapped) + 1 > room:
            texts = texts[:number]
            break
        lines += wrapped
    if len(every) > len(texts):
        return [*lines, f'{len(every)} findings in all: {MORE}']
    return lines if every else []


def _severity(finding: str) -> int:
    word = finding.partition(' ')[0]
    return SEVERITIES.index(word) if word in SEVERITIES else 0


def _verdict(model: DynamicModel, facts: Mapping[str, Any], payload: Payload | None) -> list[str]:
    success, judgement = facts.get('success'), verdict_of_facts(facts)
    verdict = 'of unknown success' if success is None else 'succeeded' if success else 'FAILED'
    rows = {
        'recording': _with_residual(facts, ''),
        'validation': _with_residual(facts, 'validation_') or 'none (--validate, --split)',
        'model': _model(model, facts),
        'mass': mass_text(facts) if payload is None else '',  # the arm's is that of its base
        'base': str(facts.get('base_result', '')),
        'inertials': '' if judgement is None or payload is not None else _use(judgement.inertials),
        'use': '' if judgement is None or judgement.payload is None else _use(judgement.payload),
    }
    payload_rows = [] if payload is None else payload_figures(payload_block(payload))
    rows |= {
        'payload' if number == 0 else ' ' * number: f'{name} {text}'
        for number, (name, text) in enumerate(payload_rows)
    }
    if 'relative_residual' not in facts:
        del rows['validation']
    if success is False and judgement is not None and judgement.worth_writing:
        failed = [each.joint for each in judgement.joints if each.moved and not each.works]
        verdict += f' for {", ".join(failed)}' if failed else ''
    if success and payload is not None and is_within_zero(payload):
        verdict += ', the payload is not distinguishable from zero'
    title = f'identification {verdict} {facts.get("date", "")}'.strip()
    return [title, *(f'{name:<10}  {value}' for name, value in rows.items() if value)]


def _model(model: DynamicModel, facts: Mapping[str, Any]) -> str:
    candidates, consistent = facts.get('candidate_names'), facts.get('physically_consistent')
    parts = [f'{len(model.joints)} joints, {len(model.parameters)} parameters']
    if candidates:
        parts.append(
            candidates[0] if len(candidates) == 1 else f'mean of {len(candidates)} candidates'
        )
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
    """Return the mass of the moving links, identified and by the URDF.

    It is '' where it is unknown or neither torque nor URDF gives it, and where the links are not
    usable.
    """
    identified, given = facts.get('moving_mass'), facts.get('moving_mass_of_urdf')
    verdict = verdict_of_facts(facts)
    wrong = verdict is not None and verdict.inertials.word == 'not usable'
    if wrong or identified is None or given is None or math.isnan(identified + given):
        return ''
    known = bool(facts.get('moving_mass_determined'))
    if given > 0.0:
        alone = '' if known else ' (not determined by torque alone)'
        return f'moving links {identified:.4g} kg{alone}, by the URDF {given:.4g} kg'
    return f'moving links {identified:.4g} kg, the URDF has no masses' if known else ''


def verdict_of_facts(facts: Mapping[str, Any]) -> Verdict | None:
    """Return the verdict in the facts of a result; None: an earlier version wrote them."""
    block = facts.get('verdict')
    return None if block is None else of_block(block)


def joint_table(verdict: Verdict, width: int | None = None) -> list[str]:
    """Return one line per joint: its errors, what it can be used for, and why not for more.

    :param width: of a line; reasons that do not fit are counted. None: all are listed
    """
    size = max(5, *(len(each.joint) for each in verdict.joints))
    tested = verdict.tested.removeprefix('the ') or 'other data'
    title = f'{"joint":<{size}}  {"error":>7}  {tested:>{len(tested)}}  '
    rows = [f'{title}feed-forward  monitoring  why']
    for each in verdict.joints:
        fitted, other = (
            '-' if math.isnan(error) or not each.moved else f'{100.0 * error:.3g} %'
            for error in (each.error, each.other_error)
        )
        row = f'{each.joint:<{size}}  {fitted:>7}  {other:>{len(tested)}}  '
        row += f'{each.feedforward.word:<12}  {each.monitoring.word:<10}  '
        rows.append((row + _reasons(each.reasons, (width or sys.maxsize) - len(row))).rstrip())
    return rows


def _use(use: Use) -> str:
    """Return a word and the reasons that there is room for in a line."""
    reasons = _reasons(use.reasons, WIDTH - len(f'inertials   {use.word}: '))
    return f'{use.word}: {reasons}' if reasons else use.word


def _reasons(reasons: Sequence[str], room: int) -> str:
    """Return the reasons that there is room for, at least one, and the number of the others."""
    for count in range(len(reasons), 0, -1):
        more = f' (+{len(reasons) - count})' if count < len(reasons) else ''
        text = '; '.join(reasons[:count]) + more
        if len(text) <= room:
            break
    return text if reasons else ''


def _joints(facts: Mapping[str, Any]) -> list[str]:
    """Return the table of the joints; those that are not usable first where it is too long."""
    verdict = verdict_of_facts(facts)
    if verdict is None or all(math.isnan(each.error) for each in verdict.joints):
        return []
    title, *rows = joint_table(verdict, WIDTH)
    most = LINES // 3
    if len(rows) > most:  # findings have room too
        order = sorted(
            range(len(rows)), key=lambda row: WORDS.index(verdict.joints[row].feedforward.word)
        )
        shown = sorted(order[: most - 1])
        rows = [*(rows[k] for k in shown), f'and {len(rows) - len(shown)} more joints: {MORE}']
    return [title, *rows]
