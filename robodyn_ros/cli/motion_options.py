"""Options of the commands about motions: robot, limits, and options of a design."""

from __future__ import annotations

import argparse
from typing import Any

from robodyn_ros.cli.robot_model import (
    add_robot_file,
    add_urdf_options,
    chosen_model,
    refuse,
    split,
    take_robot_file,
)
from robodyn_ros.errors import ConfigError
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.options import Option
from robodyn_ros.excitation.robot_frame import model_limits
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.urdf_file import read_urdf


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
    group.add_argument('--limits', metavar='YAML', help='file in the form of joint_limits.yaml')
    group.add_argument('--joints', metavar='NAME,NAME,...', help='joints to move, for --urdf')
    add_urdf_options(group, ())


def robot(arguments: argparse.Namespace) -> tuple[DynamicModel, JointLimits]:
    """Return model and limits of the robot of a command line.

    Limits are those of the URDF, narrowed by the file of --limits. Accelerations without a limit
    get a slow default.

    :raises RobodynError: a file cannot be read or used
    """
    take_robot_file(arguments)
    if arguments.urdf is None and arguments.model is None:
        raise ConfigError('name the robot: --robot NAME|FILE, --urdf FILE or --model YAML')
    if arguments.model is not None:
        refuse(arguments, ('joints',), 'goes with --urdf; with --model it is in the file')
    model = chosen_model(arguments, ())
    limits = model_limits(model)
    if arguments.model is not None and arguments.urdf is not None:
        limits = JointLimits.from_urdf(read_urdf(arguments.urdf), model.joint_names)
    if arguments.limits is not None:
        limits = load_limits(arguments.limits, limits)
    return model, limits.with_default_acceleration()


def add_option(group: argparse._ArgumentGroup, name: str, option: Option) -> None:
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
