# SPDX-License-Identifier: Apache-2.0
"""`robodyn info`: content of a recording, and findings about it."""

from __future__ import annotations

import argparse
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn_ros.cli.effort import add_source, declared_effort, joint_names
from robodyn_ros.cli.output import add_json, progress_bar, show
from robodyn_ros.control.effort.declaration import undeclared
from robodyn_ros.control.effort.recorded import bag_declaration, in_si_units
from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import finding
from robodyn_ros.identification.diagnosis.position_limits import limit_findings
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.recording.bags.rosbag import NoSuchTopicError
from robodyn_ros.recording.readers import read_recording, recording_format
from robodyn_ros.recording.recording import Recording

TOPIC = '/joint_states'
SIGNALS = ('position', 'velocity', 'acceleration', 'torque')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Show samples, joints, ranges and findings of a recording (rosbag2, CSV, NPZ, MAT).'
    )
    parser.add_argument('recording', help='rosbag2 folder, .mcap, .db3, .csv, .npz or .mat')
    add_source(parser, topic=None, default=f'{TOPIC}, or the first one that can be read')
    parser.add_argument(
        '--joints', metavar='NAME,NAME,...', help='joints to read; names the columns of NPZ, MAT'
    )
    parser.add_argument('--urdf', help='compare positions with the limits in this URDF')
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read the recording and print its content.

    Efforts need no declaration here; a finding reports that it is missing.
    """
    with progress_bar():
        recording = _in_known_units(_read(arguments), arguments)
    if arguments.urdf:
        urdf = read_urdf(arguments.urdf)
        prismatic = {joint.name for joint in urdf.joints if joint.type == 'prismatic'}
        limits = urdf.position_limits
        found = [*limit_findings(recording.joints, recording.position, limits, prismatic)]
        known = [joint.name for joint in urdf.joints if joint.type != 'fixed']
        if other := [name for name in recording.joints if name not in known]:
            names, others = ', '.join(other), ', '.join(known)
            told = finding('joints_not_in_urdf', joints=names, urdf=urdf.source, others=others)
            found.append(told)
        recording = replace(recording, findings=(*recording.findings, *found))
    facts = summary(recording, recording_format(arguments.recording))
    show(arguments, facts, table(facts))
    return 0


def _read(arguments: argparse.Namespace) -> Recording:
    """Read the topic of --topic; without it, the usual one or the first that can be read."""
    path, columns, joints = arguments.recording, arguments.columns, joint_names(arguments)

    def read(topic: str) -> Recording:
        return read_recording(path, columns=columns, topic=topic, joints=joints)

    try:
        return read(arguments.topic or TOPIC)
    except NoSuchTopicError as error:
        for topic in () if arguments.topic else error.others:
            with suppress(RecordingError):
                recording = read(topic)
                others = ', '.join(other for other in error.others if other != topic)
                told = (
                    finding('topic_chosen.of_several', topic=topic, others=others)
                    if others else finding('topic_chosen', topic=topic)
                )  # fmt: skip
                return replace(recording, findings=(*recording.findings, told))
        hint = ' (choose one with --topic)' if error.others else ''
        raise RecordingError(f'{error}{hint}') from error


def _in_known_units(recording: Recording, arguments: argparse.Namespace) -> Recording:
    path, columns = arguments.recording, arguments.columns
    declared = declared_effort(arguments)
    known = declared or recording_format(path) != 'rosbag2' or columns or bag_declaration(path)
    if known:
        return in_si_units(recording, path, declared, columns=columns)
    told = finding('effort_undeclared', reason=undeclared(path))
    return replace(recording, findings=(*recording.findings, told))


def summary(recording: Recording, kind: str) -> dict[str, Any]:
    """Collect the facts about a recording, SI units."""
    steps = np.diff(recording.time)
    ranges = []
    for column, joint in enumerate(recording.joints):
        entry: dict[str, Any] = {'name': joint}
        for name in SIGNALS:
            values = getattr(recording, name)
            if values is not None:
                entry[name] = [values[:, column].min(), values[:, column].max()]
        ranges.append(entry)
    return {
        'recording': recording.source,
        'format': kind,
        'samples': len(recording),
        'duration': recording.duration,
        'rate': 1.0 / recording.period,
        'largest_gap': steps.max(),
        'largest_gap_at': recording.time[np.argmax(steps)],
        'joints': ranges,
        'findings': recording.findings,
    }


def table(facts: dict[str, Any]) -> str:
    """Return the facts as text."""
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
    undeclared_effort = 'effort_undeclared' in [finding.code for finding in facts['findings']]
    torque_unit = 'torque as recorded' if undeclared_effort else 'Nm or N'
    lines += [f'SI units: rad or m, s, {torque_unit}', '']
    lines += [finding.line for finding in facts['findings']] or ['no findings']
    return '\n'.join(lines)
