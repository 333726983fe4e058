# SPDX-License-Identifier: Apache-2.0
"""Page of the commands `robodyn`, made from their parsers."""

from __future__ import annotations

import argparse

from robodyn_ros.cli.main import COMMANDS, build_parser
from tools.pages import row

PAGE = 'reference/commands.md'

HEAD = """# Commands

Made from the parsers of `robodyn` by `python -m tools.pages`; do not edit. `robodyn COMMAND
--help` shows the same, `--debug` shows tracebacks. The exit code is 0 only on success.

| command | what it does |
|---|---|
"""
EVERYWHERE = ('help', 'debug')
COLUMNS = '| argument | meaning | default |\n|---|---|---|\n'


def page() -> str:
    """Return the text of the page."""
    parser = build_parser()
    found = next(each for each in parser._actions if isinstance(each.choices, dict))
    commands: dict[str, argparse.ArgumentParser] = dict(found.choices or {})
    index = (row(f'[`robodyn {name}`](#robodyn-{name})', COMMANDS[name][1]) for name in commands)
    chapters = (_chapter(name, each) for name, each in commands.items())
    return HEAD + ''.join(index) + ''.join(chapters)


def _chapter(name: str, parser: argparse.ArgumentParser) -> str:
    shown = [
        each
        for each in parser._actions
        if each.dest not in EVERYWHERE and each.help != argparse.SUPPRESS
    ]
    rows = ''.join(_row(parser, each) for each in shown)
    text = parser.description or COMMANDS[name][1]
    return f'\n## robodyn {name}\n\n{text}\n\n{COLUMNS}{rows}'


def _row(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """Return the row of one argument, with the text of its help."""
    formatter = parser._get_formatter()
    text = formatter._expand_help(action) if action.help else ''
    meaning, _, default = text.partition('(default: ')
    return row(f'`{_invocation(action)}`', meaning, default.rstrip(' )'))


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
