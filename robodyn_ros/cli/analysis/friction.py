# SPDX-License-Identifier: Apache-2.0
"""`robodyn friction`: friction over velocity from the bidirectional experiment."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.analysis.friction_curve import FrictionCurve, friction_curves
from robodyn_ros.analysis.picture import new_figure, png
from robodyn_ros.cli.effort import add_recording, joint_names, read_in_si_units
from robodyn_ros.cli.output import add_json, out_folder, progress_bar, show
from robodyn_ros.cli.page import with_page
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.parameter_text import write_bytes, write_text
from robodyn_ros.long_work import track
from robodyn_ros.models.friction_terms import LAWS
from robodyn_ros.runs.file_set import file_set


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Measure friction from a recording of the motion "bidirectional". Friction '
        'is half the difference of the torques of passes forth and back over the same positions.'
    )
    add_recording(parser)
    parser.add_argument('--joints', metavar='NAME,NAME,...', help='joints to use (default: all)')
    parser.add_argument(
        '--law',
        choices=list(LAWS),
        default='smooth',
        help='law to fit to the points, the mean of both directions (default: %(default)s)',
    )
    parser.add_argument(
        '--out', type=out_folder, metavar='DIR', help='folder for friction.html, .csv and .png'
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, and write the files of --out."""
    with progress_bar():
        curves = friction_curves(
            read_in_si_units(arguments, arguments.recording, joint_names(arguments))
        )
        fits = [curve.fit(arguments.law) for curve in track(curves, 'fitting')]
    facts: dict[str, Any] = {}
    lines = [_table(curves, '  ').rstrip()]
    for curve, (values, residual) in zip(curves, fits, strict=True):
        terms = ', '.join(f'{name} {value:.4g}' for name, value in values.items())
        largest = np.abs(residual).max()
        lines.append(f'{curve.joint}: {arguments.law}: {terms}; largest error {largest:.3g}')
        facts[curve.joint] = {
            'speed': curve.speed,
            'friction': curve.friction,
            'spread': curve.spread,
            arguments.law: values,
        }
    text = '\n'.join(lines)
    if arguments.out is not None:
        named = {'picture': 'friction.png', 'table': 'friction.csv'}
        files = {kind: str(Path(arguments.out, name)) for kind, name in named.items()}
        title = 'Friction over velocity'
        shown = {**_tabulate(curves, fits, arguments.law), 'files': files}
        with file_set(arguments.out, IdentificationError) as partial:
            write_text(_table(curves, ','), partial / named['table'])
            picture = _picture(curves, [residual for _, residual in fits])
            write_bytes(png(picture), partial / named['picture'])
            with_page(arguments, shown, text, name='friction', title=title)
    show(arguments, facts, text)
    return 0


def _tabulate(curves: Sequence[FrictionCurve], fits: Sequence[Any], law: str) -> dict[str, Any]:
    """Return the tables of the page: measured points, and the fitted laws."""
    points = [
        {'joint': curve.joint, 'speed': speed, 'friction': friction, 'spread': spread}
        for curve in curves
        for speed, friction, spread in zip(curve.speed, curve.friction, curve.spread, strict=True)
    ]
    laws = [
        {'joint': curve.joint, 'law': law, **values, 'largest_error': np.abs(residual).max()}
        for curve, (values, residual) in zip(curves, fits, strict=True)
    ]
    return {'measured_friction': points, 'fitted_law': laws}


def _table(curves: Sequence[FrictionCurve], between: str) -> str:
    lines = [between.join(('joint', 'speed', 'friction', 'spread'))]
    for curve in curves:
        for row in zip(curve.speed, curve.friction, curve.spread, strict=True):
            lines.append(between.join((curve.joint, *(f'{value:.6g}' for value in row))))
    return '\n'.join(lines) + '\n'


def _picture(curves: Sequence[FrictionCurve], residuals: Sequence[np.ndarray]) -> Any:
    """Draw measured points with their spread, and the fitted law, for each joint."""
    figure = new_figure(4.0 * len(curves), 3.5)
    plots = figure.subplots(1, len(curves), squeeze=False)[0]
    for axes, curve, residual in zip(plots, curves, residuals, strict=True):
        axes.errorbar(curve.speed, curve.friction, curve.spread, fmt='o', label='measured')
        axes.plot(curve.speed, curve.friction - residual, label='law')
        axes.set(title=curve.joint, xlabel='speed [rad/s or m/s]', ylabel='friction [Nm or N]')
        axes.legend()
    return figure
