# SPDX-License-Identifier: Apache-2.0
"""Verdict, torque errors per joint, findings and parameters of a page, from the facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn_ros.identification.physical.named_parameters import classify
from robodyn_ros.identification.result.payload_block import payload_figures
from robodyn_ros.identification.result.summary import mass_text, verdict_of_facts
from robodyn_ros.identification.result.verdict import (
    WORDS,
    JointVerdict,
    Use,
    Verdict,
    Word,
    make_unknown_verdict,
)
from robodyn_ros.report.numbers import share, short


def verdict(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the verdict and the most important figures."""
    checked = facts.get('validation') or facts['identification']
    success, judgement = bool(facts['success']), verdict_of_facts(facts)
    where = 'on validation' if facts.get('validation') else 'on the recording itself'
    figures = [(f'residual {where}', share(checked.get('relative_residual')))]
    masses = mass_text(facts)
    figures += [('mass', masses)] if masses else []
    payload = facts.get('payload')
    if payload:
        rows = [*payload_figures(payload), ('base result', str(payload.get('base_result', '')))]
        figures = [(f'payload: {name}', text) for name, text in rows] + figures
    return {
        'success': success,
        'purposes': [] if judgement is None else list_purposes(judgement),
        'care': success and judgement is not None and not _is_usable(judgement),
        'text': 'Identification succeeded' if success else 'Identification FAILED',
        'date': facts.get('date', ''),
        'figures': figures,
        'reasons': [f['text'] for f in facts['findings'] if f['severity'] == 'error'],
    }


def _is_usable(judgement: Verdict) -> bool:
    """Return True if each joint that moved is usable for feed-forward without care."""
    return all(each.feedforward.word == 'usable' for each in judgement.joints if each.moved)


def list_purposes(judgement: Verdict) -> list[dict[str, Any]]:
    """Return what the result can be used for: per purpose its words, worst first, and for whom."""
    moved = [each for each in judgement.joints if each.moved]
    purposes = [
        (name, [(each.joint, getattr(each, key)) for each in moved])
        for name, key in (('feed-forward', 'feedforward'), ('collision monitoring', 'monitoring'))
    ]
    alone = (('links of the URDF', judgement.inertials), ('payload', judgement.payload))
    purposes += [(name, [('', use)]) for name, use in alone if use is not None]
    return [{'name': name, 'words': _list_words(uses)} for name, uses in purposes]


def _list_words(uses: list[tuple[str, Use]]) -> list[dict[str, str]]:
    """Return each word and reason with the joints that have it; none are named if all have."""
    groups: dict[tuple[Word, str], list[str]] = {}
    for joint, use in uses:
        why = '; '.join(map(_name_code, use.reasons))
        groups.setdefault((use.word, why), []).append(joint)
    return [
        {'word': word, 'joints': '' if len(groups) == 1 else ', '.join(joints), 'why': why}
        for (word, why), joints in sorted(groups.items(), key=lambda item: WORDS.index(item[0][0]))
    ]


def _name_code(reason: str) -> str:
    """Return a reason as words: some are codes of findings, which are explained below."""
    return reason if ' ' in reason else reason.replace('_', ' ')


def joint_errors(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error and the use of each joint, with bars against the limit."""
    limit = facts.get('max_relative_error_allowed') or 0.5
    judgement = verdict_of_facts(facts) or make_unknown_verdict(facts['joints'])
    worst = [_worst(each) for each in judgement.joints]
    scale = 1.1 * max([*worst, limit])
    rows = [
        {
            'joint': each.joint,
            'error': share(each.error if each.moved else None),
            'other': share(each.other_error if each.moved else None),
            'use': each.text,
            'word': each.feedforward.word,
            'moving': facts['identification']['moving_samples'][k],
            'bar': round(100.0 * worst[k] / scale, 1),
            'above': worst[k] > limit,
        }
        for k, each in enumerate(judgement.joints)
    ]
    return {
        'rows': rows,
        'limit': share(limit),
        'limit_at': round(100.0 * limit / scale, 1),
        'tested': judgement.tested,
        'validated': bool(facts.get('validation')),
        'source': (facts.get('validation') or {}).get('source', ''),
    }


def _worst(joint: JointVerdict) -> float:
    """Return the larger error of a joint; 0 if it was idle: then an error has no meaning."""
    known = [each for each in (joint.error, joint.other_error) if each == each and joint.moved]
    return max(known, default=0.0)


def group_findings(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the findings, those with the same code and remedy as one with several texts."""
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    for item in facts['findings']:
        remedy = item.get('remedy', '')
        alone = '' if remedy else item['text']
        key = (item['severity'], item['code'], remedy, alone)
        group = groups.setdefault(key, {'joints': [], 'texts': []})
        group['texts'].append(item['text'])
        group['joints'] += [item['joint']] if item['joint'] else []
    return [
        {'severity': key[0], 'code': key[1], 'remedy': key[2], **group}
        for key, group in groups.items()
    ]


def parameter_rows(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all parameters for one table: base, standard and those of the softMC document."""
    tables = (
        ('base', 'base_parameters', 'expression'),
        ('standard', 'parameters', 'name'),
        ('document', 'dynamic_parameters', 'name'),
    )
    return [
        {
            'kind': kind,
            'name': row[column],
            'value': short(row['value'], 5),
            'stddev': short(row['stddev'], 3),
            'unit': row['unit'],
            'status': _status(row),
        }
        for kind, key, column in tables
        for row in facts.get(key, ())
    ]


def _status(row: Mapping[str, Any]) -> str:
    """Return how a value is known; that of softMC's names and of earlier versions by its size."""
    status = str(row.get('status', 'identified'))
    if status != 'identified':
        return status
    value, stddev = (float('nan') if row[key] is None else row[key] for key in ('value', 'stddev'))
    return classify(np.array([value]), np.array([stddev]))[0]
