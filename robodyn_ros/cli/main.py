# SPDX-License-Identifier: Apache-2.0
"""The command `robodyn`: one file per sub-command, one sentence per error."""

from __future__ import annotations

import argparse
import importlib.util
import re
import shlex
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

from robodyn_ros import __version__
from robodyn_ros.cli.output import EXIT_ERROR, EXIT_INTERRUPTED, OutFolder, escape_output
from robodyn_ros.errors import ConfigError, RobodynError, clip
from robodyn_ros.node_parameters.names import nearest
from robodyn_ros.paths import resource
from robodyn_ros.runs.entry import interruptible, robodyn
from robodyn_ros.runs.file_set import sole_writer
from robodyn_ros.xacro_file import locate_file, urdf_file

COMMANDS = {
    'excite': ('excite', 'design the motion that reveals the parameters'),
    'advise': ('advise', 'advise on a motion of sines made by hand'),
    'motion': (
        'motion',
        'check a motion file against the limits of a robot and for collisions, and draw it',
    ),
    'check': (
        'check',
        'check what a recording has, what its motion can determine, and what looks wrong',
    ),
    'identify': ('identify', 'identify a robot from a recording'),
    'report': ('report', 'write the page of a result for a browser'),
    'friction': (
        'analysis.friction',
        'identify the friction of each joint: its law, values and share of the torque',
    ),
    'gains': (
        'analysis.gains',
        'estimate the factor from the signal of each drive to torque with a weighed load',
    ),
    'compare': ('analysis.compare', 'compare a URDF from CAD with an identified model'),
    'delay': ('analysis.delay', 'measure the additive torque delay and check the configured one'),
    'thresholds': (
        'collision.thresholds',
        'learn collision thresholds from healthy recordings',
    ),
    'collisions': (
        'collision.collisions',
        'list the collisions that the monitor finds in a recording, or its events',
    ),
    'demo': (
        'demo',
        'excite, identify, validate, feed forward and detect a push on a simulated cell',
    ),
    'watch': (
        'watch',
        'show the robot live in a browser: collisions, torque, nodes, events',
    ),
    'prg': ('prg', "import a result of softMC's identification (.PRG)"),
    'bodywise': ('analysis.bodywise', 'identify single bodies from the wrenches at their hinges'),
}
"""Sub-commands with their module in this folder and their help. `run` of a module returns the exit
code, and raises a RobodynError if a file or an option cannot be used."""

WITH_ROS = ('demo', 'watch')
"""Sub-commands that run nodes. All others work without ROS."""

LIKENESS = 0.6
"""Smallest likeness of a word to the one that is proposed instead."""
RENAMED = {'info': 'check'}
"""Commands by their earlier names."""

NEGATIVE_LIST = re.compile(r'-[\d.][^,]*,')
"""Start of a list of numbers that argparse takes for an option."""


class _Parser(argparse.ArgumentParser):
    """Parser that refuses a command line in one sentence: the usage has up to 25 lines."""

    def error(self, message: str) -> NoReturn:
        """Exit with what is wrong."""
        self.exit(EXIT_ERROR, f'error: {self.prog}: {message} (see `{self.prog} --help`)\n')

    def check_known(self, word: str, known: Collection[str]) -> None:
        """Exit with the nearest of the known words if a word is none of them."""
        if word not in known:
            near = RENAMED.get(word) or nearest(word, known, LIKENESS)
            meant = f'; did you mean {near}?' if near else ''
            self.error(f'{clip(word)} is not known{meant}')


def build_parser(only: str | None = None) -> _Parser:
    """Build the parser of all sub-commands.

    :param only: the sub-command to run, '' for none; all others have only a name and a help,
        because importing all of them takes seconds
    """
    parser = _Parser(
        prog='robodyn',
        description='Identify the dynamics of a robot, for torque feed-forward and collision '
        'detection.',
    )
    parser.add_argument('--version', action='version', version=f'robodyn {__version__}')
    parser.add_argument('--debug', action='store_true', help='show tracebacks')
    commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name, (module, text) in COMMANDS.items():
        sub_parser = commands.add_parser(name, help=text)
        if only in (None, name):
            command = importlib.import_module(f'robodyn_ros.cli.{module}')
            command.add_arguments(sub_parser)
            sub_parser.set_defaults(run=command.run, command_line='', parser=sub_parser)
        # A default would overwrite the value given before the sub-command.
        sub_parser.add_argument(
            '--debug', action='store_true', default=argparse.SUPPRESS, help='show tracebacks'
        )
    return parser


