# SPDX-License-Identifier: Apache-2.0
"""`robodyn identify`: from a recording to an identified model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from robodyn_ros.cli.effort import RECORDING, add_source, joint_names, read_in_si_units
from robodyn_ros.cli.identify_options import add_options, read_options
from robodyn_ros.cli.output import out_folder, progress_bar, result_file
from robodyn_ros.cli.robot_model import (
    OF_URDF,
    add_robot_file,
    add_urdf_options,
    build_chosen,
    check_named,
    refuse,
    take_robot_file,
)
from robodyn_ros.errors import ConfigError
from robodyn_ros.identification.diagnosis.position_limits import position_limits
from robodyn_ros.identification.files.base_result import load_base
from robodyn_ros.identification.files.next_steps import format_result
from robodyn_ros.identification.files.result_folder import ResultFolder
from robodyn_ros.identification.options import (
    LEAVE_ONE_OUT,
    IdentifyOptions,
    LeaveOneOut,
)
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.facts import json_facts
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.long_work import track
from robodyn_ros.models.friction_terms import AUTO
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.payload import PayloadModel
from robodyn_ros.models.serial.urdf_file import UrdfFile, read_urdf
from robodyn_ros.output_files import json_text
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import split_motion
from robodyn_ros.report.coverage import list_limits
from robodyn_ros.report.write import export_with_page

OF_MODEL = ('dynamic-model', *OF_URDF)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Identify the dynamic parameters of a robot from a recording of its motion '
        '(rosbag2 or a table). Exit code 0 if every joint that moved can be used, 1 if not, '
        '2 if the input cannot be read. With '
        "--payload the arm's parameters stay as --base has them, and only what the robot carries "
        'in the recording is identified.'
    )
    parser.add_argument(
        'recording',
        nargs='+',
        help=f'{RECORDING}; several are fitted together',
    )
    add_model(parser)
    _add_recording(parser)
    add_options(parser.add_argument_group('fit'))
    _add_payload(parser)
    output = parser.add_argument_group('output')
    output.add_argument(
        '--out',
        type=out_folder,
        metavar='DIR',
        help='write result.yaml, report.html, result.json, robot.urdf, robot.xml to this folder',
    )
    output.add_argument(
        '--no-report', dest='report', action='store_false', help='write no report.html'
    )
    output.add_argument('--json', action='store_true', help='print one JSON object')
    output.add_argument(
        '--verbose', action='store_true', help='print all parameters and findings in full'
    )
    output.add_argument(
        '--force-export',
        action='store_true',
        help='write result.yaml also where nothing of it can be used',
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the options of the model and its limits."""
    group = parser.add_argument_group('model')
    add_robot_file(group)
    group.add_argument(
        '--urdf',
        metavar='FILE',
        help='URDF of the robot; beside --model only its position limits are used',
    )
    group.add_argument(
        '--model',
        metavar='YAML',
        help='description of the model; this or --urdf is needed, with --payload neither',
    )
    group.add_argument(
        '--joint-limits',
        metavar='FILE',
        help="joint limits in the form of MoveIt's joint_limits.yaml: positions for the "
        'diagnosis, all for the report; they narrow those of the URDF',
    )
    group.add_argument(
        '--dynamic-model',
        type=int,
        metavar='NUMBER',
        help='dynamic model, in place of the one in --model',
    )
    group.add_argument(
        '--joints',
        metavar='NAME,NAME,...',
        help='joints to use, in this order; columns of tables without names are '
        'taken to be these (default: the moving joints of the model)',
    )
    add_urdf_options(group, (AUTO,))


