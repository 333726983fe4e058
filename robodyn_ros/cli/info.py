"""`robodyn info`: what a recording holds, and what is wrong with it."""

from __future__ import annotations

import argparse
import json
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from robodyn_ros.cli.effort import add_effort, declared_effort
from robodyn_ros.control.effort.declaration import undeclared
from robodyn_ros.control.effort.recorded import bag_declaration, in_si_units
from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.diagnosis.position_limits import limit_findings
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.recording.bags.rosbag import NoSuchTopicError
from robodyn_ros.recording.readers import read_recording, recording_format
from robodyn_ros.recording.recording import Finding, Recording

TOPIC = '/joint_states'
SIGNALS = ('position', 'velocity', 'acceleration', 'torque')


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser(
        'info',
        help='show what a recording holds',
        description='Show samples, joints, ranges and findings of a recording (rosbag2, CSV, '
        'NPZ, MAT).',
    )
    parser.add_argument('recording', help='rosbag2 folder, .mcap, .db3, .csv, .npz or .mat')
    parser.add_argument('--columns', metavar='YAML', help='what the columns of the file mean')
    parser.add_argument(
        '--topic',
        help=f'JointState topic of a bag (default: {TOPIC}, or the first one that is a recording)',
    )
    parser.add_argument(
        '--joints', metavar='NAME,NAME,...', help='joints to read; names the columns of NPZ, MAT'
    )
    parser.add_argument('--urdf', help='compare positions with the limits in this URDF')
    add_effort(parser)
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read the recording and print what it holds.

    What efforts mean need not be known to look at them: a finding then says so.

    :raises RobodynError: it cannot be read, or a declaration of its efforts cannot be used
    """
    recording = _in_known_units(_read(arguments), arguments)
    if arguments.urdf:
        limits = read_urdf(arguments.urdf).position_limits
        found = limit_findings(recording.joints, recording.position, limits)
        recording = replace(recording, findings=(*recording.findings, *found))
    facts = summary(recording, recording_format(arguments.recording))
    print(json.dumps(facts, indent=2) if arguments.json else table(facts))
    return 0


def _read(arguments: argparse.Namespace) -> Recording:
    """Read the topic asked for; if none is, the usual one or the first that can be read."""
    joints = None if arguments.joints is None else arguments.joints.split(',')

    def read(topic: str) -> Recording:
        return read_recording(
            arguments.recording, columns=arguments.columns, topic=topic, joints=joints
        )

    try:
        return read(arguments.topic or TOPIC)
    except NoSuchTopicError as error:
        for topic in () if arguments.topic else error.others:
            with suppress(RecordingError):
                recording = read(topic)
                text = f'this is {topic}; --topic shows another of {", ".join(error.others)}'
                finding = Finding('topic_chosen', text, severity='info')
                return replace(recording, findings=(*recording.findings, finding))
        hint = ' (--topic chooses one)' if error.others else ''
        raise RecordingError(f'{error}{hint}') from error


def _in_known_units(recording: Recording, arguments: argparse.Namespace) -> Recording:
    path, columns = arguments.recording, arguments.columns
    declared = declared_effort(arguments)
    known = declared or recording_format(path) != 'rosbag2' or columns or bag_declaration(path)
    if known:
        return in_si_units(recording, path, declared, columns=columns)
    finding = Finding('effort_undeclared', str(undeclared(path)))
    return replace(recording, findings=(*recording.findings, finding))


def summary(recording: Recording, kind: str) -> dict[str, Any]:
    """Collect the facts about a recording; plain types, SI units."""
    steps = np.diff(recording.time)
    ranges = []
    for column, joint in enumerate(recording.joints):
        entry: dict[str, Any] = {'name': joint}
        for name in SIGNALS:
            values = getattr(recording, name)
            if values is not None:
                entry[name] = [float(values[:, column].min()), float(values[:, column].max())]
        ranges.append(entry)
    return {
        'recording': recording.source,
        'format': kind,
        'samples': len(recording),
        'duration': recording.duration,
        'rate': 1.0 / recording.period,
        'largest_gap': float(steps.max()),
        'largest_gap_at': float(recording.time[int(np.argmax(steps))]),
        'joints': ranges,
        'findings': [asdict(finding) for finding in recording.findings],
    }


def table(facts: dict[str, Any]) -> str:
    """Lay the facts out for reading."""
    lines = [
        f'recording    {facts["recording"]} ({facts["format"]})',
        f'samples      {facts["samples"]} in {facts["duration"]:.3f} s at {facts["rate"]:.2f} Hz',
        f'largest gap  {1e3 * facts["largest_gap"]:.2f} ms at {facts["largest_gap_at"]:.3f} s',
        '',
    ]
    present = [name for name in SIGNALS if name in facts['joints'][0]]
    width = max(len('joint'), *(len(entry['name']) for entry in facts['joints']))
    lines.append(f'{"joint":<{width}}' + ''.join(f'  {name:>21}' for name in present))
    for entry in facts['joints']:
        cells = [f'{entry[name][0]:9.4g} to {entry[name][1]:8.4g}' for name in present]
        lines.append(f'{entry["name"]:<{width}}' + ''.join(f'  {cell:>21}' for cell in cells))
    undeclared_effort = 'effort_undeclared' in [f['code'] for f in facts['findings']]
    torque_unit = 'torque as it came' if undeclared_effort else 'Nm or N'
    lines.append(f'SI units: rad or m, s, {torque_unit}')
    lines.append('')
    for finding in facts['findings']:
        lines.append(Finding(**finding).line)
    if not facts['findings']:
        lines.append('no findings')
    return '\n'.join(lines)
