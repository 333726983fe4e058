"""`robodyn demo`: the whole job on the simulated cell, with real nodes, judged by figures."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from robodyn_ros.errors import ConfigError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command."""
    parser = commands.add_parser(
        'demo',
        help='excite, identify, validate, feed forward and detect a push on a simulated cell',
        description='Starts the nodes of the suite and a simulated robot cell, takes the robot '
        'from no model to feed-forward and collision detection, and prints a table. '
        'Exit code 0 only if every figure is reached.',
    )
    parser.add_argument(
        '--robot',
        default='six_axis',
        metavar='NAME|FILE',
        help='robot of this package, or a robot file, with a section demo (default: %(default)s)',
    )
    parser.add_argument(
        '--out', type=Path, default=Path('demo_output'), help='folder for recordings and results'
    )
    parser.add_argument(
        '--short',
        action='store_true',
        help='motions of a few seconds, one push and wider limits: does every step work?',
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the demonstration.

    :raises ConfigError: ROS 2 or the built interfaces are missing.
    """
    # the rest of the command works without ROS, so rclpy is imported only here
    if importlib.util.find_spec('rclpy') is None:
        raise ConfigError(
            'robodyn demo runs real ROS 2 nodes and rclpy is missing: run `make build` in a '
            'checkout and enter it with `. ./env.sh`'
        )
    if importlib.util.find_spec('robodyn_ros.msg') is None:
        raise ConfigError(
            'the interfaces of robodyn_ros are not built: run `make build`, then `. ./env.sh`'
        )
    from robodyn_ros.cli.demo.story import run_demo

    return run_demo(robot=arguments.robot, out=arguments.out, short=arguments.short)
