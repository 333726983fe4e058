# SPDX-License-Identifier: Apache-2.0
"""ROS parameters from files and the command line: the last source wins, whatever its key.

rcl applies the keys of all files in the order in which each key appears first. A limit under `/**`
in the last file therefore loses against one under the node's name in an earlier file, and so does
`-p`, which goes to `/**`, when an earlier file has that key. Here each file and each `-p` is
applied completely, in the order given. Within one file the order is rcl's, and so are the types:
values remain YAML scalars as written until rcl reads the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import yaml

from robodyn_ros.errors import ConfigError
from robodyn_ros.yaml_file import DUMPER, LOADER, check_yaml, read_text, reason_of

COMMAND_LINE = 'command line'
TEXT = 'tag:yaml.org,2002:str'
"""YAML tag of a text."""
EVERY_NODE = '/**'
BLOCK = 'ros__parameters'
VALUED = ('-p', '--param', '-r', '--remap', '--params-file')
"""ROS arguments that are followed by a value."""
LAUNCHED = 'launch file'
LAUNCH_FILE = 'launch_params_'
"""Prefix of the files in which launch_ros passes the parameters of a launch file."""


@dataclass(frozen=True)
class Given:
    """A value as written, the name of its source, and the key it stands under there."""

    value: yaml.Node
    source: str
    key: str

    @property
    def unset(self) -> bool:
        """True if it is null, as `ros2 param dump` writes a parameter without a value."""
        return self.value.tag == 'tag:yaml.org,2002:null'

    @property
    def shared(self) -> bool:
        """True if it may be for another node: under a key such as `/**`, or of a launch file."""
        general = self.key.endswith('*') or self.source.startswith(LAUNCHED)
        return general and self.source != COMMAND_LINE


@dataclass(frozen=True)
class Source:
    """A file or a `-p`: its blocks of parameters, in the order in which they apply.

    :ivar blocks: key and parameters of each block
    """

    name: str
    blocks: tuple[tuple[str, dict[str, yaml.Node]], ...]

    def of(self, node: str) -> dict[str, Given]:
        """Return the parameters for a node, named as '/robot1/feedforward'."""
        found: dict[str, Given] = {}
        for key, values in self.blocks:
            if matches(key, node):
                found.update(
                    {name: Given(value, self.name, key) for name, value in values.items()}
                )
        return found


def matches(key: str, node: str) -> bool:
    """Return True if the key of a parameter file is for a node, by the rule of rcl.

    :param key: such as `feedforward`, `/robot1/feedforward`, `/**/feedforward`, `/*`, `/**`
    :param node: name with namespace, such as '/robot1/feedforward'
    """
    absolute = key if key.startswith('/') else f'/{key}'
    parts = [re.escape(part) for part in absolute.split('/*')]
    # `/**` has become a star behind the group.
    pattern = r'(/\w+)'.join(parts).replace(r'(/\w+)\*', r'(/\w+)*')
    return re.fullmatch(pattern, node, re.ASCII) is not None


def merged(sources: Iterable[Source], node: str) -> dict[str, Given]:
    """Return the last value of each parameter of a node."""
    found: dict[str, Given] = {}
    for source in sources:
        found.update(source.of(node))
    return found


def as_file(values: dict[str, dict[str, Given]]) -> str:
    """Return the text of a parameter file with these parameters of each key."""
    # Copies: a YAML node in two places would become an alias, which rcl does not read.
    blocks = [
        (
            key,
            _mapping([(BLOCK, _mapping([(name, deepcopy(it.value)) for name, it in of.items()]))]),
        )
        for key, of in values.items()
        if of
    ]
    text: str = yaml.serialize(_mapping(blocks), Dumper=DUMPER, allow_unicode=True, width=10**6)
    return text


def read_source(path: str | Path) -> Source:
    """Read a parameter file.

    :raises ConfigError: it cannot be read, or is no YAML
    """
    what = 'the parameter file'
    root = _composed(read_text(path, what, ConfigError), f'{what} {path} cannot be read')
    blocks: dict[str, dict[str, yaml.Node]] = {}  # a repeated key keeps its place
    for key, values in _blocks(root, ''):
        blocks.setdefault(key, {}).update(flat(values))
    launched = Path(path).name.startswith(LAUNCH_FILE)
    return Source(f'{LAUNCHED} ({path})' if launched else str(path), tuple(blocks.items()))


def _blocks(node: yaml.Node | None, key: str) -> Iterator[tuple[str, yaml.Node]]:
    """Yield key and content of each block `ros__parameters`; rcl joins nested keys by slashes."""
    for name, value in items(node):
        if name.startswith(BLOCK):
            yield key, value
        else:
            yield from _blocks(value, f'{key}/{name}' if key else name)


def flat(node: yaml.Node | None, prefix: str = '') -> dict[str, yaml.Node]:
    """Return the parameters of a block; rcl joins nested names by dots."""
    found: dict[str, yaml.Node] = {}
    for name, value in items(node):
        if isinstance(value, yaml.MappingNode):
            found.update(flat(value, f'{prefix}{name}.'))
        else:
            found[prefix + name] = value
    return found


def items(node: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
    """Return names and values of a mapping; other nodes, which rcl refuses, have none."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return [(str(name.value), value) for name, value in pairs]


