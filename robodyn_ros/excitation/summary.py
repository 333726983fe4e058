# SPDX-License-Identifier: Apache-2.0
"""Summary of the search for a motion, as text and as data."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn_ros.excitation.collisions.check import collision_lines
from robodyn_ros.excitation.design.optimize import Optimised
from robodyn_ros.excitation.design.problem import Design
from robodyn_ros.excitation.limits.constraints import TorqueLimit
from robodyn_ros.excitation.trajectory import Array

FIGURES = {
    'cond': 'condition_number',
    'det': 'log10_det',
    'block': 'block_objective',
    'block_by_condition': 'block_objective',
}
"""Name of the reported quantity of each criterion."""


def convert_value(criterion: str, value: float) -> tuple[str, float]:
    """Return name and reported value of the minimised criterion, see `Criterion.value`.

    It is infinite while penalties exceed the range of numbers: the motion breaks its limits.
    """
    if criterion == 'det':
        return FIGURES[criterion], -value
    return FIGURES[criterion], 10.0**value if value <= sys.float_info.max_10_exp else np.inf


def summary(result: Optimised, design: Design) -> dict[str, Any]:
    """Collect criterion values, shares of limits and seconds; plain types, SI units."""
    figures = {
        name: value if np.isfinite(value) else None for name, value in result.figures.items()
    }
    shares = _shares(result, design)
    return {
        'criterion': design.criterion.name,
        'value': figures[FIGURES[design.criterion.name]],
        'figures': figures,
        'motion': design.motion,
        'duration': result.trajectory.duration,
        'joints': [
            {'name': name, **{kind: float(share[i]) for kind, share in shares.items()}}
            for i, name in enumerate(result.trajectory.joints)
        ],
        'seconds': result.seconds,
        'starts': result.starts,
        'complete': result.complete,
        'note': result.note,
        **design.coverage.check(result.trajectory, design.model).facts(),
    }


def _shares(result: Optimised, design: Design) -> dict[str, Array]:
    """Return the used share of every limit, (n,) each; torques only with torque limits."""
    shares = dict(result.shares)
    for rule in design.rules:
        if isinstance(rule, TorqueLimit):
            motion = result.trajectory.grid(0.01)
            torque = design.model.torque(
                motion.position, motion.velocity, motion.acceleration, np.array(rule.values)
            )
            shares['torque'] = np.abs(torque).max(axis=0) / np.array(rule.limits)
    return shares


def sentence(result: Optimised, design: Design) -> str:
    """Summarise a search in one sentence."""
    name, value = convert_value(design.criterion.name, result.value)
    used = {kind: float(share.max()) for kind, share in _shares(result, design).items()}
    return (
        f'a motion of {result.trajectory.duration:.3g} s was found in {result.seconds:.1f} s: '
        f'{name.replace("_", " ")} {value:.4g}, largest share of a limit used '
        + ', '.join(f'{kind} {share:.0%}' for kind, share in used.items())
        + (f'; {result.note}' if result.note else '')
        + ''.join(f'; NOT checked: {text}' for text in design.coverage.unchecked)
    )


def table(facts: dict[str, Any]) -> str:
    """Format the facts of `summary` as text, with the paths of files."""
    lines = [
        f'{name.replace("_", " "):<32} ' + ('infinite' if value is None else f'{value:.5g}')
        for name, value in facts['figures'].items()
    ]
    lines += ['', *shares_table(facts['joints'])]
    lines += ['', *collision_lines(facts)]
    lines += ['', f'{facts["seconds"]:.1f} s, {facts["starts"]} starts']
    if not facts['complete']:
        lines.append(
            'the search was stopped before its end, by the time limit or by the user: this is the '
            'best motion until then. With more time (--time) the same seed gives the same motion.'
        )
    if facts['note']:
        lines.append(facts['note'])
    lines += limit_lines(facts)
    lines += [f'{kind:<12} {path}' for kind, path in facts.get('files', {}).items()]
    return '\n'.join(lines)


def limit_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return remarks about the limits, from facts of a command."""
    assumed = [facts['assumed_limits']] if facts.get('assumed_limits') else []
    return assumed + [f'warning: {text}' for text in facts.get('limit_warnings', ())]


def shares_table(joints: list[dict[str, Any]]) -> list[str]:
    """Format the used shares of limits: name of the joint, then a share by quantity."""
    kinds = [kind for kind in joints[0] if kind != 'name']
    return [
        f'{"share of limits used":<20}' + ''.join(f'{kind:>13}' for kind in kinds),
        *(
            f'{joint["name"]:<20}' + ''.join(f'{abs(joint[kind]):>13.1%}' for kind in kinds)
            for joint in joints
        ),
    ]
