"""Robot of a command line: robot file, URDF, or description of the model."""

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
        help='robot of this package, or robot file, optionally followed by #VARIANT; gives model, '
        'URDF and limits, unless other options do',
    )


def take_robot_file(arguments: argparse.Namespace) -> None:
    """Set --model, --urdf and the limits from the file of --robot, where they are not given.

    :raises ConfigError: there is no such robot, or its file cannot be used
    """
    if arguments.robot is None:
        return
    robot = load_robot(arguments.robot)
    if 'model' in robot.content and arguments.urdf is None and arguments.model is None:
        arguments.model = robot.reference
    arguments.urdf = arguments.urdf or robot.urdf or None
    for limits in ('limits', 'joint_limits'):  # names in `excite` and `identify`
        if 'limits' in robot.content and getattr(arguments, limits, '') is None:
            setattr(arguments, limits, robot.reference)


def add_urdf_options(group: argparse._ArgumentGroup, friction: Sequence[str]) -> None:
    """Add the options of `--urdf`.

    :param friction: default of --friction
    """
    group.add_argument(
        '--friction',
        metavar='TERM,TERM,...',
        help=f'friction for --urdf: terms {", ".join(TERMS)}; or laws, which are sets of terms: '
        f'{", ".join(LAWS)}; or auto, selected by cross-validation; or none '
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


def chosen_model(
    arguments: argparse.Namespace, friction: Sequence[str], *, dynamic_model: int | None = None
) -> DynamicModel:
    """Build the model of --model, or of --urdf with its options.

    :param friction: default of --friction
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
