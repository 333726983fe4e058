# SPDX-License-Identifier: Apache-2.0
"""Verdict, torque errors per joint, findings and parameters of a page, from the facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robodyn_ros.identification.fit.success import MEANING
from robodyn_ros.identification.result.payload_block import payload_figures
from robodyn_ros.identification.result.summary import mass_text
from robodyn_ros.report.numbers import share, short


def verdict(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the verdict and the most important figures."""
    checked = _checked(facts)
    severe = [item['severity'] for item in facts['findings']]
    success = bool(facts['success'])
    counts = ', '.join(_count(severe, word) for word in ('error', 'warning'))
    where = 'on validation' if facts.get('validation') else 'on the recording itself'
    figures = [
        (f'residual {where}', share(checked.get('relative_residual'))),
        ('findings', counts),
        ('samples', short(facts['identification'].get('samples'), 7)),
        ('friction law', (facts.get('friction_choice') or {}).get('law') or 'as given'),
        ('physically consistent', 'yes' if facts.get('physically_consistent') else 'no'),
    ]
    masses = mass_text(facts)
    figures += [('mass', masses)] if masses else []
    payload = facts.get('payload')
    if payload:
        figures = [(f'payload: {name}', text) for name, text in payload_figures(payload)] + figures
    return {
        'success': success,
        'text': 'Identification succeeded' if success else 'Identification FAILED',
        'date': facts.get('date', ''),
        'figures': figures,
        'reasons': [f['text'] for f in facts['findings'] if f['severity'] == 'error'],
    }


def joint_errors(facts: Mapping[str, Any], units: Sequence[str]) -> dict[str, Any]:
    """Return the torque errors that decide, per joint, with bars against the limit."""
    checked, limit = _checked(facts), facts.get('max_relative_error_allowed') or 0.5
    key = 'decisive_error' if 'decisive_error' in checked else 'max_relative_torque_error'
    errors = [0.0 if each is None else float(each) for each in checked[key]]
    scale = 1.1 * max([*errors, limit])
    rows = [
        {
            'joint': name,
            'rms': f'{short(checked["rms_error"][k])} {units[k]}',
            'error': share(checked[key][k]),
            'mean': share(checked['mean_relative_torque_error'][k]),
            'residual': share(checked['joint_relative_residual'][k]),
            'moving': checked['moving_samples'][k],
            'bar': round(100.0 * errors[k] / scale, 1),
            'above': errors[k] > limit,
        }
        for k, name in enumerate(facts['joints'])
    ]
    return {
        'rows': rows,
        'limit': share(limit),
        'limit_at': round(100.0 * limit / scale, 1),
        'rule': MEANING.get(facts.get('success_rule', 'auto'), 'largest relative torque error'),
        'validated': bool(facts.get('validation')),
        'source': checked.get('source', ''),
    }


def grouped_findings(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the findings, those with the same code and remedy as one with several texts."""
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    for item in facts['findings']:
        remedy = item.get('remedy', '')
        alone = '' if remedy else item['text']
        key = (item['severity'], item['code'], remedy, alone)
        own = groups.setdefault(key, {'joints': [], 'texts': []})
        own['texts'].append(item['text'])
        own['joints'] += [item['joint']] if item['joint'] else []
    return [
        {'severity': key[0], 'code': key[1], 'remedy': key[2], **own}
        for key, own in groups.items()
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
            'status': row.get('status') or _status(row),
        }
        for kind, key, column in tables
        for row in facts.get(key, ())
    ]


def _status(row: Mapping[str, Any]) -> str:
    return 'not observable' if row['stddev'] is None else 'identified'


def _count(severe: Sequence[str], word: str) -> str:
    count = severe.count(word)
    return f'{count} {word}{"" if count == 1 else "s"}'


def _checked(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the torque errors that decide: those of the validation, if there is one."""
    checked: Mapping[str, Any] = facts.get('validation') or facts['identification']
    return checked
