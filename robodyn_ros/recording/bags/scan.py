# SPDX-License-Identifier: Apache-2.0
"""Interface of the readers of bags."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path


class Scan(ABC):
    """Reader of the messages of one topic.

    While it reads, `topics` gets the message type of every topic, `definitions` the format and
    text of every type, `damage` descriptions of errors, and `count` the number of messages.
    `expected` is the number that the bag claims, 0: unknown.
    """

    def __init__(self, path: Path, topic: str, msgtype: str = '') -> None:
        """Store the arguments; the file is opened by `messages`.

        :param topic: '': read no messages, only what is in the file
        :param msgtype: type of the topic; '': any
        """
        self.path, self.topic, self.msgtype = path, topic, msgtype
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
        return topic == self.topic and self.msgtype in ('', msgtype)