def _mapping(pairs: Sequence[tuple[str, yaml.Node]]) -> yaml.MappingNode:
    content = [(text_node(name), value) for name, value in pairs]
    return yaml.MappingNode('tag:yaml.org,2002:map', content, flow_style=False)


def text_node(text: str) -> yaml.ScalarNode:
    """Return a text as a quoted YAML scalar."""
    return yaml.ScalarNode(TEXT, text, style='"')


def _composed(text: str, failure: str) -> yaml.Node | None:
    try:
        check_yaml(text)
        return yaml.compose(text, Loader=LOADER)
    except yaml.YAMLError as error:
        raise ConfigError(f'{failure}: {reason_of(error)}') from error


class RosArguments:
    """Parameters and names in the ROS arguments of a process."""

    def __init__(self, arguments: Sequence[str]) -> None:
        """Read the arguments and the parameter files they name.

        :raises ConfigError: a parameter file that cannot be read
        """
        self.sources: list[Source] = []
        self._rules: list[tuple[str, str, str]] = []
        for flag, value in _flags(arguments):
            if flag == '--params-file':
                self.sources.append(read_source(value))
            elif flag in ('-p', '--param'):
                self.sources += _rule_source(value)
            elif flag in ('-r', '--remap'):
                self._rules.append(_rule(value))

    def node(self, name: str, namespace: str = '') -> str:
        """Return the name with namespace of a node, after remapping."""
        new = self._remapped(name, ('__node', '__name')) or name
        space = self._remapped(new, ('__ns',)) or namespace
        return f'/{space.strip("/")}/{new}' if space.strip('/') else f'/{new}'

    def _remapped(self, node: str, kinds: tuple[str, ...]) -> str:
        """Return the result of the first rule for this node, or ''."""
        fitting = (
            new for prefix, name, new in self._rules if name in kinds and prefix in ('', node)
        )
        return next(fitting, '')


def _flags(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield flags between `--ros-args` and `--`, each with the argument that follows it."""
    ros = False
    remaining = iter(arguments)
    for argument in remaining:
        if argument == '--ros-args':
            ros = True
        elif argument == '--':
            ros = False
        elif ros and argument in VALUED:
            yield argument, next(remaining, '')


def not_for_ros(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that are not between `--ros-args` and `--`, without the program."""
    ros, others = False, []
    for argument in arguments[1:]:
        if argument in ('--ros-args', '--'):
            ros = argument == '--ros-args'
        elif not ros:
            others.append(argument)
    return others


def _rule(text: str) -> tuple[str, str, str]:
    """Return prefix, name and value of `[NODE:]NAME:=VALUE`."""
    left, _, value = text.partition(':=')
    prefix, _, name = left.rpartition(':')
    return prefix, name, value


def _rule_source(text: str) -> list[Source]:
    """Return the parameter of a `-p` as a source; none if rcl refuses it."""
    prefix, name, value = _rule(text)
    node = _composed(value, f'parameter {name!r} of the command line')
    if not name or node is None:
        return []
    return [Source(COMMAND_LINE, ((prefix or EVERY_NODE, {name: node}),))]
