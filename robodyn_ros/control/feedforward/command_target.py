# SPDX-License-Identifier: Apache-2.0
"""Check of the target controller against the model, before any torque is applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robodyn_ros.errors import ControlError


@dataclass(frozen=True)
class CommandTarget:
    """The controller that receives the commands, according to its parameters.

    :param interfaces: its command interfaces, e.g. position and effort
    """

    name: str
    joints: tuple[str, ...]
    interfaces: tuple[str, ...]

    def check_trajectories(self, joints: Sequence[str]) -> None:
        """Refuse a controller that does not accept trajectories with effort.

        :raises ControlError: it has no effort interface, or commands other joints
        """
        if 'effort' not in self.interfaces:
            raise ControlError(
                f'{self.name} commands {list(self.interfaces)} and refuses every trajectory that '
                f'has effort: set its command_interfaces to [position, effort], or use the '
                f'controller plugin in place of this node'
            )
        if set(self.joints) != set(joints):
            raise ControlError(
                f'{self.name} commands the joints {list(self.joints)}, the model has '
                f'{list(joints)}'
            )
