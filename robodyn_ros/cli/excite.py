"""`robodyn excite`: design the motion that reveals a robot's parameters."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from robodyn_ros.cli.progress import Show, progress_bar
from robodyn_ros.cli.robot_model import (
    add_robot_file,
    add_urdf_options,
    chosen_model,
    refuse,
    split,
    take_robot_file,
)
from robodyn_ros.errors import ConfigError
from robodyn_ros.excitation.design.optimize import Cancel, Progress
from robodyn_ros.excitation.design.problem import Design
from robodyn_ros.excitation.export import export_motion
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.options import (
    LIMITS,
    MOTION,
    OPTIONS,
    SEARCH,
    Option,
    make_design,
    search,
)
from robodyn_ros.excitation.robot_frame import model_limits, shown_frame
from robodyn_ros.excitation.summary import present, summary, table
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.urdf_file import read_urdf

EXIT_INTERRUPTED = 130


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser(
        'excite',
        help='design the motion that reveals the parameters',
        description='Optimise a motion for identification inside every limit, and write it as '
        'trajectory.yaml (for the excitation node), trajectory.csv and pictures. Ctrl-C ends the '
        'search: the best motion so far is written, and the exit code is 130; a second Ctrl-C '
        'gives up, and nothing is written.',
    )
    add_robot(parser)
    for title, options in (('motion', MOTION), ('limits', LIMITS), ('search', SEARCH)):
        group = parser.add_argument_group(title)
        for name, option in options.items():
            add_option(group, name, option)
    output = parser.add_argument_group('output')
    output.add_argument('--out', metavar='DIR', help='folder for the files')
    output.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(run=run)


def add_robot(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which robot, and what it may do."""
    group = parser.add_argument_group('robot')
    add_robot_file(group)
    group.add_argument(
        '--urdf',
        metavar='FILE',
        help='URDF of the robot; beside --model only its limits and geometry are used',
    )
    group.add_argument(
        '--model', metavar='YAML', help='description of the model; this or --urdf is needed'
    )
    group.add_argument('--limits', metavar='YAML', help='file in the form of joint_limits.yaml')
    group.add_argument('--joints', metavar='NAME,NAME,...', help='joints to move, for --urdf')
    add_urdf_options(group, ())


def robot(arguments: argparse.Namespace) -> tuple[DynamicModel, JointLimits]:
    """Model and limits of the robot that the command line names.

    Limits are those of the URDF, narrowed by the file; accelerations that neither gives follow a
    slow rule.

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


def run(arguments: argparse.Namespace) -> int:
    """Optimise, write and print; 0 if the search came to its end, 130 if Ctrl-C ended it.

    :raises RobodynError: a file cannot be read or written, or no such motion is possible
    """
    values = {
        name: getattr(arguments, name) for name in OPTIONS if getattr(arguments, name) is not None
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', UserWarning)
        model, limits = robot(arguments)
        design = make_design(values, model, limits, urdf=arguments.urdf or '')
    for warning in caught:
        print(f'warning: {warning.message}', file=sys.stderr)
    with _interruptible() as cancel, progress_bar(28, 'searching') as show:
        result = search(design, values, progress=_told(show, design), cancel=cancel)
    facts = {**summary(result, design), 'interrupted': cancel()}
    if arguments.out is not None:
        points = shown_frame(model, arguments.frames or ())
        facts['files'] = export_motion(
            result.trajectory, arguments.out, limits=design.limits, points=points
        )
    print(json.dumps(facts, indent=2, allow_nan=False) if arguments.json else table(facts))
    return EXIT_INTERRUPTED if facts['interrupted'] else 0


def add_option(group: argparse._ArgumentGroup, name: str, option: Option) -> None:
    """Add an option of a design as a flag; without default where nothing is given."""
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

    values.__name__ = 'list with commas'  # argparse names it when a value is none
    return values


@contextmanager
def _interruptible() -> Iterator[Cancel]:
    """Take the first Ctrl-C as a wish to end the search; the second one ends the command."""
    pressed: list[int] = []

    def on_signal(number: int, frame: object) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)
        print('\nending with the best motion so far', file=sys.stderr)

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def _told(show: Show | None, design: Design) -> Progress | None:
    """Show the criterion as people know it."""
    if show is None:
        return None

    def progress(share: float, value: float) -> None:
        name, figure = present(design.criterion.name, value)
        show(f'{name.replace("_", " ")} {figure:.4g}', share)

    return progress
