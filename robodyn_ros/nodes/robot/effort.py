# SPDX-License-Identifier: Apache-2.0
"""Parameters `effort.*`: unit, side, gravity and drive facts of the effort fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rclpy.node import Node

from robodyn_ros.control.effort.declaration import KEYS, EffortDeclaration, missing_declaration
from robodyn_ros.control.effort.joint_effort import GRAVITY, SIDES, UNITS, EffortConversion
from robodyn_ros.control.effort.recorded import in_si_units
from robodyn_ros.control.effort.units import MECHANICS, OBJECTS
from robodyn_ros.control.torque_limits import torque_limit
from robodyn_ros.errors import ConfigError
from robodyn_ros.models.interface import Array, DynamicModel, Joint
from robodyn_ros.nodes.base.common import declare_open, log_limit, overrides, source_of
from robodyn_ros.recording.recording import Recording

PREFIX = 'effort.'
TEXTS = {
    'joints': 'joint names for the lists in effort.*',
    'unit': f'unit of `effort` in joint states: {", ".join(UNITS)}',
    'command_unit': 'unit of effort commands; default: effort.unit',
    'side': f'side on which the torque acts: {", ".join(SIDES)}',
    'gravity': f'gravity torque in the effort of joint states: {", ".join(GRAVITY)}',
    'command_gravity': f'gravity torque in effort commands: {", ".join(GRAVITY)} (the robot adds '
    'it itself); default: effort.gravity',
    'direction': '1, or -1 if a positive effort drives the joint backwards',
    **{
        name: f'fact of the drive, object {index:#06x} [{unit}]'
        for name, (index, unit) in OBJECTS.items()
    },
    **{name: f'transmission from motor to joint [{unit}]' for name, unit in MECHANICS.items()},
}


class EffortParameters:
    """Declaration of the effort in the parameters of a node; one value, or one per joint."""

    def __init__(self, node: Node) -> None:
        """Declare the parameters.

        :raises ConfigError: a parameter has no such name, or cannot be used
        """
        self._node = node
        for name in overrides(node):
            if name.startswith(PREFIX) and name[len(PREFIX) :] not in KEYS:
                raise ConfigError(
                    f'there is no parameter {name!r}{source_of(node, name)}, there are: '
                    f'{", ".join(KEYS)}'
                )
        given = {key: self._declare(key) for key in KEYS}
        given = {key: value for key, value in given.items() if value is not None}
        self.declaration: EffortDeclaration | None = None
        if given:
            where = source_of(node, PREFIX + next(iter(given)))
            source = f'the parameters of {node.get_name()}{where}'
            self.declaration = EffortDeclaration.from_mapping(given, source=source)

    def _declare(self, key: str) -> Any:
        text = TEXTS[key] if key == 'joints' else f'{TEXTS[key]}; one value or one per joint'
        return declare_open(self._node, PREFIX + key, text)

    def for_joints(self, joints: Sequence[str] | Sequence[Joint]) -> EffortConversion:
        """Return the conversion for these joints; see `EffortDeclaration.for_joints`.

        :raises ConfigError: nothing is declared; the message says what to declare
        """
        return self.checked.for_joints(joints)

    @property
    def checked(self) -> EffortDeclaration:
        """The declaration.

        :raises ConfigError: nothing is declared; the message says what to declare
        """
        if self.declaration is None:
            raise missing_declaration('the joint states')
        return self.declaration

    def in_si_units(
        self,
        recording: Recording,
        path: str | Path,
        model: DynamicModel | None = None,
        *,
        columns: Mapping[str, object] | None = None,
    ) -> Recording:
        """Return a recording read from `path` in Nm or N; see `control.effort.recorded`."""
        declared = [] if self.declaration is None else [self.declaration]
        return in_si_units(recording, path, declared, model, columns=columns)

    def metadata(self) -> dict[str, str]:
        """Return the metadata of a bag that declare its efforts; empty without a declaration."""
        return {} if self.declaration is None else self.declaration.metadata()


def declare_torque_limit(node: Node, name: str, text: str) -> Any:
    """Declare `torque_max` or `torque_threshold` and return its value; None: not given."""
    value = declare_open(
        node,
        name,
        f'{text} [Nm or N], one value or one per joint; or rated or peak: the torque at the rated '
        'or peak current of the drive (effort.*)',
    )
    log_limit(node, name, value)
    return value


def read_torque_limit(
    name: str, given: Any, joints: Sequence[str], effort: EffortParameters
) -> Array | None:
    """Convert a value of `declare_torque_limit` to a limit, shape (n,), in [Nm] or [N], or None.

    :raises ConfigError: it cannot be used
    """
    conversion = effort.for_joints(joints) if isinstance(given, str) else None
    return torque_limit(name, given, joints, conversion)


def convert_watched_torque(
    joints: Sequence[str], limit: Array | None, effort: EffortParameters
) -> EffortConversion | None:
    """Return the conversion of the feedback for torque_threshold; None: without limit.

    :raises ConfigError: the effort is not declared, or has no gravity, so that it is not the
        torque of the drive
    """
    if limit is None:
        return None
    conversion = effort.for_joints(joints)
    if conversion.gravity_excluded.any():
        joint = conversion.joints[int(conversion.gravity_excluded.argmax())]
        raise ConfigError(
            f'torque_threshold needs the complete torque of the drives, but the effort of joint '
            f'{joint!r} is declared without gravity'
        )
    return conversion