def _without_xacro(arguments: argparse.Namespace) -> argparse.Namespace:
    """Locate the file of --urdf, also package://; replace a xacro file by its URDF."""
    if getattr(arguments, 'urdf', None):
        arguments.urdf = urdf_file(locate_file(arguments.urdf, resource))
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run `robodyn`; return its exit code: 0 only on success."""
    words = _join_negative(sys.argv[1:] if argv is None else argv)
    try:
        with escape_output():
            return _run(words)
    except KeyboardInterrupt:
        with escape_output():
            print('interrupted', file=sys.stderr)
        return EXIT_INTERRUPTED
    except Exception as error:  # a bug must not print a traceback either
        if '--debug' in words:
            raise
        with escape_output():
            return _report_error(error)


def _run(words: Sequence[str]) -> int:
    """Import, parse and run a command; importing the libraries of a command takes a second."""
    command = next((word for word in words if word in COMMANDS), '')
    parser = build_parser(command)
    if not words:
        parser.exit(EXIT_ERROR, parser.format_help())
    for word in () if command else [word for word in words if not word.startswith('-')][:1]:
        parser.check_known(word, COMMANDS)
    arguments, unknown = parser.parse_known_args(words)
    for word in unknown[:1]:
        options = [name for each in arguments.parser._actions for name in each.option_strings]
        arguments.parser.check_known(word.partition('=')[0], options)
    if command in WITH_ROS:
        _check_ros(command)
    arguments.command_line = shlex.join(['robodyn', *words])
    with _brief_warnings(complete=arguments.debug), interruptible(), ExitStack() as stack:
        if isinstance(folder := getattr(arguments, 'out', None), OutFolder):
            stack.enter_context(sole_writer(folder, ConfigError))  # before all the work
        return int(arguments.run(_without_xacro(arguments)))


def _check_ros(command: str) -> None:
    if importlib.util.find_spec('rclpy') is None:
        raise ConfigError(
            f'robodyn {command} runs ROS 2 nodes, but rclpy is missing: run `make build` in a '
            'checkout and enter it with `. ./env.sh`'
        )
    if importlib.util.find_spec('robodyn_ros.msg') is None:
        raise ConfigError(
            'the interfaces of robodyn_ros are not built: run `make build`, then `. ./env.sh`'
        )


def _report_error(error: Exception) -> int:
    """Print one sentence about an error, and return the exit code."""
    if isinstance(error, BrokenPipeError):
        return EXIT_ERROR
    if isinstance(error, RobodynError):
        example = '\n  '.join(('\nfor example:', *error.lines)) if error.lines else ''
        text = f'{error}{example}'
    elif isinstance(error, MemoryError):
        text = 'not enough memory: use a shorter recording or motion'
    else:
        text = (
            f'unexpected {type(error).__name__}: {clip(str(error))} '
            f'(run `robodyn --debug ...` '
            f'for the traceback, and please report it)'
        )
    print(f'error: {text}', file=sys.stderr)
    return EXIT_ERROR


@contextmanager
def _brief_warnings(*, complete: bool) -> Iterator[None]:
    """Print each warning as one line, once: a URDF is read again from the text of a model."""
    known: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        source, colon, rest = str(message).partition(': ')
        text = rest if colon else source
        if text not in known:
            known.add(text)
            print(f'warning: {message}', file=sys.stderr)

    with warnings.catch_warnings():
        if not complete:
            warnings.showwarning = show
        yield


def _join_negative(words: Sequence[str]) -> list[str]:
    """Join `--flag -0.5,1` to `--flag=-0.5,1`, which argparse understands."""
    joined: list[str] = []
    for word in words:
        if NEGATIVE_LIST.match(word) and joined and joined[-1].startswith('--'):
            joined[-1] += f'={word}'
        else:
            joined.append(word)
    return joined


if __name__ == '__main__':
    sys.exit(robodyn())
