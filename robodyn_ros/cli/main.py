"""The command `robodyn`: one sub-command per file, errors as one sentence."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from robodyn_ros import __version__
from robodyn_ros.cli import (
    advise,
    bodywise,
    compare,
    demo,
    excite,
    friction,
    identify,
    info,
    motion,
    prg,
)
from robodyn_ros.errors import RobodynError

COMMANDS = (excite, advise, motion, identify, friction, compare, info, demo, prg, bodywise)
EXIT_ERROR = 2
EXIT_INTERRUPTED = 130


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all sub-commands."""
    parser = argparse.ArgumentParser(
        prog='robodyn',
        description='From a robot nobody has modelled to torque feed-forward and collision '
        'detection.',
    )
    parser.add_argument('--version', action='version', version=f'robodyn {__version__}')
    parser.add_argument('--debug', action='store_true', help='show tracebacks')
    commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for command in COMMANDS:
        command.add_parser(commands)
    for sub_parser in commands.choices.values():
        # no default: it would take back what was said before the sub-command
        sub_parser.add_argument(
            '--debug', action='store_true', default=argparse.SUPPRESS, help='show tracebacks'
        )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run `robodyn`; return its exit code: 0 only on success."""
    arguments = build_parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        print('interrupted', file=sys.stderr)
        return EXIT_INTERRUPTED
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


if __name__ == '__main__':
    sys.exit(main())
