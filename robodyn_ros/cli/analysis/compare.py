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
from robodyn_ros.errors import ConfigError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.options import IdentifyOptions


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
    files: dict[str, str] = (
        {} if arguments.out is None else export_comparison(comparison, arguments.out)
    )
    facts: dict[str, Any] = comparison.to_json() | {'files': files}
    text = text_comparison(comparison)
    if arguments.out is not None:
        title = 'CAD against identified model'
        facts = with_page(arguments, facts, text, name='comparison', title=title)
    lines = [text, *(f'{kind:<16} {path}' for kind, path in facts['files'].items())]
    show(arguments, facts, '\n'.join(lines))
    return 0


def _check_order(result: str, recording: str) -> None:
    """Refuse a result in place of the recording.

    :raises ConfigError: the recording is a YAML file
    """
    if Path(recording).suffix.lower() in ('.yaml', '.yml'):
        raise ConfigError(
            f'the result comes first, then the recording: {recording} is a YAML file; did you '
            f'mean `robodyn compare {recording} {result}`?'
        )
