# SPDX-License-Identifier: Apache-2.0
"""Page of the commands `robodyn`, made from their parsers."""

from __future__ import annotations

import argparse
from collections import Counter

from robodyn_ros.cli.main import COMMANDS, build_parser
from robodyn_ros.identification.options import OPTIONS

PAGE = 'reference/commands.md'

HEAD = """# Commands

Made from the parsers of `robodyn` by `python -m tools.pages`; do not edit. `robodyn COMMAND
--help` shows the same, `--debug` shows tracebacks. The exit code is 0 only on success.

## Flags of several commands

"""
EVERYWHERE = ('help', 'debug')
FLAGS = {f'--{option.flag}' for option in OPTIONS.values() if option.flag}
OPTIONS_PAGE = '\nAlso the [options of an identification](options_identification.md).\n'

Parsers = dict[str, argparse.ArgumentParser]


def page() -> str:
    """Return the text of the page."""
    parser = build_parser()
    choices = next(each.choices for each in parser._actions if isinstance(each.choices, dict))
    parsers: Parsers = dict(choices or {})
    common = _common(parsers)
    chapters = (_chapter(name, each, common) for name, each in parsers.items())
    return HEAD + ''.join(common) + ''.join(chapters)


def _common(parsers: Parsers) -> list[str]:
    """Return the lines that several commands have, the most frequent one of each argument."""
    counts = Counter(line for each in parsers.values() for line in _lines(each))
    common: dict[str, str] = {}
    for line, count in counts.most_common():
        if count > 1:
            common.setdefault(line.split('`')[1].split()[0], line)
    return list(common.values())


def _chapter(name: str, parser: argparse.ArgumentParser, common: list[str]) -> str:
    lines = [line for line in _lines(parser) if line not in common]
    others = [_flag(each) for each in _actions(parser) if _line(parser, each) in common]
    also = f'\nAlso {", ".join(f"`{each}`" for each in others)}.\n' if others else ''
    text = parser.description or COMMANDS[name][1]
    more = OPTIONS_PAGE if any(map(_is_option, _actions(parser, all_of_them=True))) else ''
    return f'\n## robodyn {name}\n\n{text}\n\n{"".join(lines)}{also}{more}'


def _actions(
    parser: argparse.ArgumentParser, *, all_of_them: bool = False
) -> list[argparse.Action]:
    """Return the arguments that the help of a command shows, without options on another page."""
    return [
        each
        for each in parser._actions
        if each.dest not in EVERYWHERE
        and each.help != argparse.SUPPRESS
        and (all_of_them or not _is_option(each))
    ]


def _is_option(action: argparse.Action) -> bool:
    """Return True for an option of an identification, which has its own page."""
    return bool(FLAGS & set(action.option_strings))


def _lines(parser: argparse.ArgumentParser) -> list[str]:
    return [_line(parser, each) for each in _actions(parser)]


def _line(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """Return the line of one argument, with the text of its help."""
    text = parser._get_formatter()._expand_help(action) if action.help else ''
    return f'- `{_invocation(action)}`: {" ".join(text.split())}\n'


def _flag(action: argparse.Action) -> str:
    """Return the first name of an argument."""
    return action.option_strings[0] if action.option_strings else _invocation(action)


def _invocation(action: argparse.Action) -> str:
    """Return flags and value of an argument, in the same form with every Python."""
    names = ', '.join(action.option_strings)
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        return names
    value = action.metavar or (
        f'{{{",".join(map(str, action.choices))}}}' if action.choices else action.dest
    )
    text = value if isinstance(value, str) else ' '.join(value)
    if action.nargs in ('?', '*'):
        text = f'[{text}]'
    return f'{names} {text}{" ..." if action.nargs in ("*", "+") else ""}'.strip()
