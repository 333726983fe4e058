# SPDX-License-Identifier: Apache-2.0
"""Robot of a command line: robot file, URDF, or description of the model."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from robodyn_ros.errors import ConfigError
from robodyn_ros.excitation.limits.doubts import find_doubts
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.options import Setting
from robodyn_ros.excitation.robot_frame import model_limits
from robodyn_ros.models.catalog import load_model, robot_model
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.urdf import GRAVITY, rigid_part
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.paths import resource
from robodyn_ros.robot_file import RobotFile, load_robot
from robodyn_ros.schema import Vector, convert
from robodyn_ros.xacro_file import urdf_file

OF_URDF = ('friction', 'gravity', 'no-rotor-inertia')


def add_robot_file(group: argparse._ArgumentGroup) -> None:
    """Add `--robot`."""
    group.add_argument(
        '--robot',
        metavar='NAME|FILE',
        help='robot of this package, or robot file, optionally followed by #VARIANT; gives model, '
        'URDF and limits, unless other options do',
    )


def take_robot_file(arguments: argparse.Namespace) -> None:
    """Set what the file of --robot says about model and limits, where it is not given.

    :raises ConfigError: there is no such robot, or its file cannot be used
    """
    if arguments.robot is None:
        return
    robot = load_robot(arguments.robot)
    if 'model' in robot.content and arguments.urdf is None and arguments.model is None:
        arguments.model = robot.reference
    arguments.urdf = arguments.urdf or urdf_file(robot.urdf) or None
    if arguments.model is None:
        _take_parameters(arguments, robot)
    for limits in ('limits', 'joint_limits'):  # names in `excite` and `identify`
        if 'limits' in robot.content and getattr(arguments, limits, '') is None:
            setattr(arguments, limits, robot.reference)


def check_named(arguments: argparse.Namespace) -> None:
    """Refuse a command line without URDF and model, also of the file of --robot.

    :raises ConfigError: there is neither
    """
    if arguments.urdf is None and arguments.model is None:
        if arguments.robot is not None:
            raise ConfigError(
                f'the robot file of {arguments.robot} has no URDF, its nodes take one of topic '
                'robot_description: add --urdf FILE'
            )
        raise ConfigError('name the robot: --robot NAME|FILE, --urdf FILE or --model YAML')


@dataclass(frozen=True)
class _Parameters:
    """Parameters of nodes that a command takes from a robot file."""

    joints: list[str] | None = None
    gravity: Vector | None = None


def _take_parameters(arguments: argparse.Namespace, robot: RobotFile) -> None:
    """Set --joints and --gravity as the nodes of the robot file have them, where not given."""
    identification = robot.content.get('identification', {})
    moves = not hasattr(arguments, 'joint_limits')
    section = robot.content.get('excitation', {}) if moves else identification
    content = {'joints': section.get('joints'), 'gravity': identification.get('gravity')}
    given = convert(content, _Parameters, robot.reference, ConfigError)
    if given.joints and getattr(arguments, 'joints', '') is None:
        arguments.joints = ','.join(given.joints)
    if given.gravity is not None and getattr(arguments, 'gravity', '') is None:
        arguments.gravity = [*given.gravity]


def add_urdf_options(group: argparse._ArgumentGroup, friction: Sequence[str]) -> None:
    """Add the options of `--urdf`."""
    group.add_argument(
        '--friction',
        metavar='TERM,TERM,...',
        help='friction for --urdf: terms or laws of docs/reference/models.md, as '
        f'viscous,coulomb; or auto, a mean of laws; or none '
        f'(default: {",".join(friction) or "none"})',
    )
    group.add_argument(
        '--gravity',
        nargs=3,
        type=float,
        metavar=('X', 'Y', 'Z'),
        help="gravity in the URDF's root frame, for --urdf, in m/s^2 (default: 0 0 -9.81)",
    )
    group.add_argument(
        '--no-rotor-inertia', action='store_true', help='model without rotor inertias, for --urdf'
    )


def build_chosen(
    arguments: argparse.Namespace, friction: Sequence[str], *, dynamic_model: int | None = None
) -> DynamicModel:
    """Build the model of --model, or of --urdf with its options.

    :raises RobodynError: it cannot be built, or an option has no effect
    """
    if arguments.model is not None:
        refuse(arguments, OF_URDF, 'goes with --urdf; with --model it is in the file')
        return load_model(arguments.model, dynamic_model=dynamic_model)
    terms = list(friction) if arguments.friction is None else split(arguments.friction)
    return robot_model(
        arguments.urdf,
        joints=split(arguments.joints) or None,
        gravity=arguments.gravity or GRAVITY,
        rotor_inertia=not arguments.no_rotor_inertia,
        friction=[] if terms == ['none'] else terms,
    )


def add_robot(parser: argparse.ArgumentParser) -> None:
    """Add the options for a robot and its limits."""
    group = parser.add_argument_group('robot')
    add_robot_file(group)
    group.add_argument(
        '--urdf',
        metavar='FILE',
        help='URDF of the robot; with --model, only its limits and geometry are used',
    )
    group.add_argument(
        '--model', metavar='YAML', help='description of the model, in place of --urdf'
    )
    group.add_argument(
        '--limits',
        metavar='YAML',
        help='file in the form of joint_limits.yaml, or folder of a MoveIt configuration, also '
        'package://NAME',
    )
    group.add_argument('--joints', metavar='NAME,NAME,...', help='joints to move, for --urdf')
    add_urdf_options(group, ())


def robot(arguments: argparse.Namespace) -> tuple[DynamicModel, JointLimits]:
    """Return model and limits of the robot of a command line.

    Limits are those of the URDF, narrowed by the file of --limits. Accelerations without a limit
    get a slow default, which `arguments.assumed_limits` says; `arguments.limit_warnings` are
    doubts about the limits.

    :raises RobodynError: a file cannot be read or used
    """
    take_robot_file(arguments)
    check_named(arguments)
    if arguments.model is not None:
        refuse(arguments, ('joints',), 'goes with --urdf; with --model it is in the file')
    model = build_chosen(arguments, ())
    limits = model_limits(model)
    if arguments.model is not None and arguments.urdf is not None:
        limits = JointLimits.from_urdf(read_urdf(arguments.urdf), model.joint_names)
    if arguments.limits is not None:
        limits = load_limits(resource(arguments.limits), limits, others=_others(arguments, model))
    arguments.assumed_limits = limits.default_acceleration_note()
    arguments.limit_warnings = list(find_doubts(limits))
    return model, limits.with_default_acceleration()


def _others(arguments: argparse.Namespace, model: DynamicModel) -> tuple[str, ...]:
    """Return all joints of the URDF, of which the model may move some."""
    body = rigid_part(model)
    urdf = body.urdf if body is not None else None
    if arguments.urdf is not None and arguments.model is not None:
        urdf = read_urdf(arguments.urdf)
    return () if urdf is None else tuple(joint.name for joint in urdf.joints)


def add_option(group: argparse._ArgumentGroup, name: str, option: Setting) -> None:
    """Add an option of a design as a flag; its value is None where the flag is not given."""
    flag = f'--{name.replace("_", "-")}'
    default = '' if option.default is None else f' (default: {option.default})'
    if option.kind is bool and option.default is None:
        group.add_argument(flag, action=argparse.BooleanOptionalAction, help=option.text)
    elif option.kind is bool:
        group.add_argument(flag, action='store_true', help=option.text)
    elif option.count == 0:
        group.add_argument(
            flag, type=_list_of(option.kind), help=option.text,
            metavar=f'{option.unit},{option.unit},...',
        )  # fmt: skip
    else:
        group.add_argument(
            flag, type=option.kind, help=f'{option.text}{default}',
            nargs=None if option.count == 1 else option.count,
            choices=option.choices or None, metavar=option.unit or None,
        )  # fmt: skip


def _list_of(kind: type) -> Any:
    def values(text: str) -> list[Any]:
        return [kind(part) for part in split(text)]

    values.__name__ = 'list with commas'  # the name of the type in messages of argparse
    return values


def refuse(arguments: argparse.Namespace, options: Sequence[str], why: str) -> None:
    """Refuse options that have no effect.

    :raises ConfigError: one is given; the message names it
    """
    for option in options:
        if getattr(arguments, option.replace('-', '_')) not in (None, False):
            raise ConfigError(f'--{option} {why}')


def split(text: str | None) -> list[str]:
    """Return the parts of a list with commas; empty for None."""
    return [] if text is None else text.split(',')


def optimise_options(arguments: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return the named options of the flags, and those of the robot file that no flag gives.

    :raises ConfigError: the robot file cannot be used
    """
    of_robot: dict[str, Any] = {}
    if arguments.robot is not None:
        file = load_robot(arguments.robot)
        section = file.content.get('excitation', {}).get('optimise', {})
        of_robot = {name: section[name] for name in names if name in section}
        if of_robot.get('srdf'):
            of_robot['srdf'] = file.file(str(of_robot['srdf']))
    flags = {name: getattr(arguments, name) for name in names}
    return of_robot | {name: value for name, value in flags.items() if value is not None}
