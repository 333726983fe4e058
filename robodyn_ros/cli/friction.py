"""`robodyn friction`: friction over velocity from the bidirectional experiment."""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn_ros.analysis.friction_curve import FrictionCurve, friction_curves
from robodyn_ros.cli.effort import add_source, declared_effort
from robodyn_ros.control.effort.recorded import in_si_units
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.parameter_text import write_bytes, write_text
from robodyn_ros.models.friction_terms import LAWS
from robodyn_ros.output_files import made_folder
from robodyn_ros.recording.readers import read_recording

DEFAULT_LAW = 'smooth'


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser(
        'friction',
        help='friction over velocity from the bidirectional experiment',
        description='Measure friction from a recording of the motion "bidirectional": half the '
        'difference of the torques of passes forth and back over the same positions.',
    )
    parser.add_argument('recording', help='rosbag2 folder, .mcap, .db3, .csv, .npz or .mat')
    parser.add_argument('--joints', metavar='NAME,NAME,...', help='joints to use (default: all)')
    add_source(parser)
    parser.add_argument(
        '--law',
        choices=[law for law in LAWS if law != 'bidirectional' and 'asymmetric' not in law],
        default=DEFAULT_LAW,
        help='law to fit to the points (default: %(default)s)',
    )
    parser.add_argument('--out', metavar='DIR', help='folder for friction.csv and friction.png')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, print and write what was asked for.

    :raises RobodynError: a file cannot be read or written, or no friction can be measured
    """
    joints = None if arguments.joints is None else arguments.joints.split(',')
    recording = read_recording(
        arguments.recording, columns=arguments.columns, topic=arguments.topic, joints=joints
    )
    recording = in_si_units(
        recording, arguments.recording, declared_effort(arguments), columns=arguments.columns
    )
    curves = friction_curves(recording)
    fits = [curve.fit(arguments.law) for curve in curves]
    if arguments.out is not None:
        folder = made_folder(arguments.out, IdentificationError)
        write_text(_table(curves, ','), folder / 'friction.csv')
        write_bytes(_picture(curves, [rest for _, rest in fits]), folder / 'friction.png')
    if arguments.json:
        facts = {
            curve.joint: {
                'speed': curve.speed.tolist(),
                'friction': curve.friction.tolist(),
                'spread': curve.spread.tolist(),
                arguments.law: values,
            }
            for curve, (values, _) in zip(curves, fits, strict=True)
        }
        print(json.dumps(facts, indent=2, allow_nan=False))
        return 0
    print(_table(curves, '  '), end='')
    for curve, (values, rest) in zip(curves, fits, strict=True):
        terms = ', '.join(f'{name} {value:.4g}' for name, value in values.items())
        print(f'{curve.joint}: {arguments.law}: {terms}; off by {np.abs(rest).max():.3g} at most')
    return 0


def _table(curves: Sequence[FrictionCurve], between: str) -> str:
    lines = [between.join(('joint', 'speed', 'friction', 'spread'))]
    for curve in curves:
        for row in zip(curve.speed, curve.friction, curve.spread, strict=True):
            lines.append(between.join((curve.joint, *(f'{value:.6g}' for value in row))))
    return '\n'.join(lines) + '\n'


def _picture(curves: Sequence[FrictionCurve], rests: Sequence[np.ndarray]) -> bytes:
    """Points with their spread, and the law through them, of every joint."""
    from matplotlib.figure import Figure  # slow to load

    figure = Figure(figsize=(4.0 * len(curves), 3.5), layout='constrained')
    for place, (curve, rest) in enumerate(zip(curves, rests, strict=True), start=1):
        axes = figure.add_subplot(1, len(curves), place)
        axes.errorbar(curve.speed, curve.friction, curve.spread, fmt='o', label='measured')
        axes.plot(curve.speed, curve.friction - rest, label='law')
        axes.set(title=curve.joint, xlabel='speed [rad/s or m/s]', ylabel='friction [Nm or N]')
        axes.legend()
    content = io.BytesIO()
    figure.savefig(content, dpi=110, format='png')
    return content.getvalue()
