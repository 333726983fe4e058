# SPDX-License-Identifier: Apache-2.0
"""Declaration of the effort of a robot's joints in parameters, YAML or a bag.

    effort:
      unit: Nm                # Nm, N, A, permille_rated_current, permille_rated_torque, SI
      side: joint             # joint or motor
      gravity: included       # or excluded: the driver has taken the gravity torque out
      command_gravity: included    # of commands; excluded: the robot adds the gravity torque
    # optional: command_unit (default: unit), command_gravity (default: gravity), direction (1 or
    # -1) and the drive facts of `units.py`

Each key has one value for all joints, or a list with one per joint of `joints`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.bounds import parse_json
from robodyn_ros.control.effort.joint_effort import GRAVITY, SIDES, UNITS, EffortConversion
from robodyn_ros.control.effort.units import MECHANICS, OBJECTS, Drives
from robodyn_ros.errors import ConfigError
from robodyn_ros.models.interface import Joint
from robodyn_ros.recording.bags.bag_metadata import EFFORT_KEY, SI_EFFORT
from robodyn_ros.robot_file import read_part

WORDS = {
    'unit': UNITS,
    'command_unit': UNITS,
    'side': SIDES,
    'gravity': GRAVITY,
    'command_gravity': GRAVITY,
}
REQUIRED = ('unit', 'side', 'gravity')
NUMBERS = ('direction', *OBJECTS, *MECHANICS)
KEYS = ('joints', *WORDS, *NUMBERS)
HOW = (
    'declare its meaning in section effort of the robot file: effort.unit (Nm, N, A, '
    'permille_rated_current or permille_rated_torque), effort.side (joint or motor) and '
    'effort.gravity (included or excluded), for example {unit: Nm, side: joint, gravity: '
    'included}; A and per mille need drive facts as well, see config/example_robot.yaml. Commands '
    'take the file as --effort FILE, or --effort Nm for Nm or N at the joint with gravity'
)


def missing_declaration(what: str) -> ConfigError:
    """Return an error that says what to declare."""
    return ConfigError(f'the effort of {what} is not declared: {HOW}')


@dataclass(frozen=True)
class EffortDeclaration:
    """A checked declaration; `for_joints` makes a conversion of it.

    :param joints: names for the lists; empty: single values for any joints
    :param values: key -> one value, or a tuple of one per joint
    """

    joints: tuple[str, ...]
    values: Mapping[str, Any]
    source: str

    @classmethod
    def from_mapping(
        cls, declared: Mapping[str, Any], *, source: str = 'the declaration'
    ) -> EffortDeclaration:
        """Check keys, words, numbers and lengths.

        :raises ConfigError: nothing is declared, or the declaration cannot be used
        """
        given = {key: value for key, value in declared.items() if value is not None}
        for key in given:
            if key not in KEYS:
                raise ConfigError(f'{source}: there is no effort.{key}, there are: {_list(KEYS)}')
        missing = [key for key in REQUIRED if key not in given]
        if len(missing) == len(REQUIRED):
            raise missing_declaration(source)
        if missing:
            raise ConfigError(f'{source}: effort.{missing[0]} is missing: {HOW}')
        joints = _joints(given.pop('joints', ()), source)
        given.setdefault('command_unit', given['unit'])
        given.setdefault('direction', 1.0)
        values = {key: _value(key, value, joints, source) for key, value in given.items()}
        return cls(joints, values, source)

    @classmethod
    def from_file(cls, path: str | Path) -> EffortDeclaration:
        """Read a YAML file: a ROS parameter file, or just the keys, with or without `effort:`.

        :param path: of such a file, or of a robot file with a section `effort`
        :raises ConfigError: it cannot be read, or see `from_mapping`
        """
        part = read_part(path, 'effort', 'the effort file')
        declared = part.content if part.robot else _find_keys(part.content, path)
        return cls.from_mapping(declared, source=part.source)

    @classmethod
    def si(cls, *, source: str = 'Nm') -> EffortDeclaration:
        """Return the declaration of Nm or N, as the joint has it, joint-side and with gravity."""
        return cls.from_mapping(SI_EFFORT, source=source)

    @classmethod
    def from_metadata(
        cls, metadata: Mapping[str, str], *, source: str
    ) -> EffortDeclaration | None:
        """Read the declaration in the metadata of a bag; None: there is none.

        :raises ConfigError: it cannot be used
        """
        text = metadata.get(EFFORT_KEY)
        if text is None:
            return None
        try:
            content = parse_json(text)
        except ValueError as error:
            raise ConfigError(f'{source}: {EFFORT_KEY} is not JSON: {error}') from error
        if not isinstance(content, dict):
            raise ConfigError(f'{source}: {EFFORT_KEY} must be a mapping, got {text!r:.80}')
        return cls.from_mapping(content, source=source)

    def metadata(self) -> dict[str, str]:
        """Return the declaration as metadata of a bag."""
        content = {'joints': self.joints, **self.values} if self.joints else dict(self.values)
        return {EFFORT_KEY: json.dumps(content)}

    def for_joints(self, joints: Sequence[str] | Sequence[Joint]) -> EffortConversion:
        """Make a conversion for these joints, matched by name if the declaration names joints.

        :param joints: names, or joints whose types are then compared with the units
        :raises ConfigError: a joint is not declared, a drive fact is missing, or a unit does
            not fit the type of a joint
        """
        names = [joint.name if isinstance(joint, Joint) else joint for joint in joints]
        for name in names:
            if self.joints and name not in self.joints:
                raise ConfigError(
                    f'{self.source}: effort of joint {name!r} is missing, there are '
                    f'{_list(self.joints)}'
                )
        chosen = [self.joints.index(name) for name in names] if self.joints else []
        columns = {
            key: [value[index] for index in chosen] if isinstance(value, tuple) else
            [value] * len(names)
            for key, value in self.values.items()
        }  # fmt: skip
        words = {key: columns.pop(key) for key in WORDS if key in columns}
        direction = np.array(columns.pop('direction'), dtype=float)
        drives = Drives.of(len(names), **columns)
        try:
            result = EffortConversion(names, direction=direction, drives=drives, **words)
            result.check_joints([joint for joint in joints if isinstance(joint, Joint)])
        except ConfigError as error:
            raise ConfigError(f'{self.source}: {error}') from error
        return result


def _list(words: Sequence[str]) -> str:
    return ', '.join(words)


def _find_keys(document: Any, path: str | Path) -> Mapping[str, Any]:
    """Return the keys of a declaration inside a document."""
    if isinstance(document, Mapping):
        for value in document.values():
            if isinstance(value, Mapping) and isinstance(value.get('ros__parameters'), Mapping):
                document = value['ros__parameters']
                break
        flat = {k[7:]: v for k, v in document.items() if str(k).startswith('effort.')}
        document = document.get('effort', flat or document)
    if not isinstance(document, Mapping):
        raise ConfigError(f'the effort file {path} must be a mapping, got {document!r:.80}')
    return document


def _joints(given: Any, source: str) -> tuple[str, ...]:
    joints = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(name, str) for name in joints) or len(set(joints)) < len(joints):
        raise ConfigError(f'{source}: effort.joints must be different names, got {list(joints)}')
    return joints


def _value(key: str, given: Any, joints: tuple[str, ...], source: str) -> Any:
    """Return one checked value, or a tuple with one per joint."""
    many = not isinstance(given, (str, bytes)) and isinstance(given, Sequence)
    if many and len(given) == 1:
        given, many = given[0], False
    if many and not joints:
        raise ConfigError(
            f'{source}: effort.{key} has {len(given)} values: name their joints in effort.joints'
        )
    if many and len(given) != len(joints):
        raise ConfigError(
            f'{source}: effort.{key} needs one value, or one for each of the {len(joints)} joints '
            f'{list(joints)}, got {len(given)}'
        )
    items = tuple(_check_item(key, item, source) for item in (given if many else [given]))
    return items if many else items[0]


def _check_item(key: str, item: Any, source: str) -> str | float:
    if key in WORDS:
        if item is False and 'N' in WORDS[key]:
            item = 'N'  # YAML 1.1, and so ROS, reads a plain N as "no"
        if item not in WORDS[key]:
            raise ConfigError(
                f'{source}: effort.{key} must be one of {_list(WORDS[key])}, got {item!r}'
            )
        return str(item)
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        raise ConfigError(f'{source}: effort.{key} must be a number, got {item!r}')
    if key == 'direction' and item not in (1, -1):
        raise ConfigError(f'{source}: effort.direction must be 1 or -1, got {item!r}')
    return float(item)
