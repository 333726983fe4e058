# SPDX-License-Identifier: Apache-2.0
"""`robodyn demo`: complete demonstration on the simulated cell, with real nodes."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Start a simulated robot cell and the nodes of the suite, identify the robot, '
        'apply feed-forward, detect collisions, and print a table. '
        'Exit code 0 only if every figure is reached.'
    )
    parser.add_argument(
        '--robot',
        default='six_axis',
        metavar='NAME|FILE',
        help='robot of this package, or robot file with a section demo (default: %(default)s)',
    )
    parser.add_argument(
        '--out', type=Path, default=Path('demo_output'), help='folder for recordings and results'
    )
    parser.add_argument(
        '--short',
        action='store_true',
        help='check every step with motions of a few seconds, one push and wider limits',
    )
    parser.add_argument(
        '--watch', action='store_true', help='serve the live page of `robodyn watch` meanwhile'
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the demonstration."""
    from robodyn_ros.cli.demo.story import run_demo

    return run_demo(
        robot=arguments.robot, out=arguments.out, short=arguments.short, watch=arguments.watch
    )
