# SPDX-License-Identifier: Apache-2.0
"""`robodyn bodywise`: mass and principal inertias of single bodies, from wrenches."""

from __future__ import annotations

import argparse
import math
import textwrap
from collections.abc import Sequence

from robodyn_ros.analysis.bodywise import AXES, INERTIAS, BodyEstimate, identify_bodies
from robodyn_ros.analysis.bodywise_file import WRENCH_AXES, read_bodies
from robodyn_ros.cli.output import add_json, show
from robodyn_ros.findings import Finding
from robodyn_ros.models.serial.urdf import GRAVITY


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Identify mass and principal moments of inertia of each body from the forces '
        'and moments at all its hinges, known from a simulation or from sensors. '
        'docs/reference/bodywise.md describes the columns of the file.'
    )
    parser.add_argument(
        'file', help='CSV: body, t, attitude (qw qx qy qz), motion, and a wrench per hinge'
    )
    parser.add_argument(
        '--gravity',
        nargs=3,
        type=float,
        default=GRAVITY,
        metavar=('X', 'Y', 'Z'),
        help='gravity in world axes, in m/s^2 (default: 0 0 -9.81)',
    )
    parser.add_argument(
        '--wrench-axes',
        choices=WRENCH_AXES,
        default='world',
        help='axes in which forces and moments are given (default: %(default)s)',
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Identify the bodies and print them."""
    motions = read_bodies(
        arguments.file, gravity=arguments.gravity, wrench_axes=arguments.wrench_axes
    )
    estimates, findings = identify_bodies(motions)
    facts = {'bodies': [estimate.to_json() for estimate in estimates], 'findings': findings}
    show(arguments, facts, table(estimates, findings))
    return 0


def table(estimates: Sequence[BodyEstimate], findings: Sequence[Finding]) -> str:
    """Return one block of text per body, and the findings."""
    lines = []
    for estimate in estimates:
        lines += [
            f'body {estimate.name}, {estimate.samples} samples; unexplained: '
            f'{100.0 * estimate.force_residual:.2g} % of the forces, '
            f'{100.0 * estimate.moment_residual:.2g} % of the moments',
            _row('mass', 'kg', estimate.mass, estimate.mass_stddev),
            f'        {_directions(estimate)}',
        ]
        values = zip(INERTIAS, estimate.inertia, estimate.inertia_stddev, strict=True)
        lines += [_row(name, 'kg m^2', value, spread) for name, value, spread in values]
        lines.append('')
    for finding in findings:
        lines += textwrap.wrap(finding.line, 100, subsequent_indent='  ')
    return '\n'.join(lines if findings else [*lines, 'no findings'])


def _directions(estimate: BodyEstimate) -> str:
    cells = ('-' if math.isnan(value) else f'{value:.8g}' for value in estimate.directions)
    return ', '.join(f'{axis}: {cell}' for axis, cell in zip(AXES, cells, strict=True))


def _row(name: str, unit: str, value: float, spread: float) -> str:
    if math.isnan(value):
        return f'  {name:<5} not identifiable'
    return f'  {name:<5} {value:>14.8g} {unit:<7} std. dev. {spread:.2g}'
