# SPDX-License-Identifier: Apache-2.0
"""`robodyn report`: the page of a result for a browser."""

from __future__ import annotations

import argparse

from robodyn_ros.cli.output import add_json, out_file, show
from robodyn_ros.report.write import write_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Write report.html beside a result: verdict, torque errors, findings, curves, '
        'friction, links, parameters and the recorded motion, in one file that needs no network.'
    )
    parser.add_argument('result', help='folder of a result, or its result.yaml or result.json')
    parser.add_argument(
        '--out',
        type=out_file,
        metavar='FILE',
        help='name of the page (default: report.html beside the result)',
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the page and print its name."""
    path = write_page(arguments.result, arguments.out)
    show(arguments, {'report_file': str(path)}, f'written: {path}')
    return 0
