# SPDX-License-Identifier: Apache-2.0
"""`robodyn check`: what a recording has, what it can determine, and what looks wrong in it."""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

import numpy as np

from robodyn_ros.analysis.determined import assess_recording
from robodyn_ros.cli.effort import add_recording, joint_names, read_in_si_units
from robodyn_ros.cli.identify import add_model, model_of, urdf_beside
from robodyn_ros.cli.output import EXIT_NEGATIVE, add_json, progress_bar, show
from robodyn_ros.cli.robot_model import take_robot_file
from robodyn_ros.findings import SEVERITIES, has_error
from robodyn_ros.identification.diagnosis.position_limits import position_limits
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.recording.readers import recording_format
from robodyn_ros.recording.recording import Recording

SIGNALS = ('position', 'velocity', 'torque')
LINES = 24
"""Lines of a screen: findings that it has no room for are only counted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Check a recording (rosbag2 or a table) before it is identified: show what it has '
        'and what looks wrong. With a model, show what the motion can determine: for each joint '
        'the error to be expected of its torque on other motions, and the verdict of '
        '`robodyn identify` on its feed-forward (usable, with care, not usable). The exit code is '
        '1 if a joint is not usable or a finding is an error.'
    )
    add_recording(parser)
    add_model(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read, check and print; 1 if a joint is not usable, or a finding is an error."""
    take_robot_file(arguments)
    named = arguments.urdf is not None or arguments.model is not None
    model, path = model_of(arguments) if named else None, arguments.recording
    joints = joint_names(arguments, model)
    with progress_bar():
        recording = read_in_si_units(arguments, path, joints, model, undeclared_too=True)
        facts = summary(recording, recording_format(path))
        if model is not None:
            limits = position_limits(model, urdf_beside(arguments, model), arguments.joint_limits)
            options = IdentifyOptions(position_limits=limits)
            by_joint, facts['parameters'], facts['findings'] = assess_recording(
                recording, model, options
            )
            for entry in facts['joints']:
                entry |= by_joint[entry['name']]
    show(arguments, facts, table(facts))
    words = [entry.get('verdict') for entry in facts['joints']]
    return EXIT_NEGATIVE if 'not usable' in words or has_error(facts['findings']) else 0


def summary(recording: Recording, kind: str) -> dict[str, Any]:
    """Collect the facts about a recording, SI units."""
    steps = np.diff(recording.time)
    signals = {name: getattr(recording, name) for name in SIGNALS}
    ends = {
        name: np.stack([values.min(axis=0), values.max(axis=0)], axis=1)
        for name, values in signals.items()
        if values is not None
    }
    return {
        'recording': recording.source,
        'format': kind,
        'topic': recording.topic,
        'samples': len(recording),
        'duration': recording.duration,
        'rate': 1.0 / recording.period,
        'largest_gap': steps.max(),
        'largest_gap_at': recording.time[np.argmax(steps)],
        'joints': [
            {'name': joint} | {name: values[k] for name, values in ends.items()}
            for k, joint in enumerate(recording.joints)
        ],
        'parameters': {},
        'findings': recording.findings,
    }


def table(facts: dict[str, Any]) -> str:
    """Return the facts as text, with the findings that a screen has room for."""
    declared = 'effort_undeclared' not in [finding.code for finding in facts['findings']]
    topic = f', {facts["topic"]}' if facts['topic'] else ''
    lines = [
        f'recording    {facts["recording"]} ({facts["format"]}{topic})',
        f'samples      {facts["samples"]} in {facts["duration"]:.3f} s at {facts["rate"]:.2f} Hz, '
        f'largest gap {1e3 * facts["largest_gap"]:.2f} ms at {facts["largest_gap_at"]:.3f} s',
        f'SI units     rad or m, s, {"Nm or N" if declared else "torque as recorded"}',
    ]
    if parameters := facts['parameters']:
        counts = ', '.join(f'{count} {how}' for how, count in parameters.items())
        lines.append(f'parameters   {sum(parameters.values())} combinations: {counts}')
    lines += ['', *_rows(facts['joints']), '']
    room = max(LINES, len(lines) + 9) - 1
    findings = sorted(facts['findings'], key=lambda item: SEVERITIES.index(item.severity))
    for index, item in enumerate(findings):
        text = textwrap.wrap(item.line, 100, subsequent_indent='  ')
        if index and len(lines) + len(text) > room:
            lines.append(f'... and {len(findings) - index} more findings (--json)')
            break
        lines += text
    return '\n'.join(lines if findings else [*lines, 'no findings'])


def _rows(joints: list[dict[str, Any]]) -> list[str]:
    shown = ('position', 'torque') if 'verdict' in joints[0] else SIGNALS
    present = [name for name in shown if name in joints[0]]
    rows = [['joint', *present]]
    for entry in joints:
        ranges = [f'{entry[name][0]:.4g} to {entry[name][1]:.4g}' for name in present]
        rows.append([entry['name'], *ranges])
    if 'verdict' in joints[0]:
        rows[0] += ['of range', 'expected error', 'feed-forward']
        for entry, row in zip(joints, rows[1:], strict=True):
            shares = entry['coverage'], entry['expected_error']
            row += ['-' if np.isnan(share) else f'{share:.0%}' for share in shares]
            first, *others = entry['reason'].split('; ')
            first += f' (+{len(others)})' if others else ''
            row.append(': '.join(filter(None, (entry['verdict'], first))))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        '  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
