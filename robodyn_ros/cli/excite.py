# SPDX-License-Identifier: Apache-2.0
"""`robodyn excite`: design of a motion that excites all parameters of a robot."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from robodyn_ros.cli.output import EXIT_INTERRUPTED, add_json, out_folder, progress_bar, show
from robodyn_ros.cli.page import with_page
from robodyn_ros.cli.robot_model import add_option, add_robot, optimise_options, robot
from robodyn_ros.excitation.design.optimize import Cancel, Progress
from robodyn_ros.excitation.design.problem import Design
from robodyn_ros.excitation.export import export_motion, motion_files
from robodyn_ros.excitation.options import (
    LIMITS,
    MOTION,
    OPTIONS,
    SEARCH,
    make_design,
    search,
)
from robodyn_ros.excitation.robot_frame import choose_frame
from robodyn_ros.excitation.summary import convert_value, summary, table
from robodyn_ros.long_work import progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Optimise a motion for identification inside all limits, and write it as '
        'trajectory.yaml (for the excitation node), trajectory.csv and pictures. Ctrl-C ends the '
        'search: the best motion so far is written, and the exit code is 130. A second Ctrl-C '
        'ends the command, and nothing is written.'
    )
    add_robot(parser)
    for title, options in (('motion', MOTION), ('limits', LIMITS), ('search', SEARCH)):
        group = parser.add_argument_group(title)
        for name, option in options.items():
            add_option(group, name, option)
    output = parser.add_argument_group('output')
    output.add_argument('--out', type=out_folder, metavar='DIR', help='folder for the files')
    add_json(output)


def run(arguments: argparse.Namespace) -> int:
    """Optimise, write and print; 0 if the search was completed, 130 if Ctrl-C ended it."""
    values = optimise_options(arguments, OPTIONS)
    model, limits = robot(arguments)
    design = make_design(values, model, limits, urdf=arguments.urdf or '')
    with _interruptible() as cancel, progress_bar(0.0):
        progress('searching', 0.0)
        result = search(design, values, progress=_show_criterion(design), cancel=cancel)
    facts = {**summary(result, design), 'interrupted': cancel()}
    facts['assumed_limits'] = arguments.assumed_limits
    facts['limit_warnings'] = arguments.limit_warnings
    if arguments.out is not None:
        points = choose_frame(model, values.get('frames') or ())
        title = 'Designed motion'
        with motion_files(arguments.out):
            facts['files'] = export_motion(
                result.trajectory, arguments.out, limits=design.limits, points=points
            )
            facts = with_page(arguments, facts, table(facts), name='motion', title=title)
    show(arguments, facts, table(facts))
    return EXIT_INTERRUPTED if facts['interrupted'] else 0


@contextmanager
def _interruptible() -> Iterator[Cancel]:
    """End the search at the first Ctrl-C, and the command at the second one."""
    pressed: list[int] = []

    def on_signal(number: int, frame: object) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)
        start = '\n' if sys.stderr.isatty() else ''  # after ^C
        print(f'{start}ending with the best motion so far', file=sys.stderr)

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def _show_criterion(design: Design) -> Progress:
    """Return a function that shows the criterion in the unit of the report."""

    def show(share: float, value: float) -> None:
        name, figure = convert_value(design.criterion.name, value)
        progress(f'{name.replace("_", " ")} {figure:.4g}', share)

    return show
