# SPDX-License-Identifier: Apache-2.0
"""Random and hostile content for messages, requests and goals of any type."""

from __future__ import annotations

import re
from importlib import import_module
from random import Random
from typing import Any

NUMBERS = (float('nan'), float('inf'), float('-inf'), 1e308, -1e308, 1e-320, 0.0, -0.0, -1.0, 1e9,
           1e5, 0.1)  # fmt: skip
WORDS = ('', ' ', '\n', 'x' * 80, 'n' * 256, 'd/' * 2000, 'y' * 100_000, '..', '/', '/dev/zero',
         '/dev/stdin', '/etc/passwd', '~nobody/x', 'package://none/x', 'ä😀', '%s%n', '{0}',
         'joint1', 'joint2', 'joint1', 'joint2', 'feedforward', 'base_link', '*a', '[' * 3000,
         'use_sim_time', 'nan', '1')  # fmt: skip
LENGTHS = (0, 1, 2, 2, 2, 2, 2, 3, 6, 7)
HUGE = 3000
"""Length of one list in fifty."""
SHORT = 300
"""Longest word in a long list: the hostile part is its length."""
BITS = {'int8': 8, 'int16': 16, 'int32': 32, 'int64': 64}


def type_of(name: str) -> Any:
    """Return the class of a type such as 'std_srvs/srv/Trigger'; without the middle: a message."""
    parts = name.split('/')
    package, kind = parts[0], parts[1] if len(parts) == 3 else 'msg'
    found = getattr(import_module(f'{package}.{kind}'), parts[-1], None)
    return found if found is not None else _action_part(package, parts[-1])


def _action_part(package: str, name: str) -> Any:
    """Return a hidden service of an action, such as Excite_SendGoal."""
    action, _, part = name.rpartition('_')
    return getattr(getattr(import_module(f'{package}.action'), action).Impl, f'{part}Service')


class Hostile:
    """Maker of values of ROS types."""

    def __init__(self, random: Random, words: tuple[str, ...] = ()) -> None:
        """`words`: further ones, such as paths that exist."""
        self.random, self.words = random, (*WORDS, *words)

    def spoil(self, message: Any, share: float = 0.4, depth: int = 0) -> Any:
        """Give some fields of a message other values; return the message."""
        for name, kind in message.get_fields_and_field_types().items():
            if '/' in kind and 'sequence' not in kind and '[' not in kind:
                self.spoil(getattr(message, name), share, depth + 1)
            elif self.random.random() < share:
                value = self.value(kind, depth)
                if value is not None:
                    setattr(message, name, value)
        return message

    def value(self, kind: str, depth: int) -> Any:
        """Return a value of a type; None: of no use."""
        if found := re.fullmatch(r'sequence<(.*?)(?:, (\d+))?>', kind):
            most = int(found[2] or 10**6)
            huge = self.random.random() < 0.02
            length = min(HUGE if huge else self.random.choice(LENGTHS), most)
            return self._many(found[1], length, depth)
        if found := re.fullmatch(r'(.*)\[(\d+)\]', kind):
            return self._many(found[1], int(found[2]), depth)
        return self._one(kind, depth)

    def _many(self, kind: str, length: int, depth: int) -> list[Any]:
        if depth > 2 and '/' in kind:
            length = min(length, 2)
        same = self.random.random() < 0.5
        if same or length > 100:
            some = [self._one(kind, depth) for _ in range(min(length, 3))]
            if length > 100 and kind.startswith('string'):
                some = [word[:SHORT] for word in some]
            return [some[i % len(some)] for i in range(length)]
        return [self._one(kind, depth) for _ in range(length)]

    def _one(self, kind: str, depth: int) -> Any:
        if kind in ('double', 'float'):
            value = self.random.choice((*NUMBERS, self.random.gauss(0.0, 3.0)))
            return value if kind == 'double' or abs(value) < 1e38 else 3e38
        if kind == 'boolean':
            return self.random.random() < 0.5
        if kind.startswith(('string', 'wstring')):
            return self.random.choice(self.words)
        if kind == 'octet':
            return bytes([self.random.randrange(256)])
        signed = kind.removeprefix('u')
        if signed in BITS:
            return self._integer(BITS[signed], signed == kind)
        return self.spoil(type_of(kind)(), 0.7, depth + 1)

    def _integer(self, bits: int, signed: bool) -> int:
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        near = (0, 1, 2, 3, 4, 5, 10, 77, 99_999, low, high)
        return min(max(self.random.choice(near), low), high)
