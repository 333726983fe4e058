"""The command `robodyn`: one sub-command per file, errors as one sentence."""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Sequence

from robodyn_ros import __version__
from robodyn_ros.errors import RobodynError

COMMANDS = {
    'excite': 'design the motion that reveals the parameters',
    'advise': 'say what sines made by hand lack',
    'motion': 'check a motion file against the limits of a robot and for collisions, and draw it',
    'identify': 'identify a robot from a recording',
    'friction': 'friction over velocity from the bidirectional experiment',
    'compare': 'compare a URDF from CAD with an identified model',
    'delay': 'find the additive torque delay, and whether the one that is set fits',
    'info': 'show what a recording holds',
    'demo': 'excite, identify, validate, feed forward and detect a push on a simulated cell',
    'prg': "import a result of softMC's identification (.PRG)",
    'bodywise': 'identify single bodies from the wrenches at their hinges',
}
"""Sub-commands, modules of this folder, and what their help says."""

NEGATIVE_LIST = re.compile(r'-[\d.][^,]*,')
"""Beginning of a list of numbers that argparse takes for an option."""

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Build the parser of all sub-commands.

    :param only: the one that is going to be run, '' for none: the others are then known by name
        and help, since importing all of them takes seconds
    """
    parser = argparse.ArgumentParser(
        prog='robodyn',
        description='From a robot nobody has modelled to torque feed-forward and collision '
        'detection.',
    )
    parser.add_argument('--version', action='version', version=f'robodyn {__version__}')
    parser.add_argument('--debug', action='store_true', help='show tracebacks')
    commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name, text in COMMANDS.items():
        if only in (None, name):
            importlib.import_module(f'robodyn_ros.cli.{name}').add_parser(commands)
        else:
            commands.add_parser(name, help=text)
    for sub_parser in commands.choices.values():
        # no default: it would take back what was said before the sub-command
        sub_parser.add_argument(
            '--debug', action='store_true', default=argparse.SUPPRESS, help='show tracebacks'
        )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run `robodyn`; return its exit code: 0 only on success."""
    words = _joined(sys.argv[1:] if argv is None else argv)
    command = next((word for word in words if word in COMMANDS), '')
    try:
        arguments = build_parser(command).parse_args(words)
    except KeyboardInterrupt:  # the libraries of a command take a second to be imported
        return _interrupted()
    try:
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        return _interrupted()
    except RobodynError as error:
        if arguments.debug:
            raise
        print(f'error: {error}', file=sys.stderr)
        return EXIT_ERROR
    except Exception as error:  # a bug must not bury the user in a traceback either
        if arguments.debug:
            raise
        print(
            f'error: unexpected {type(error).__name__}: {error} '
            f'(run `robodyn --debug ...` to see where, and please report it)',
            file=sys.stderr,
        )
        return EXIT_ERROR


def _interrupted() -> int:
    print('interrupted', file=sys.stderr)
    return EXIT_INTERRUPTED


def _joined(words: Sequence[str]) -> list[str]:
    """Join `--flag -0.5,1` to `--flag=-0.5,1`, which argparse understands."""
    joined: list[str] = []
    for word in words:
        if NEGATIVE_LIST.match(word) and joined and joined[-1].startswith('--'):
            joined[-1] += f'={word}'
        else:
            joined.append(word)
    return joined


if __name__ == '__main__':
    sys.exit(main())
