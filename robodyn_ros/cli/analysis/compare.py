# SPDX-License-Identifier: Apache-2.0
"""`robodyn compare`: comparison of a robot's CAD with its identified model."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from robodyn_ros.analysis.compare import compare
from robodyn_ros.analysis.compare_report import export_comparison, text_comparison
from robodyn_ros.cli.effort import add_recording, read_in_si_units
from robodyn_ros.cli.output import add_json, out_folder, progress_bar, result_file, show
from robodyn_ros.cli.page import with_page
from robodyn_ros.errors import ConfigError, IdentificationError, RecordingError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.recording.readers import recording_format
from robodyn_ros.report.numbers import short
from robodyn_ros.runs.file_set import file_set


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Show the base parameters of a URDF and of a result side by side, and the '
        'torque errors of both on a recording. Use a recording that was not used to identify.'
    )
    parser.add_argument(
        '--urdf', metavar='FILE', required=True, help='URDF of the robot as designed'
    )
    parser.add_argument(
        'result', type=result_file, help='result file of `robodyn identify`, or its folder'
    )
    add_recording(parser)
    parser.add_argument(
        '--filter-cutoff',
        type=float,
        metavar='HZ',
        help='cut-off of the low pass on position and torque (default: from the data)',
    )
    parser.add_argument(
        '--out',
        type=out_folder,
        metavar='DIR',
        help='folder for report, tables (CSV, JSON) and pictures',
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compare, print, and write the files of --out."""
    with suppress(RecordingError):  # it is none
        kind = recording_format(arguments.result)
        raise ConfigError(
            f'the result comes first, then the recording: {arguments.result} is a recording '
            f'({kind}), not a result file of `robodyn identify`'
        )
    identified = load_identified_model(arguments.result)
    options = IdentifyOptions(filter_cutoff=arguments.filter_cutoff)
    with progress_bar():
        recording = read_in_si_units(
            arguments, arguments.recording, identified.joints, identified.model
        )
        comparison = compare(arguments.urdf, identified, recording, options=options)
    facts: dict[str, Any] = comparison.to_json() | {'files': {}}
    text = text_comparison(comparison)
    if arguments.out is not None:
        title = 'CAD against identified model'
        with file_set(arguments.out, IdentificationError):
            facts['files'] = export_comparison(comparison, arguments.out)
            page = with_page(
                arguments, facts | _by_joint(facts), text, name='comparison', title=title
            )
            facts['files'] = page['files']
    lines = [text, *(f'{kind:<16} {path}' for kind, path in facts['files'].items())]
    show(arguments, facts, '\n'.join(lines))
    return 0


def _by_joint(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the torque errors as a table with a row per joint, in place of lists."""
    errors, units = facts['torque_errors'], facts['torque_units']
    rows = [
        {'joint': joint}
        | {f'{name}: rms error': f'{short(each["rms_error"][k], 5)} {units[k]}'
           for name, each in errors.items()}
        | {f'{name}: relative residual': each['joint_relative_residual'][k]
           for name, each in errors.items()}
        for k, joint in enumerate(facts['joints'])
    ]  # fmt: skip
    total = {name: each['relative_residual'] for name, each in errors.items()}
    return {'joints': rows, 'torque_units': '', 'torque_errors': '', 'relative_residual': total}
