# SPDX-License-Identifier: Apache-2.0
"""Page of the parameters of all nodes and of the controller plugin, made from their declarations.

Every node is created with a robot file of this package and its declarations are recorded. Those
of the plugin are in the file that generate_parameter_library reads.
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
from robodyn_ros.node_parameters.names import OF_ROS
from robodyn_ros.yaml_file import read_yaml
from tools.common import ROOT
from tools.pages import row

PAGE = 'reference/parameters.md'

HEAD = """# Node parameters

Made from the declarations of the nodes by `python -m tools.pages`; do not edit. A robot file gives
a node the values of its section ([one file per robot](../bring_your_own_robot.md)); `-p
NAME:=VALUE` and parameter files override them. *fixed*: read at the start only. The last table
has the parameters of the [controller plugin](../controller.md), which are in the file of the
controller manager. *required*: it has no usable default.
"""
COLUMNS = '| parameter | type | default | unit | meaning |\n|---|---|---|---|---|\n'
NODES = ('cell', 'collision_monitor', 'excitation', 'feedforward', 'identification', 'recorder',
         'watch')  # fmt: skip
ARGUMENTS = ['--ros-args', '-p', 'robot:=six_axis', '-p', 'port:=0']
"""A complete robot, and any free port for the live page."""
PLUGIN = 'feedforward_torque_controller'
UNIT = re.compile(r'(?: in)? \[(?!SIZE|LINK|TX )([^\]]*)\]')
TYPES = {bool: 'bool', int: 'integer', float: 'number', str: 'text'}

Declared = dict[str, tuple[Any, Any]]
"""Default and descriptor of each parameter."""


def page() -> str:
    """Return the text of the page."""
    return HEAD + ''.join(_chapter(name, declared(name)) for name in NODES) + _plugin()


@cache
def declared(name: str) -> Declared:
    """Create a node and return what it declares.

    The robot file is not checked: its keys may be newer than the names that are made here.
    """
    import rclpy

    rclpy.init(args=ARGUMENTS)
    try:
        unchecked = mock.patch('robodyn_ros.robot_file.check_keys')
        with unchecked, _recorded() as found:
            _node_class(name)().destroy_node()
    finally:
        rclpy.try_shutdown()
    return found


def _node_class(name: str) -> Any:
    """Return the class of a node, the last one in its module."""
    from robodyn_ros.nodes.base.suite_node import Guarded

    module = importlib.import_module(f'robodyn_ros.nodes.{name}.node')
    here = [each for each in vars(module).values() if isinstance(each, type)]
    own = [
        each for each in here if issubclass(each, Guarded) and each.__module__ == module.__name__
    ]
    return own[-1]


@contextmanager
def _recorded() -> Iterator[Declared]:
    """Record the declarations of parameters."""
    from rclpy.node import Node

    found: Declared = {}
    original = Node.declare_parameter

    def declare(node: Any, name: str, value: Any = None, *rest: Any, **options: Any) -> Any:
        descriptor = rest[0] if rest else options.get('descriptor')
        if name not in OF_ROS:
            found[name] = (value, descriptor)
        return original(node, name, value, *rest, **options)

    with mock.patch.object(Node, 'declare_parameter', declare):
        yield found


def _chapter(name: str, found: Declared) -> str:
    rows = (_row(parameter, *found[parameter]) for parameter in sorted(found))
    return f'\n## {name}\n\n{COLUMNS}{"".join(rows)}'


def _row(name: str, default: Any, descriptor: Any) -> str:
    text = descriptor.description
    units = dict.fromkeys(UNIT.findall(text))
    meaning = UNIT.sub('', text) + (' (fixed)' if descriptor.read_only else '')
    return row(f'`{name}`', _type(default), _default(default), ', '.join(units), meaning)


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
    words = ['required'] * empty + ['fixed'] * bool(given.get('read_only'))
    text = given['description'] + (f' ({", ".join(words)})' if words else '')
    kind = str(given['type']).replace('double', 'number').replace('string', 'text')
    kind = re.sub(r'^(\w+)_array$', r'list of \1', kind.replace('int', 'integer'))
    units = dict.fromkeys(UNIT.findall(text))
    shown = '-' if empty else _default(default)
    return row(f'`{name}`', kind, shown, ', '.join(units), UNIT.sub('', text))


def _type(default: Any) -> str:
    """Return the type of a parameter by its default or its `Parameter.Type`."""
    if default is None:
        return 'any'
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
