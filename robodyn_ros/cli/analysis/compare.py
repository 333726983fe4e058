# SPDX-License-Identifier: Apache-2.0
"""`robodyn compare`: comparison of a robot's CAD with its identified model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robodyn_ros.analysis.compare import compare
from robodyn_ros.analysis.compare_report import export_comparison, text_comparison
from robodyn_ros.cli.effort import add_recording, read_in_si_units
from robodyn_ros.cli.output import add_json, out_folder, progress_bar, result_file, show
from robodyn_ros.cli.page import with_page
from robodyn_ros.errors import ConfigError, IdentificationError, RecordingError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.files.result_folder import MODEL
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.recording.readers import recording_format
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
    _check_order(arguments.result, arguments.recording)
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
            facts = with_page(arguments, facts, text, name='comparison', title=title)
    lines = [text, *(f'{kind:<16} {path}' for kind, path in facts['files'].items())]
    show(arguments, facts, '\n'.join(lines))
    return 0


def _check_order(result: str, recording: str) -> None:
    """Refuse a result in place of the recording, and a recording in place of the result.

    :raises ConfigError: the arguments are exchanged
    """
    order = 'the result comes first, then the recording'
    if named := _result_in(recording):
        raise ConfigError(
            f'{order}: {recording} {named}; did you mean `robodyn compare {recording} {result}`?'
        )
    if kind := _format_of(result):
        raise ConfigError(
            f'{order}: {result} is a recording ({kind}), not a result file of `robodyn identify`'
        )


def _result_in(path: str) -> str:
    """Return the reason why a path is a result and no recording; '' for a recording."""
    if Path(path).suffix.lower() in ('.yaml', '.yml'):
        return 'is a YAML file'
    is_result = (Path(path) / MODEL).is_file() and not _format_of(path)
    return f'is a folder with {MODEL}' if is_result else ''


def _format_of(path: str) -> str:
    """Return the format of a recording, or '' if the path is none."""
    try:
        return recording_format(path)
    except RecordingError:
        return ''
