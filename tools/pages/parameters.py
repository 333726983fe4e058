# SPDX-License-Identifier: Apache-2.0
"""Page of the parameters of all nodes and of the controller plugin, made from their declarations.

Every node is created with a robot file of this package and its declarations are recorded. Those
of the plugin are in the file that generate_parameter_library reads. Parameters that several nodes
declare alike are in one table. Options that have a page of their own are left out.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from operator import itemgetter
from typing import Any
from unittest import mock

from robodyn_ros.errors import ConfigError
from robodyn_ros.identification.options import OPTIONS
from robodyn_ros.node_parameters.names import OF_ROS
from robodyn_ros.yaml_file import read_yaml
from tools.common import ROOT
from tools.pages import row

PAGE = 'reference/parameters.md'

HEAD = """# Node parameters

Made from the declarations of the nodes by `python -m tools.pages`; do not edit. A robot file gives
the defaults of a node in its section ([one file per robot](../bring_your_own_robot.md)); `-p
NAME:=VALUE` and parameter files have priority. A parameter with \\* can be changed while the node
runs; all others are read at the start. *per joint*: one value, or one per joint. *required*: it
has no usable default. The last table has the parameters of the
[controller plugin](../controller.md), which are in the file of the controller manager.

## Of several nodes

"""
ELSEWHERE = {
    'excitation': r'Also `optimise.NAME`\*, as in [`robodyn excite`](commands.md#robodyn-excite).',
    'identification': 'Also the [options of an identification](options_identification.md).',
}
"""Sentences about parameters that other pages list."""

COLUMNS = '| parameter | default | meaning |\n|---|---|---|\n'
NODES = ('cell', 'collision_monitor', 'excitation', 'feedforward', 'identification', 'recorder',
         'watch')  # fmt: skip
ARGUMENTS = ['--ros-args', '-p', 'robot:=six_axis', '-p', 'port:=0']
"""A complete robot, and any free port for the live page."""
PLUGIN = 'feedforward_torque_controller'
UNIT = re.compile(r'(?: in)? \[(?!SIZE|LINK|TX )([^\]]*)\]')
TYPES = {bool: 'bool', int: 'integer', float: 'number', str: 'text'}

GROUP = re.compile(r'^(\w+) (of .*, if result_file is empty)')
"""Text of a parameter that is one value of a result: rows of a group are one row."""

Declared = dict[str, tuple[Any, Any]]
"""Default and descriptor of each parameter."""


def page() -> str:
    """Return the text of the page."""
    rows = {name: _rows(name) for name in NODES}
    nodes: dict[str, list[str]] = {}
    for name in NODES:
        for each in rows[name]:
            nodes.setdefault(each, []).append(name)
    common = {each: names for each, names in nodes.items() if len(names) > 1}
    chapters = (
        _chapter(name, [each for each in rows[name] if each not in common]) for name in NODES
    )
    return HEAD + _common_tables(common) + ''.join(chapters) + _plugin()


def _common_tables(common: dict[str, list[str]]) -> str:
    """Return tables of the parameters that the same nodes declare alike."""
    tables: dict[str, list[str]] = {}
    for each, names in common.items():
        tables.setdefault(', '.join(names), []).append(each)
    return '\n'.join(
        f'### {names}\n\n{COLUMNS}{"".join(sorted(rows))}' for names, rows in tables.items()
    )


@cache
def read_declarations(name: str) -> Declared:
    """Create a node and return what it declares.

    The robot file is not checked: its keys may be newer than the names that are made here.
    """
    import rclpy

    rclpy.init(args=ARGUMENTS)
    try:
        unchecked = mock.patch('robodyn_ros.robot_file.check_keys')
        with unchecked, _record_declarations() as declarations:
            _node_class(name)().destroy_node()
    finally:
        rclpy.try_shutdown()
    return declarations


def _node_class(name: str) -> Any:
    """Return the class of a node, the last one in its module."""
    from robodyn_ros.nodes.base.suite_node import Guarded

    module = importlib.import_module(f'robodyn_ros.nodes.{name}.node')
    here = [each for each in vars(module).values() if isinstance(each, type)]
    return [
        each for each in here if issubclass(each, Guarded) and each.__module__ == module.__name__
    ][-1]


@contextmanager
def _record_declarations() -> Iterator[Declared]:
    """Record the declarations of parameters."""
    from rclpy.node import Node

    declarations: Declared = {}
    original = Node.declare_parameter

    def declare(node: Any, name: str, value: Any = None, *rest: Any, **options: Any) -> Any:
        descriptor = rest[0] if rest else options.get('descriptor')
        if name not in OF_ROS:
            declarations[name] = (value, descriptor)
        return original(node, name, value, *rest, **options)

    with mock.patch.object(Node, 'declare_parameter', declare):
        yield declarations


def _chapter(name: str, rows: list[str]) -> str:
    more = f'{ELSEWHERE[name]}\n\n' if name in ELSEWHERE else ''
    return f'\n## {name}\n\n{more}{COLUMNS}{"".join(rows)}'


def _rows(name: str) -> list[str]:
    """Return the rows of a node, without parameters of other pages."""
    parameters = read_declarations(name)
    return list(
        dict.fromkeys(
            _row(each, *parameters[each])
            for each in sorted(parameters)
            if not _elsewhere(name, each)
        )
    )


def _elsewhere(node: str, parameter: str) -> bool:
    """Return True for a parameter that another page lists."""
    if node == 'identification':
        return parameter in {option.parameter for option in OPTIONS.values()}
    return node == 'excitation' and parameter.startswith('optimise.')


def _row(name: str, default: Any, descriptor: Any) -> str:
    text = descriptor.description
    mark = '' if descriptor.read_only else r'\*'
    if group := GROUP.match(text):
        return row(f'`{name.rpartition(".")[0]}.*`', '-', f'values {group[2]}')
    return row(f'`{name}`{mark}', *_default_and_meaning(default, _type(default), text))


def _default_and_meaning(default: Any, kind: str, text: str) -> tuple[str, str]:
    """Return the default (or the type, without one) with its unit, and the meaning."""
    units = ', '.join(dict.fromkeys(UNIT.findall(text)))
    value = _default(default)
    shown = f'{kind if value == "-" else value} {units}'.strip() or '-'
    return shown, UNIT.sub('', text).replace('; one value or one per joint', '; per joint')


def _plugin() -> str:
    """Return the chapter of the controller plugin."""
    file = ROOT / 'src' / f'{PLUGIN}_parameters.yaml'
    content = read_yaml(file, 'the table of parameters', ConfigError)[PLUGIN]
    rows = ''.join(_plugin_row(*each) for each in sorted(_leaves(content, ''), key=itemgetter(0)))
    return f'\n## {PLUGIN}\n\n{COLUMNS}{rows}'


def _leaves(content: dict[str, Any], prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, value in content.items():
        if 'type' in value:
            yield f'{prefix}{key}', value
        else:
            yield from _leaves(value, f'{prefix}{key}.')


def _plugin_row(name: str, given: dict[str, Any]) -> str:
    default = given.get('default_value')
    checks = given.get('validation', {})
    empty = default in ('', []) and ('not_empty<>' in checks or 'one_of<>' in checks)
    mark = '' if given.get('read_only') else r'\*'
    text = given['description'] + ' (required)' * empty
    kind = str(given['type']).replace('double', 'number').replace('string', 'text')
    kind = re.sub(r'^(\w+)_array$', r'list of \1', kind.replace('int', 'integer'))
    return row(f'`{name}`{mark}', *_default_and_meaning(None if empty else default, kind, text))


def _type(default: Any) -> str:
    """Return the type of a parameter by its default or its `Parameter.Type`; '': any."""
    if default is None:
        return ''
    if isinstance(default, (list, tuple)):
        return f'list of {TYPES[type(default[0])]}' if default else 'list'
    if type(default) in TYPES:
        return TYPES[type(default)]
    return str(default.name).lower().replace('_', ' ')


def _default(default: Any) -> str:
    """Return the default as YAML writes it; a type or None is no default."""
    if not isinstance(default, (bool, int, float, str, list, tuple)) or hasattr(default, 'name'):
        return '-'
    return f'`{json.dumps(default)}`'
