# SPDX-License-Identifier: Apache-2.0
"""`robodyn gains`: factors from the signals of drives to torque."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.analysis.gains.command_delay import with_delay
from robodyn_ros.analysis.gains.estimate import NARROW, Gains, JointGain, estimate_gains
from robodyn_ros.analysis.gains.files import UNITS, columns_text, effort_text
from robodyn_ros.analysis.gains.known_load import KnownLoad, check_load
from robodyn_ros.analysis.gains.known_masses import gains_from_masses
from robodyn_ros.analysis.gains.runs import check_same_signal
from robodyn_ros.cli.effort import add_source, joint_names
from robodyn_ros.cli.identify import add_model
from robodyn_ros.cli.output import EXIT_NEGATIVE, add_json, out_folder, progress_bar, show
from robodyn_ros.cli.robot_model import build_chosen, check_named, refuse, take_robot_file
from robodyn_ros.errors import ConfigError, IdentificationError, RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.files.result_file import write_text
from robodyn_ros.models.friction_terms import DEFAULT_TERMS
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.payload import Payload, payload_of
from robodyn_ros.recording.position_drive import POSITION_ERROR, PositionDrive
from robodyn_ros.recording.readers import read_recording, recording_format
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.tables.columns import load_columns
from robodyn_ros.recording.tables.example import PLACEHOLDERS
from robodyn_ros.recording.tables.units import NEEDS_SCALE
from robodyn_ros.report.numbers import short
from robodyn_ros.runs.file_set import file_set

FILES = {'effort': 'effort.yaml', 'columns': 'columns.yaml'}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Estimate the factor from the signal of each drive (current, per mille, counts; where '
        'only positions exist, commanded minus measured position) to torque, with sign and '
        'interval of 95 %, from one motion without and with a weighed load. '
        'With EMPTY alone, the scale is that of the masses of the URDF. The exit code is 1 if a '
        'joint has no factor, or the load of --check is outside its interval.'
    )
    parser.add_argument('empty', metavar='EMPTY', help='recording without load')
    parser.add_argument(
        'loaded', metavar='LOADED', nargs='?', help='the same motion with a weighed load'
    )
    add_source(parser)
    add_model(parser)
    load = parser.add_argument_group('load')
    load.add_argument('--payload-mass', type=float, metavar='KG', help='mass of the load')
    load.add_argument(
        '--payload-com',
        type=float,
        nargs=3,
        metavar=('X', 'Y', 'Z'),
        help='centre of mass of the loads in the frame, in m (default: estimated, about 0.1 m '
        'from its origin)',
    )
    load.add_argument('--frame', metavar='LINK', help='frame of the load (default: the last link)')
    load.add_argument('--check', metavar='RECORDING', help='recording with another weighed load')
    load.add_argument('--check-mass', type=float, metavar='KG', help='mass of the load of --check')
    parser.add_argument(
        '--unit',
        choices=UNITS,
        help=f'unit of the signal (default: raw, without a torque {POSITION_ERROR})',
    )
    parser.add_argument(
        '--out',
        type=out_folder,
        metavar='DIR',
        help=f'folder for {FILES["effort"]}, the declaration for --effort and robot files; for '
        f'tables also {FILES["columns"]}, the mapping for --columns',
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Estimate, check, print, and write the files of --out; 1 if a joint has no factor."""
    refuse(arguments, ('effort',), 'declares what gains estimates: leave it out')
    refuse(arguments, ('joint-limits',), 'has no effect on factors')
    take_robot_file(arguments)
    _check_load_arguments(arguments)
    check_named(arguments)
    model = build_chosen(arguments, DEFAULT_TERMS, dynamic_model=arguments.dynamic_model)
    with progress_bar():
        gains, delay = _estimate(arguments, model)
        checked = _check(arguments, gains)
    findings = (*delay, *_findings(arguments, gains, checked))
    facts: dict[str, Any] = {
        'unit': (arguments.unit or 'raw') if _drive(gains) is None else POSITION_ERROR,
        'joints': [_facts(each) for each in gains.joints],
        'check': checked,
        'findings': findings,
    }
    if arguments.out is not None and gains.determined:
        facts['files'] = _write(arguments, gains)
    show(arguments, facts, '\n'.join(_lines(facts, checked)))
    good = len(gains.determined) == len(gains.joints) and (checked is None or checked.agrees)
    return 0 if good else EXIT_NEGATIVE


def _check_load_arguments(arguments: argparse.Namespace) -> None:
    for recording, mass, name in (
        (arguments.loaded, arguments.payload_mass, 'LOADED and --payload-mass'),
        (arguments.check, arguments.check_mass, '--check and --check-mass'),
    ):
        if (recording is None) != (mass is None):
            raise ConfigError(f'{name} go together: give both or neither')
        if mass is not None and not (np.isfinite(mass) and mass > 0.0):
            raise ConfigError(f'the mass of a load must be above 0 kg, got {mass:g}')
    if arguments.loaded is None:
        refuse(arguments, ('payload-com',), 'goes with LOADED and --payload-mass')


