# SPDX-License-Identifier: Apache-2.0
"""Push of the simulated robot, as a parameter of the cell gives it."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn_ros.errors import CellError

FORM = '[LINK] SECONDS FX FY FZ [TX TY TZ]'


@dataclass(frozen=True)
class Push:
    """Force and torque on a link for some time; `RobotCell.push` checks the values.

    :param duration: in [s]
    :param force: at the centre of mass of the link, world frame, in [N]
    :param torque: world frame, in [Nm]
    """

    link: str
    duration: float
    force: tuple[float, ...]
    torque: tuple[float, ...] = (0.0, 0.0, 0.0)

    @classmethod
    def parse(cls, text: str) -> Push:
        """Read a text of the form `FORM`.

        :raises CellError: another number of words, or a word that is no number
        """
        words = text.split()
        link = words.pop(0) if len(words) in (5, 8) else ''
        try:
            duration, *wrench = map(float, words)
        except ValueError:
            wrench = []
        if len(wrench) not in (3, 6):
            raise CellError(f"a push is '{FORM}' in s, N and Nm, got {text!r}")
        return cls(link, duration, tuple(wrench[:3]), tuple(wrench[3:]) or cls.torque)

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        numbers = ' '.join(map(repr, (self.duration, *self.force, *self.torque)))
        return f'{self.link} {numbers}'.strip()
