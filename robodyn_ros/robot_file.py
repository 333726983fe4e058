# SPDX-License-Identifier: Apache-2.0
"""Robot file: all settings of one robot, in sections.

    urdf: my_robot.urdf      # relative to this file, or package://PACKAGE/...; '': the topic
                             # robot_description of the robot
    model: {kind: scara, ...}                 # closed form to identify; default: the URDF
    limits: {joint1: {max_velocity: 2.0, max_acceleration: 5.0}}    # as in joint_limits.yaml
    effort: {unit: Nm, side: joint, gravity: included}
    excitation: {motion: {kind: sine, ...}}   # parameters of the node, as for the other nodes
    cell: {joints: {joint1: {gear_ratio: 80}}}
    demo: {pushes: [...], ...}
    variants: {slow: {excitation: {...}}}     # by name: sections whose keys win over those above

Only `urdf` or `model` is required. A reference to a robot file is the name of a robot of this
package (config/robots/NAME.yaml) or a path, and may end in `#VARIANT`. Readers of a file with one
purpose (model, joint limits, effort, cell) also take a reference with a path, see `read_part`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any

from robodyn_ros.errors import ConfigError, RobodynError
from robodyn_ros.node_parameters.names import check_keys, flat
from robodyn_ros.paths import resource
from robodyn_ros.schema import convert
from robodyn_ros.xacro_file import locate_file
from robodyn_ros.yaml_file import read_yaml

ROBOTS = 'package://robodyn_ros/config/robots'
NODES = ('excitation', 'recorder', 'identification', 'feedforward', 'collision_monitor')
"""Sections that hold the parameters of the node of the same name."""
Section = dict[Any, Any] | None
MAPPINGS = ('model', 'limits', 'effort', *NODES, 'cell', 'demo')
Variant = make_dataclass(
    'Variant', [('urdf', str, ''), *((name, Section, None) for name in MAPPINGS)]
)
Sections = make_dataclass('Sections', [('variants', Section, None)], bases=(Variant,))
"""Forms of a robot file and its variants."""
FILES = (
    'joint_limits',
    'model_file',
    'motion_file',
    'optimise.srdf',
    'result_file',
)
"""Parameters of nodes that are paths, relative to the robot file."""
REFERRED = {'limits': 'joint_limits', 'model': 'model_file', 'cell': 'config'}
"""Section -> node parameter with the name of the file that holds it."""


@dataclass(frozen=True)
class RobotFile:
    """A checked robot file.

    :param variant: name of one of its variants, or ''
    :param content: sections, those of the variant merged in
    """

    path: Path
    variant: str
    content: Mapping[str, Any]

    @property
    def reference(self) -> str:
        """Path of the file, with the variant."""
        return f'{self.path}#{self.variant}' if self.variant else str(self.path)

    @property
    def urdf(self) -> str:
        """Path of the URDF, or '' for a robot that has none, or takes that of the topic.

        :raises ConfigError: it is in an unknown package
        """
        urdf = self.content.get('urdf')
        return locate_file(str(urdf), self.file) if urdf else ''

    def file(self, name: str) -> str:
        """Return the path of a file that is named in this one.

        :raises ConfigError: it is in an unknown package
        """
        path = self.path.parent / resource(name)
        return os.path.normpath(path)

    def section(self, name: str, what: str) -> Mapping[str, Any]:
        """Return the content of a section.

        :param what: feature that needs the section, for the message
        :raises ConfigError: it is missing
        """
        if name not in self.content:
            raise ConfigError(f'{self.path}: section {name} is missing, which {what} needs')
        section: Mapping[str, Any] = self.content[name]
        return section

    def parameters(self, node: str, *, effort: bool = True) -> dict[str, tuple[Any, str]]:
        """Return value and section of each parameter that the file has for a node.

        :param effort: include section `effort`
        :raises ConfigError: a value that a parameter cannot have
        """
        sections = {
            section: {parameter: self.reference}
            for section, parameter in REFERRED.items()
            if section in self.content
        }
        if self.urdf:
            sections['urdf'] = {'urdf': self.urdf}
        if effort:
            sections['effort'] = flat(self.content.get('effort', {}), 'effort.')
        if node in NODES:
            sections[node] = flat(self.content.get(node, {}))
            for name in sections[node].keys() & {*FILES}:
                if path := sections[node][name]:
                    sections[node][name] = self.file(str(path))
        return {
            name: (_parameter(value, name, where), where)
            for section, values in sections.items()
            for where in [f'{self.reference}, section {section}']
            for name, value in values.items()
        }


@dataclass(frozen=True)
class Part:
    """Content of a file with one purpose, or of that section of a robot file.

    :param robot: the robot file, or None
    """

    content: Any
    source: str
    robot: RobotFile | None = None


def load_robot(reference: str | Path) -> RobotFile:
    """Read a robot file.

    :param reference: name of a robot of this package, or a path; may end in `#VARIANT`
    :raises ConfigError: there is no such robot or variant, or the file cannot be used
    """
    name, variant = _split(str(reference))
    path = _locate(name)
    return _robot(path, variant, read_yaml(path, 'the robot file', ConfigError))


def lasting_reference(reference: str) -> str:
    """Return a reference to the same robot that holds in every folder.

    :raises ConfigError: it is in an unknown package
    """
    name, variant = _split(reference)
    if not _is_path(name):
        return reference
    path = resource(name).absolute()
    return f'{path}#{variant}' if variant else str(path)


def list_robots() -> dict[str, Path]:
    """Return the robot files of this package by name.

    :raises ConfigError: the package is not installed
    """
    return {path.stem: path for path in sorted(resource(ROBOTS).glob('*.yaml'))}


def read_part(
    reference: str | Path, section: str, what: str, error: type[RobodynError] = ConfigError
) -> Part:
    """Read a file with one purpose, or that section of a robot file.

    :param reference: path, for a robot file may end in `#VARIANT`
    :param what: name of the file in messages, such as 'the model file'
    :raises RobodynError: of class `error`: it cannot be read or used, or has no such section
    """
    name, variant = _split(str(reference))
    document = read_yaml(name, what, error)
    if not _is_robot(document):
        return Part(document, name)
    try:
        robot = _robot(Path(name), variant, document)
    except ConfigError as reason:
        raise error(str(reason)) from reason
    if section not in robot.content:
        raise error(f'{name}: section {section} is missing in this robot file')
    return Part(robot.content[section], f'{name}, section {section}', robot)


def _split(reference: str) -> tuple[str, str]:
    name, _, variant = reference.rpartition('#')
    return (name, variant) if name and not Path(reference).is_file() else (reference, '')


def _locate(name: str) -> Path:
    if _is_path(name):
        return resource(name).absolute()
    known = list_robots()
    if name not in known:
        raise ConfigError(
            f'there is no robot {name!r} in this package, only {", ".join(known)}: give the path '
            f'of a robot file, such as ./{name}.yaml, for another robot'
        )
    return known[name]


def _is_path(name: str) -> bool:
    return '/' in name or name.endswith(('.yaml', '.yml'))


def _robot(path: Path, variant: str, document: object) -> RobotFile:
    """Check the sections and merge those of the variant."""
    content = _sections(document, str(path), Sections)
    if 'urdf' not in content and 'model' not in content:
        raise ConfigError(f'{path}: section urdf (path of the URDF) is missing, or section model')
    variants = {
        str(name): _sections(sections, f'{path}: section variants.{name}', Variant)
        for name, sections in content.pop('variants', {}).items()
    }
    for place, sections in [('', content), *((f'variants.{k}.', v) for k, v in variants.items())]:
        for node in sections.keys() & {*NODES}:
            check_keys(node, sections[node], f'{path}, section {place}{node}')
    if variant and variant not in variants:
        known = ', '.join(variants) or 'none'
        raise ConfigError(f'{path}: there is no variant {variant!r}, there are: {known}')
    return RobotFile(path, variant, _merge(content, variants.get(variant, {})))


def _sections(document: Any, where: str, form: type) -> dict[str, Any]:
    """Return the sections, those without content empty."""
    convert(document, form, where, ConfigError)
    return {name: {} if section is None else section for name, section in document.items()}


def _merge(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings key by key, on every level; keys of `top` win."""
    merged = dict(base)
    for key, value in top.items():
        below = base.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            value = _merge(below, value)
        merged[key] = value
    return merged


def _is_robot(document: object) -> bool:
    """Return True for a robot file; the configuration of a cell alone may also have `urdf`."""
    if not isinstance(document, Mapping) or not ('urdf' in document or 'model' in document):
        return False
    return any(name in document for name in (*MAPPINGS, 'variants'))


def _parameter(value: Any, name: str, where: str) -> Any:
    """Return the value of a parameter; a list with numbers is one of floats."""
    kinds = {type(item) for item in (value if isinstance(value, list) else [value])}
    if kinds == {int, float}:
        return [float(item) for item in value]
    if len(kinds) != 1 or not kinds <= {bool, int, float, str}:
        raise ConfigError(
            f'{where}: {name} must be true or false, an integer, a number with a decimal point, '
            f'a text, or a list of one of these, got {value!r:.60}'
        )
    return value