def _read(arguments: argparse.Namespace, path: str, model: DynamicModel) -> Recording:
    """Return a recording with the signal of the drives as its torque.

    :raises RecordingError: --unit is that of a torque or current, and it has neither
    """
    joints, columns = joint_names(arguments, model), _columns(arguments)
    torque = columns.get('torque')
    if arguments.unit == POSITION_ERROR:
        columns['torque'] = {'unit': POSITION_ERROR}
    elif isinstance(torque, dict) and torque.get('unit') in NEEDS_SCALE:
        columns['torque'] = {**torque, 'scale': 1.0}
    recording = read_recording(
        path, columns=columns, topic=arguments.topic, joints=joints, part=arguments.part,
        rename=arguments.rename,
    )  # fmt: skip
    if recording.drive is not None and arguments.unit not in (None, POSITION_ERROR):
        raise RecordingError(
            f'{path}: its signal is the error of position, not one in --unit {arguments.unit}: '
            f'name the columns of the torque with --columns, or leave out --unit'
        )
    return recording


def _drive(gains: Gains) -> PositionDrive | None:
    return gains.task.recordings[0].drive


def _load(arguments: argparse.Namespace, model: DynamicModel, mass: float) -> Payload:
    center = arguments.payload_com or ()
    return payload_of(model, mass, center_of_mass=center, frame=arguments.frame or '')


def _columns(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the mapping of --columns; the scale of the torque may only be a placeholder.

    :raises ConfigError: it has one
    """
    columns = {} if arguments.columns is None else dict(load_columns(arguments.columns))
    torque = columns.get('torque')
    if isinstance(torque, dict) and 'scale' in torque:
        if torque['scale'] not in PLACEHOLDERS:
            raise ConfigError(
                f'{arguments.columns}: torque has a scale, which gains estimates: leave it out'
            )
        columns['torque'] = {key: value for key, value in torque.items() if key != 'scale'}
    return columns


def _estimate(arguments: argparse.Namespace, model: DynamicModel) -> tuple[Gains, list[Finding]]:
    """Return the factors, and findings about the delay of commands."""
    _columns(arguments)
    paths = [path for path in (arguments.empty, arguments.loaded) if path is not None]
    recordings, findings = with_delay([_read(arguments, path, model) for path in paths], model)
    if arguments.loaded is None:
        return gains_from_masses(recordings[0], model), findings
    load, known = (
        _load(arguments, model, arguments.payload_mass),
        arguments.payload_com is not None,
    )
    empty, loaded = recordings
    return estimate_gains(empty, loaded, model, load, center_known=known), findings


def _check(arguments: argparse.Namespace, gains: Gains) -> KnownLoad | None:
    if arguments.check is None:
        return None
    if not gains.determined:
        raise IdentificationError('--check needs a joint with a factor, there is none')
    model, known = gains.task.model, arguments.payload_com is not None
    recording = _read(arguments, arguments.check, model)
    check_same_signal([gains.task.recordings[0], recording])
    if (drive := _drive(gains)) is not None:
        recording = recording.with_drive(drive)
    load = _load(arguments, model, arguments.check_mass)
    return check_load(gains, recording, load, center_known=known)


def _findings(
    arguments: argparse.Namespace, gains: Gains, checked: KnownLoad | None
) -> Iterator[Finding]:
    if arguments.loaded is None:
        yield finding('gains_from_masses')
    for each in gains.joints:
        if not each.determined:
            yield finding('gain_undetermined', joint=each.joint.name, why=each.why)
    if checked is not None and not checked.agrees:
        yield finding('gains_check_failed', mass=checked.mass, given=checked.given)


def _write(arguments: argparse.Namespace, gains: Gains) -> dict[str, str]:
    used = gains.determined
    head = f'Made by {arguments.command_line}\n' + '\n'.join(map(_line, gains.joints))
    if (drive := _drive(gains)) is not None:
        delay = dict(zip(gains.task.recordings[0].joints, drive.delay.tolist(), strict=True))
        texts = {'columns': columns_text(used, _columns(arguments), head, delay)}
    else:
        texts = {'effort': effort_text(used, arguments.unit or 'raw', head)}
    if drive is None and recording_format(arguments.empty) != 'rosbag2':
        texts['columns'] = columns_text(used, _columns(arguments), head)
    with file_set(arguments.out, IdentificationError) as folder:
        for kind, text in texts.items():
            write_text(text, folder / FILES[kind])
    return {kind: str(Path(arguments.out, FILES[kind])) for kind in texts}


def _facts(gain: JointGain) -> dict[str, Any]:
    return {
        'name': gain.joint.name,
        'factor': gain.factor if gain.determined else None,
        'estimate': gain.factor,
        'interval': [gain.low, gain.high],
        'unit': f'{gain.joint.torque_unit} per unit of the signal',
        'determined': gain.determined,
        'why': gain.why,
    }


def _lines(facts: dict[str, Any], checked: KnownLoad | None) -> Iterator[str]:
    width = max(5, *(len(each['name']) for each in facts['joints']))
    yield f'{"joint":<{width}}  {"factor":>10}  95 % interval'
    for each in facts['joints']:
        ends = f'{short(each["interval"][0])} to {short(each["interval"][1])}'
        value = short(each['estimate']) if each['determined'] else 'none'
        yield f'{each["name"]:<{width}}  {value:>10}  {ends}'
    if checked is not None:
        yield (
            f'load of --check: {checked.mass:.3f} +- {checked.half_width:.3f} kg, '
            f'given {checked.given:.3f} kg'
        )
    yield ''
    yield from (each.line for each in facts['findings'])
    yield from (f'{kind:<8} {path}' for kind, path in facts.get('files', {}).items())


def _line(gain: JointGain) -> str:
    ends = f'{short(gain.low)} to {short(gain.high)}'
    if gain.determined:
        return f'{gain.joint.name}: {short(gain.factor)}, {ends}'
    return f'{gain.joint.name}: no factor, {gain.why} ({ends}; at most +-{NARROW:.0%})'
