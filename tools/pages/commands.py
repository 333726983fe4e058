# SPDX-License-Identifier: Apache-2.0
"""Page of the commands `robodyn`, made from their parsers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable

from robodyn_ros.cli.main import COMMANDS, build_parser
from robodyn_ros.identification.options import OPTIONS

PAGE = 'reference/commands.md'

HEAD = """# Commands

Made from the parsers of `robodyn` by `python -m tools.pages`; do not edit. `robodyn COMMAND
--help` shows the same, `--debug` shows tracebacks. The exit code is 0 only on success.

## Flags of several commands

Each command also has the flags below the headings that name it.
"""
EVERYWHERE = ('help', 'debug')
IDENTIFY = 'identify'
FLAGS = {f'--{option.flag}' for option in OPTIONS.values() if option.flag}
OPTIONS_PAGE = 'the [options of an identification](options_identification.md)'

Parsers = dict[str, argparse.ArgumentParser]


def page() -> str:
    """Return the text of the page."""
    parser = build_parser()
    choices = next(each.choices for each in parser._actions if isinstance(each.choices, dict))
    parsers: Parsers = dict(choices or {})
    commands: dict[str, list[str]] = {}
    for name, each in parsers.items():
        for action in _actions(name, each):
            commands.setdefault(_line(each, action), []).append(name)
    common = {line: names for line, names in commands.items() if len(names) > 1}
    chapters = (_chapter(name, each, common) for name, each in parsers.items())
    return HEAD + _list_shared(common) + ''.join(chapters)


def _list_shared(common: dict[str, list[str]]) -> str:
    """Return the lines that several commands have, under headings with these commands."""
    lines: dict[str, str] = {}
    for line, names in common.items():
        heading = ', '.join(names)
        lines[heading] = lines.get(heading, '') + line
    return ''.join(f'\n### {heading}\n\n{text}' for heading, text in lines.items())


def _chapter(name: str, parser: argparse.ArgumentParser, common: Iterable[str]) -> str:
    lines = (_line(parser, each) for each in _actions(name, parser))
    rows = ''.join(line for line in lines if line not in common)
    text = _visible(parser.description or COMMANDS[name][1])
    end = f'\nAlso {OPTIONS_PAGE}.\n' if name == IDENTIFY else ''
    return f'\n## robodyn {name}\n\n{text}\n\n{rows}{end}'


def _actions(name: str, parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments that the help of a command shows, without those of another page."""
    hidden = FLAGS if name == IDENTIFY else set()
    return [
        each
        for each in parser._actions
        if each.dest not in EVERYWHERE
        and each.help != argparse.SUPPRESS
        and not hidden & set(each.option_strings)
    ]


def _line(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """Return the line of one argument, with the text of its help."""
    text = parser._get_formatter()._expand_help(action) if action.help else ''
    return f'- `{_invocation(action)}`: {_visible(" ".join(text.split()))}\n'


def _visible(text: str) -> str:
    """Return a text whose words in angle brackets are no HTML."""
    return re.sub(r'<\w+>', r'`\g<0>`', text)


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
