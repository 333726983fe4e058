"""The robot on a command line: its URDF or the description of its model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from robodyn_ros.errors import ConfigError
from robodyn_ros.models.catalog import load_model, robot_model
from robodyn_ros.models.friction_terms import LAWS, TERMS
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.urdf import GRAVITY
from robodyn_ros.robot_file import load_robot

OF_URDF = ('friction', 'gravity', 'no-rotor-inertia')


def add_robot_file(group: argparse._ArgumentGroup) -> None:
    """Add `--robot`."""
    group.add_argument(
        '--robot',
        metavar='NAME|FILE',
        help='robot of this package or robot file, #VARIANT behind it or not: model, URDF and '
        'limits that the other options do not give',
    )


def take_robot_file(arguments: argparse.Namespace) -> None:
    """Fill in --model, --urdf and the limits from the file of --robot, where not given.

    :raises ConfigError: there is no such robot, or its file cannot be used
    """
    if arguments.robot is None:
        return
    robot = load_robot(arguments.robot)
    if 'model' in robot.content and arguments.urdf is None and arguments.model is None:
        arguments.model = robot.reference
    arguments.urdf = arguments.urdf or robot.urdf or None
    for limits in ('limits', 'joint_limits'):  # as `excite` and as `identify` call the option
        if 'limits' in robot.content and getattr(arguments, limits, '') is None:
            setattr(arguments, limits, robot.reference)


def add_urdf_options(group: argparse._ArgumentGroup, friction: Sequence[str]) -> None:
    """Add the options that go with `--urdf`.

    :param friction: default of --friction
    """
    group.add_argument(
        '--friction',
        metavar='TERM,TERM,...',
        help=f'friction for --urdf: terms of {", ".join(TERMS)}; or laws, which are sets of them: '
        f'{", ".join(LAWS)}; or auto, the law that cross-validation favours; or none '
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
        '--no-rotor-inertia', action='store_true', help='no rotor inertias, for --urdf'
    )


def chosen_model(
    arguments: argparse.Namespace, friction: Sequence[str], *, dynamic_model: int | None = None
) -> DynamicModel:
    """Build the model of --model, or of --urdf with the options that go with it.

    :param friction: where --friction is not given
    :raises RobodynError: it cannot be built, or an option would be without effect
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


def refuse(arguments: argparse.Namespace, options: Sequence[str], why: str) -> None:
    """Refuse options that would be without effect.

    :raises ConfigError: naming the first one that is given
    """
    for option in options:
        if getattr(arguments, option.replace('-', '_')) not in (None, False):
            raise ConfigError(f'--{option} {why}')


def split(text: str | None) -> list[str]:
    """Parts of a list with commas; none where there is no text."""
    return [] if text is None else text.split(',')
