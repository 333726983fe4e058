# SPDX-License-Identifier: Apache-2.0
"""Reports of the node around an event: contacts, health of the model, answers to reactions.

The operator saw them. A replay does not need them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn_ros.errors import RecordingError
from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class ContactReport:
    """Contact estimate as the node published it.

    :param time: of the computer, in [ns] since the epoch
    :param stamp: of the sample, in [ns]
    :param wrench: force [N] and torque [Nm] on the robot at the tool, in axes of the frame,
        shape (6,)
    """

    time: int
    stamp: int
    wrench: Array
    text: str


@dataclass(frozen=True)
class Health:
    """Health of the model, as of `HealthReport`.

    :param share: explained torque relative to the threshold of the worst joint
    :param joint: name of that joint, or ''
    :param text: sentence with what to do
    """

    cause: str
    share: float
    joint: str
    text: str


@dataclass(frozen=True)
class Reported:
    """Reports around an event.

    :param health: before the event; None: not known
    :param answers: time of the computer [ns], name of the reaction, and its state from then on
    :param frame: link whose axes the wrenches have
    :param start: time of the computer when the reactions started, in [ns]; 0: not known
    """

    health: Health | None = None
    contacts: tuple[ContactReport, ...] = ()
    answers: tuple[tuple[int, str, str], ...] = ()
    frame: str = ''
    start: int = 0

    def content(self) -> dict[str, Any]:
        """Return what JSON can hold; stamps and wrenches of contacts are messages of the bag."""
        return {
            'health': None if self.health is None else vars(self.health),
            'contacts': [each.text for each in self.contacts],
            'answers': self.answers,
            'frame': self.frame,
            'start': self.start,
        }

    @classmethod
    def from_content(
        cls, content: Mapping[str, Any], wrenches: list[tuple[int, int, Array]]
    ) -> Reported:
        """Read what `content` returned; an event of an earlier version has none.

        :raises RecordingError: texts and wrenches do not fit
        """
        texts = content.get('contacts', [])
        if len(texts) != len(wrenches):
            raise RecordingError(f'it has {len(texts)} contacts, but {len(wrenches)} wrenches')
        return cls(
            health_of(content),
            tuple(
                ContactReport(*wrench, str(text))
                for wrench, text in zip(wrenches, texts, strict=True)
            ),
            tuple(
                (int(at), str(name), str(text)) for at, name, text in content.get('answers', [])
            ),
            str(content.get('frame', '')),
            int(content.get('start', 0)),
        )


def health_of(content: Mapping[str, Any]) -> Health | None:
    """Read the health in what `Reported.content` returned; None: it is not known."""
    health = content.get('health')
    if health is None:
        return None
    cause, joint, text = (str(health[key]) for key in ('cause', 'joint', 'text'))
    return Health(cause, float(health['share']), joint, text)


@dataclass
class Notes:
    """Collection of the reports while a node works; memory is bounded.

    :ivar health: newest health of the model
    :ivar frame: of the contacts
    """

    health: Health | None = None
    frame: str = ''
    _contacts: deque[ContactReport] = field(default_factory=lambda: deque(maxlen=5000))
    _answers: deque[tuple[int, str, str]] = field(default_factory=lambda: deque(maxlen=500))
    _before: Health | None = None
    _start: int = 0
    _last: dict[str, str] = field(default_factory=dict)

    def contact(self, time: int, stamp: int, wrench: Array, text: str) -> None:
        """Note a contact estimate; arguments as of `ContactReport`."""
        self._contacts.append(ContactReport(time, stamp, np.array(wrench), text))

    def restart(self, frame: str) -> None:
        """Forget the reports about another model.

        :param frame: of the contacts from now on
        """
        self.health, self.frame = None, frame
        self._contacts.clear()

    def open(self, start: int) -> None:
        """Start an event: the health of this moment is that before it.

        :param start: time of the computer, in [ns] since the epoch
        """
        self._before, self._start = self.health, start
        self._answers.clear()
        self._last.clear()

    def answer(self, time: int, states: Mapping[str, object]) -> None:
        """Note the state of each reaction where it has changed.

        :param time: of the computer, in [ns] since the epoch
        """
        for name, value in states.items():
            text = str(value)
            if text != self._last.get(name, ''):
                self._last[name] = text
                self._answers.append((time, name, text))

    def since(self, first: int) -> Reported:
        """Return the reports of the event, contacts from a time on, in [ns]."""
        contacts = tuple(each for each in self._contacts if each.time >= first)
        answers = tuple(self._answers)
        return Reported(self._before, contacts, answers, self.frame, self._start)
