# SPDX-License-Identifier: Apache-2.0
"""Delivery of torque commands to the drives, according to the state of the controller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

ACTIVE = 'active'
"""Label of the lifecycle state in which a controller passes commands on."""


class Delivery(IntEnum):
    """State of the delivery to the drives; the numbers are those of TorqueState.delivery."""

    UNKNOWN = 0
    DELIVERED = 1
    NOT_DELIVERED = 2


@dataclass(frozen=True)
class TargetState:
    """Known state of a controller.

    :param state: label of its lifecycle state; '': unknown
    :param claimed: command interfaces that it has claimed; None: unknown
    """

    name: str
    state: str = ''
    claimed: tuple[str, ...] | None = None

    def problem(self, joints: Sequence[str]) -> str:
        """Return why torque commands do not reach the drives; '': no reason is known.

        :param joints: joints whose effort interfaces the controller must have claimed
        """
        if self.state not in ('', ACTIVE):
            return f'{self.name} is not active ({self.state})'
        if self.state != ACTIVE or self.claimed is None:
            return ''
        missing = [joint for joint in joints if f'{joint}/effort' not in self.claimed]
        if not missing:
            return ''
        return f'{self.name} does not hold the effort interface of {", ".join(missing)}'

    def delivery(self, joints: Sequence[str]) -> Delivery:
        """Return the state of the delivery of commands for these joints."""
        if self.problem(joints):
            return Delivery.NOT_DELIVERED
        return Delivery.DELIVERED if self.state == ACTIVE else Delivery.UNKNOWN
