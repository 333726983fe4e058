# SPDX-License-Identifier: Apache-2.0
"""Page of the parameters of all nodes, made from their declarations.

Every node is created with a robot file of this package and its declarations are recorded.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from tools.pages import row

PAGE = 'reference/parameters.md'

HEAD = """# Node parameters

Made from the declarations of the nodes by `python -m tools.pages`; do not edit. A robot file gives
a node the values of its section ([one file per robot](../bring_your_own_robot.md)); `-p
NAME:=VALUE` and parameter files override them. *fixed*: read at the start only.
"""
COLUMNS = '| parameter | type | default | unit | meaning |\n|---|---|---|---|---|\n'
NODES = ('cell', 'collision_monitor', 'excitation', 'feedforward', 'identification', 'recorder',
         'watch')  # fmt: skip
OF_ROS = ('use_sim_time', 'start_type_description_service')
"""Parameters that rclpy declares."""
ARGUMENTS = ['--ros-args', '-p', 'robot:=six_axis', '-p', 'port:=0']
"""A complete robot, and any free port for the live page."""
UNIT = re.compile(r'(?: in)? \[(?!SIZE)([^\]]*)\]')
TYPES = {bool: 'bool', int: 'integer', float: 'number', str: 'text'}

Declared = dict[str, tuple[Any, Any]]
"""Default and descriptor of each parameter."""


def page() -> str:
    """Return the text of the page."""
    return HEAD + ''.join(_chapter(name, declared(name)) for name in NODES)


def declared(name: str) -> Declared:
    """Create a node and return what it declares."""
    import rclpy

    from robodyn_ros.nodes.base.given_parameters import GivenParameters

    rclpy.init(args=ARGUMENTS)
    try:
        with GivenParameters(ARGUMENTS).used(), _recorded() as found:
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
