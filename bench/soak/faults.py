# SPDX-License-Identifier: Apache-2.0
"""Random faults of a soak, of a process, a stream of messages or a clock."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

NODES = ('cell', 'feedforward', 'collision_monitor', 'recorder')
STREAMS = ('reference', 'joint_states')
WEIGHTS = {
    'stop': 4, 'kill': 2, 'lost': 3, 'late': 3, 'twice': 2, 'spoilt': 3, 'frozen': 2,
    'stamps': 2, 'clock': 2, 'reset': 1,
}  # fmt: skip
"""Kind -> how often, relative to the others."""
KINDS = {
    'lost': 'drop', 'late': 'delay', 'twice': 'duplicate', 'spoilt': 'corrupt',
    'frozen': 'freeze', 'stamps': 'clock',
}  # fmt: skip
"""Faults of streams, by their name in the cell."""
SHIFTS = (-3600.0, -2.0, -0.01, 0.01, 0.5, 3600.0)
"""Errors of stamps and jumps of clocks, in [s]."""


@dataclass(frozen=True)
class SoakFault:
    """A fault.

    :param kind: one of WEIGHTS
    :param target: node or stream; '' for a fault of the cell
    :param seconds: duration
    :param size: delay or error of a stamp, in [s]
    """

    kind: str
    target: str
    seconds: float
    size: float = 0.0

    def __str__(self) -> str:
        size = f' {self.size:.3g}' if self.size else ''
        return f'{self.kind} {self.target} {self.seconds:.3g}{size}'

    @property
    def injected(self) -> str:
        """The cell's parameter `fault` for it."""
        return f'{self.target} {KINDS[self.kind]} {self.seconds:.4f} {self.size:.4f}'


def drawn(random: Random) -> SoakFault:
    """Draw a fault that lasts from 10 ms to 3 s."""
    (kind,) = random.choices(list(WEIGHTS), list(WEIGHTS.values()))
    seconds = 10.0 ** random.uniform(-2.0, 0.5)
    if kind in ('stop', 'kill'):
        return SoakFault(kind, random.choice(NODES), seconds)
    if kind == 'clock':
        node = random.choice(('collision_monitor', 'recorder'))
        return SoakFault(kind, node, seconds, random.choice(SHIFTS))
    if kind == 'reset':
        return SoakFault(kind, '', 0.0)
    size = random.choice(SHIFTS) if kind == 'stamps' else 10.0 ** random.uniform(-3.0, 0.0)
    return SoakFault(kind, random.choice(STREAMS), seconds, size)
