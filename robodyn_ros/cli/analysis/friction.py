# SPDX-License-Identifier: Apache-2.0
"""`robodyn friction`: friction of each joint in a recording of any motion."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from robodyn_ros.analysis.joint_friction import JointFriction, friction_of, model_of_axes
from robodyn_ros.analysis.picture import new_figure, png
from robodyn_ros.cli.effort import add_recording, joint_names, read_in_si_units
from robodyn_ros.cli.identify import add_model, model_of
from robodyn_ros.cli.output import EXIT_NEGATIVE, add_json, out_folder, progress_bar, show
from robodyn_ros.cli.page import with_page
from robodyn_ros.cli.robot_model import refuse, split, take_robot_file
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.result_file import write_bytes, write_text
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.facts import json_facts
from robodyn_ros.models.friction_terms import AUTO
from robodyn_ros.report.friction import friction_curves
from robodyn_ros.report.numbers import share, short
from robodyn_ros.report.source import source_of
from robodyn_ros.runs.file_set import file_set


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Identify the friction of each joint from a recording of any motion: its law, the values '
        'with intervals of 95 %, and its share of the torque. Without a model, a joint has to '
        'move while the others are at rest, as in the motion "bidirectional", or to turn about a '
        'vertical axis. The exit code is 1 if a joint that moved is not usable.'
    )
    add_recording(parser)
    add_model(parser)
    parser.add_argument(
        '--out', type=out_folder, metavar='DIR', help='folder for friction.html, .csv and .png'
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Identify, print, and write the files of --out; 1 if a joint that moved is not usable."""
    take_robot_file(arguments)
    named = arguments.urdf is not None or arguments.model is not None
    model = model_of(arguments) if named else None
    if model is None:
        refuse(arguments, ('gravity', 'no-rotor-inertia', 'dynamic-model'), 'needs a model')
    with progress_bar():
        joints = joint_names(arguments, model)
        recording = read_in_si_units(arguments, arguments.recording, joints, model)
        if model is None:
            law = split(arguments.friction) or [AUTO]
            model = model_of_axes(recording.joints, law)
        result = identify(recording, model, options=IdentifyOptions(keep_signals=True))
        joints_with_friction = friction_of(result)
    facts: dict[str, Any] = {
        'friction': {each.joint: asdict(each) for each in joints_with_friction},
        'findings': [item.line for item in result.findings],
    }
    errors = [item.line for item in result.findings if item.severity == 'error']
    text = '\n'.join([*_lines(joints_with_friction), *errors])
    if arguments.out is not None:
        source = source_of(result, json_facts(result))
        assert source.model and source.signals and source.values is not None
        slow = [float(each) for each in result.identification.velocity_threshold]
        curves = friction_curves(source.model, source.values, source.signals, slow)
        names = {'picture': 'friction.png', 'table': 'friction.csv'}
        facts['files'] = {kind: str(Path(arguments.out, name)) for kind, name in names.items()}
        with file_set(arguments.out, IdentificationError) as partial:
            write_text(_table(curves), partial / names['table'])
            write_bytes(png(_picture(curves)), partial / names['picture'])
            page = {'friction': _rows(joints_with_friction), 'files': facts['files']}
            with_page(arguments, page, text, name='friction', title='Friction of the joints')
    show(arguments, facts, text)
    return 0 if result.success else EXIT_NEGATIVE


def _lines(joints: Sequence[JointFriction]) -> list[str]:
    """Return a line per joint and one per value."""
    width = max(5, *(len(each.joint) for each in joints))
    lines = [f'{"joint":<{width}}  {"friction":>8}  {"error":>8}  use']
    for each in joints:
        shares = f'{share(each.share):>8}  {share(each.error):>8}'
        lines.append(f'{each.joint:<{width}}  {shares}  {each.verdict}')
        for item in each.values:
            ends = f'{short(item.lower)} to {short(item.upper)}'
            lines.append(f'  {item.name:<24} {short(item.value):>9} {item.unit}, {ends}')
        lines += [f'  {name:<24} {short(value):>9}' for name, value in each.shape.items()]
    return lines


def _rows(joints: Sequence[JointFriction]) -> list[dict[str, Any]]:
    """Return the table of the page, a row per value."""
    return [
        {'joint': each.joint, 'share of the torque': share(each.share), **asdict(item)}
        for each in joints
        for item in each.values
    ]


def _table(curves: Sequence[Mapping[str, Any]]) -> str:
    """Return the law of each joint over the velocity as CSV."""
    lines = ['joint,speed,friction']
    for curve in curves:
        for speed, law in zip(curve['grid'], curve['law'], strict=True):
            lines.append(f'{curve["name"]},{speed:.6g},{law:.6g}')
    return '\n'.join(lines) + '\n'


def _picture(curves: Sequence[Mapping[str, Any]]) -> Any:
    """Draw the law and the torque that the other parts of the model leave, for each joint."""
    figure = new_figure(4.0 * max(len(curves), 1), 3.5)
    plots = figure.subplots(1, max(len(curves), 1), squeeze=False)[0]
    for axes, curve in zip(plots, curves, strict=False):
        axes.plot(curve['speed'], curve['torque'], '.', markersize=3, label='measured')
        axes.plot(curve['grid'], curve['law'], label='law')
        axes.set(
            title=curve['name'], xlabel=f'speed [{curve["speed_unit"]}]',
            ylabel=f'friction [{curve["unit"]}]',
        )  # fmt: skip
        axes.legend()
    return figure