def _add_recording(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('recording')
    checked = group.add_mutually_exclusive_group()
    checked.add_argument(
        '--validate',
        metavar='RECORDING',
        help=f'test on another recording; {LEAVE_ONE_OUT}: test each recording with the '
        'parameters of all others',
    )
    checked.add_argument(
        '--split',
        type=float,
        metavar='FRACTION',
        help='identify from this share of the recording, test on the rest',
    )
    add_source(group)


def _add_payload(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('payload')
    group.add_argument(
        '--payload', action='store_true', help='identify only the payload, on top of --base'
    )
    group.add_argument(
        '--base',
        type=result_file,
        metavar='RESULT',
        help='result file, or its folder, of a run without payload',
    )
    group.add_argument(
        '--frame',
        metavar='LINK',
        help='link of the URDF in whose frame the payload is described (default: the last)',
    )


def run(arguments: argparse.Namespace) -> int:
    """Identify, print and write what was asked for; 0 if every joint that moved can be used."""
    if arguments.out is not None:
        ResultFolder(Path(arguments.out))  # it refuses another's files before all the work
    take_robot_file(arguments)
    model, base = _load_model_and_base(arguments)
    limits = list_limits(model, urdf_beside(arguments, model), arguments.joint_limits)
    options = _options(arguments, model)
    with progress_bar():
        recordings, validation = _recordings(arguments, model)
        if base is not None:
            model = PayloadModel(arm=base.model, frame=arguments.frame or '')
        result = identify(
            recordings,
            model,
            known=base,
            options=options,
            validation=validation,
        )
    files = None
    if arguments.out is not None:
        files = export_with_page(
            result,
            arguments.out,
            command=arguments.command_line,
            robot=arguments.robot or '',
            limits=limits,
            export_failed=arguments.force_export,
            page=arguments.report,
            driven=validation if isinstance(validation, Recording) else recordings[0],
        )
        for note in files.notes:
            print(f'note: {note}', file=sys.stderr)
    if arguments.json:
        facts = json_facts(result) | ({} if files is None else files.to_json())
        print(json_text(facts))
    else:
        print(format_result(result, files, verbose=arguments.verbose))
    return int(not result.success)


def _options(arguments: argparse.Namespace, model: DynamicModel) -> IdentifyOptions:
    given = read_options(arguments)
    limits = position_limits(model, urdf_beside(arguments, model), arguments.joint_limits)
    keep = given.pop('keep_signals', True) and arguments.out is not None
    return IdentifyOptions(**given, position_limits=limits, keep_signals=keep)


def urdf_beside(arguments: argparse.Namespace, model: DynamicModel) -> UrdfFile | None:
    """Return the URDF beside a model file, which has the position limits; None: there is none."""
    if arguments.urdf is None or arguments.model is None:
        return None
    urdf = read_urdf(arguments.urdf)
    known = [joint.name for joint in urdf.joints]
    for name in model.joint_names:
        if name not in known:
            raise ConfigError(f'{urdf.source} has no joint {name!r}, the model has')
    return urdf


def _load_model_and_base(
    arguments: argparse.Namespace,
) -> tuple[DynamicModel, IdentifiedModel | None]:
    """Return the model, with --payload the arm and its values; its model if none is named."""
    named = arguments.urdf is not None or arguments.model is not None
    if not arguments.payload:
        for option in ('base', 'frame'):
            if getattr(arguments, option) is not None:
                raise ConfigError(f'--{option} goes with --payload')
        check_named(arguments)
        return model_of(arguments), None
    if arguments.gear_torque is not None:
        raise ConfigError('--residual is for the arm, not for --payload')
    model = model_of(arguments) if named else None
    if model is None:
        refuse(arguments, OF_MODEL, 'goes with --urdf or --model; that of --base is as it was')
    else:
        PayloadModel(arm=model, frame=arguments.frame or '')  # says first what it cannot carry
    if not arguments.base:
        raise ConfigError('--payload needs --base: name the result file of a run without payload')
    base = load_base(arguments.base, model)
    return base.model, base


def model_of(arguments: argparse.Namespace) -> DynamicModel:
    """Return the model of the options, with friction that is a mean of laws."""
    if arguments.model is None and arguments.dynamic_model is not None:
        raise ConfigError('--dynamic-model goes with --model; a URDF has only one')
    return build_chosen(arguments, (AUTO,), dynamic_model=arguments.dynamic_model)


def _recordings(
    arguments: argparse.Namespace, model: DynamicModel
) -> tuple[list[Recording], Recording | LeaveOneOut | None]:
    joints = joint_names(arguments, model)

    def read(path: str) -> Recording:
        return read_in_si_units(arguments, path, joints, model)

    if arguments.split is not None:
        if len(arguments.recording) > 1:
            raise ConfigError('--split goes with one recording; use --validate leave-one-out')
        first, rest = split_motion(read(arguments.recording[0]), arguments.split)
        return [first], rest
    recordings = [read(path) for path in track(arguments.recording)]
    if arguments.validate in (None, LEAVE_ONE_OUT):
        return recordings, arguments.validate
    return recordings, read(arguments.validate)
