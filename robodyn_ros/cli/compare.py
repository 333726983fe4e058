"""`robodyn compare`: a robot's CAD beside its identified model, on a recording."""

from __future__ import annotations

import argparse
import json
from typing import Any

from robodyn_ros.analysis.compare import compare
from robodyn_ros.analysis.compare_report import export_comparison, text_comparison
from robodyn_ros.cli.effort import add_source, declared_effort
from robodyn_ros.control.effort.recorded import in_si_units
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.recording.readers import read_recording


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser(
        'compare',
        help='compare a URDF from CAD with an identified model',
        description='Show the base parameters of a URDF beside those of a result, and how well '
        'the torque of each fits a recording, best one that neither has seen.',
    )
    parser.add_argument(
        '--urdf', metavar='FILE', required=True, help='URDF of the robot as designed'
    )
    parser.add_argument('result', help='result file of `robodyn identify`')
    parser.add_argument('recording', help='rosbag2 folder, .mcap, .db3, .csv, .npz or .mat')
    add_source(parser)
    parser.add_argument(
        '--filter-cutoff',
        type=float,
        metavar='HZ',
        help='low pass on position and torque (default: from the data)',
    )
    parser.add_argument('--out', metavar='DIR', help='folder for tables (CSV, JSON) and pictures')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, print and write what was asked for.

    :raises RobodynError: a file cannot be read or written, or the three do not fit together
    """
    identified = load_identified_model(arguments.result)
    declared = declared_effort(arguments)
    recording = read_recording(
        arguments.recording,
        columns=arguments.columns,
        topic=arguments.topic,
        joints=list(identified.joints),
    )
    recording = in_si_units(
        recording, arguments.recording, declared, identified.model, columns=arguments.columns
    )
    options = IdentifyOptions(filter_cutoff=arguments.filter_cutoff)
    comparison = compare(arguments.urdf, identified, recording, options=options)
    files = {} if arguments.out is None else export_comparison(comparison, arguments.out)
    if arguments.json:
        print(json.dumps(comparison.to_json() | {'files': files}, indent=2, allow_nan=False))
    else:
        print(text_comparison(comparison))
        for kind, path in files.items():
            print(f'{kind:<16} {path}')
    return 0
