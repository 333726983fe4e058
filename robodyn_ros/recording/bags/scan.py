# SPDX-License-Identifier: Apache-2.0
"""Interface of the readers of bags."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

Messages = Iterator[tuple[int, bytes]]


@dataclass(frozen=True)
class BagPart:
    """Messages of a bag that belong to a recording.

    :param first: time at which the bag received the first one, in [ns]
    :param last: the same of the last one
    :param rename: rules for the names of joints
    """

    first: int = -(2**63)
    last: int = 2**63
    rename: tuple[str, ...] = ()

    def select(self, messages: Messages) -> Messages:
        """Yield the messages of any topic that came meanwhile, or a second before or after it."""
        for time, data in messages:
            if self.first - 10**9 <= time <= self.last + 10**9:
                yield time, data


class Scan(ABC):
    """Reader of the messages of one topic.

    While it reads, `topics` gets the message type of every topic, `definitions` the format and
    text of every type, `damage` descriptions of errors, and `count` the number of messages.
    `expected` is the number that the bag claims, 0: unknown.
    """

    def __init__(self, path: Path, topic: str, kinds: Collection[str] = ()) -> None:
        """Store the arguments; the file is opened by `messages`.

        :param topic: '': read no messages, only what is in the file
        :param kinds: types that the topic may have; none: any
        """
        self.path, self.topic, self.kinds = path, topic, kinds
        self.topics: dict[str, str] = {}
        self.definitions: dict[str, tuple[str, str]] = {}
        self.damage: list[str] = []
        self.count = self.expected = 0
        self.reading = f'reading {path.name}'

    @abstractmethod
    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield time in the bag, in [ns], and bytes, in the order of recording."""

    def add_topic(self, topic: str, msgtype: str) -> bool:
        """Store a topic; return True if its messages are wanted."""
        self.topics[topic] = msgtype
        return topic == self.topic and (not self.kinds or msgtype in self.kinds)
