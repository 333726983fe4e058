# SPDX-License-Identifier: Apache-2.0
"""`robodyn prg`: import of a softMC result file (.PRG)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from robodyn_ros.cli.output import out_file
from robodyn_ros.identification.files.prg_import import read_prg, write_imported
from robodyn_ros.models.catalog import load_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Read the parameters of a model from a softMC result file (IDNT<n>.PRG), and '
        'write a result file for the feed-forward and collision_monitor nodes.'
    )
    parser.add_argument('file', help='the .PRG file')
    parser.add_argument('--model', metavar='YAML', required=True, help='description of the model')
    parser.add_argument(
        '--out',
        type=out_file,
        metavar='FILE',
        required=True,
        help='result file to write, such as result.yaml',
    )
    parser.add_argument(
        '--robot',
        metavar='NAME',
        default='',
        help='name of the robot in softMC (default: PUMA, SCARA, DELTA; A1 for an axis)',
    )
    parser.add_argument(
        '--force', action='store_true', help='import the result of a failed identification'
    )


def run(arguments: argparse.Namespace) -> int:
    """Import the file; 0 if the result file is written."""
    model = load_model(arguments.model)
    prg = read_prg(
        arguments.file,
        model,
        robot=arguments.robot,
        force=arguments.force,
    )
    for note in prg.notes:
        print(f'note: {note}', file=sys.stderr)
    source = str(Path(arguments.file).absolute())
    write_imported(prg, arguments.out, source=source)
    print(f'{len(prg.values)} parameters written to {arguments.out}')
    return 0
