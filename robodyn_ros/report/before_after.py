# SPDX-License-Identifier: Apache-2.0
"""Torque error of each joint with three models: what the identification gained.

They are the URDF, its links with friction and rotors of the result (a URDF has none), and the
result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn_ros.analysis.compare import replace_links
from robodyn_ros.identification.physical.semidefinite import has_usable_inertials
from robodyn_ros.identification.result.summary import verdict_of_facts
from robodyn_ros.models.interface import Array
from robodyn_ros.report.charts import Box
from robodyn_ros.report.numbers import choose_evenly, share
from robodyn_ros.report.source import ReportSource

SAMPLES = 4000
"""Of all joints; their errors differ by less than one part in a hundred from those of all."""
SHOWN = 6.0
"""Part of the motion that the curve shows, in [s]."""
POINTS = 600
"""Points of the curve."""


def before_after(source: ReportSource, reference: Array | None) -> dict[str, Any] | None:
    """Return errors of each joint, and the curve of the one that gained most.

    :param reference: torque that the errors of each joint are relative to, (n,); None: unknown
    :return: None without signals, for a robot whose URDF has no masses, for a payload, whose arm
        was identified elsewhere, and for a result that nothing is gained by
    """
    model, values, signals = source.model, source.values, source.signals
    if model is None or values is None or signals is None or reference is None:
        return None
    facts = source.facts
    if not facts['success'] or facts.get('payload') or not has_usable_inertials(model):
        return None
    urdf: Array = np.nan_to_num(model.prior())
    thresholds = facts['identification']['velocity_threshold']
    low = np.array([each or 0.0 for each in thresholds])
    moving = np.flatnonzero((np.abs(signals.velocity) > low).any(axis=1))
    rows = moving[choose_evenly(len(moving), SAMPLES)]
    if not len(rows):
        return None
    motion = signals.position[rows], signals.velocity[rows], signals.acceleration[rows]
    torque = signals.torque[rows]
    after = signals.predicted[rows]
    # Torque is linear in the parameters. Slips, which need all samples, are in no difference.
    links = replace_links(model, values, urdf) - values
    before = model.torque(*motion, urdf), after + model.torque(*motion, links)
    errors = np.array([np.mean((each - torque) ** 2, axis=0) for each in (*before, after)])
    shares = _shares(errors, source, reference)
    best = int(np.argmax(np.nan_to_num(shares[0] - shares[2])))
    return {
        'rows': [
            {
                'joint': name,
                'texts': [share(each) for each in part],
                'bars': [round(100.0 * min(each, 1.0), 1) for each in np.nan_to_num(part)],
            }
            for name, part in zip(source.joints, shares.T, strict=True)
        ],
        'text': _sentence(source.joints[best], *shares[:, best]),
        'joint': source.joints[best],
        'unit': model.joints[best].torque_unit,
        'chart': _curve(source, urdf, best),
    }


def _shares(errors: Array, source: ReportSource, reference: Array) -> Array:
    """Return errors relative to the torque, (3, n); the last are those of the table below.

    These count the noise above the low pass, which no model explains, so the others get it too.
    """
    relative: Array = errors / reference**2
    judgement = verdict_of_facts(source.facts)
    if judgement is not None:
        table = np.array([each.error for each in judgement.joints])
        relative = relative + (table**2 - relative[2])
    return np.sqrt(np.maximum(relative, 0.0))


def _sentence(joint: str, urdf: float, mixed: float, after: float) -> str:
    explained = 100.0 * (urdf - mixed)
    text = f'{joint}: {share(urdf)} of the torque unexplained by the URDF, {share(after)} now'
    if explained < 1.0:
        return f'{text}.'
    return f'{text}: friction and rotors explain {explained:.0f} points.'


def _curve(source: ReportSource, urdf: Array, joint: int) -> dict[str, Any]:
    """Return the measured torque of a joint, that of the URDF, and that of the result."""
    model, signals = source.model, source.signals
    assert model is not None and signals is not None
    middle = signals.time[np.argmax(np.abs(signals.velocity[:, joint]))]
    first, last = signals.time[0], max(signals.time[-1] - SHOWN, signals.time[0])
    start = float(np.clip(middle - 0.5 * SHOWN, first, last))
    rows = np.flatnonzero((signals.time >= start) & (signals.time <= start + SHOWN))
    rows = rows[choose_evenly(len(rows), POINTS)]
    motion = signals.position[rows], signals.velocity[rows], signals.acceleration[rows]
    lines = np.stack([
        signals.torque[rows, joint],
        model.torque(*motion, urdf)[:, joint],
        signals.predicted[rows, joint],
    ])  # fmt: skip
    time = signals.time[rows]
    low, high = float(min(lines.min(), 0.0)), float(max(lines.max(), 0.0))
    box = Box((float(time[0]), low), (float(time[-1]), high), width=900.0, height=210.0)
    return box.frame() | {'lines': [box.line(time.tolist(), line.tolist()) for line in lines]}
