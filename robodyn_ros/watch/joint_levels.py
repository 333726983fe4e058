# SPDX-License-Identifier: Apache-2.0
"""Level of each joint as it is shown, and the events of its changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robodyn_ros.watch.events import Events

NO_DATA = -1
WORDS = ('unknown', 'ok', 'contact', 'collision')
"""Names of the levels of CollisionState."""
OK = WORDS.index('ok')
HOLD = 0.5
"""Time after which a better level is shown, in [s]."""
BEST_FIRST = ('ok', 'unknown', 'contact', 'collision')


class JointLevels:
    """Levels and torque errors of the collision monitor.

    A contact may last for one sample. `worst` has it for some time, however short it was: a person
    must see it, and a slow browser skips frames.
    """

    def __init__(self, events: Events, clock: Callable[[], float]) -> None:
        """Start without joints.

        :param clock: steady time, in [s]
        """
        self._events, self._clock = events, clock
        self._shown: list[tuple[int, float]] = []
        self.joints: tuple[str, ...] = ()
        self._level: tuple[int, ...] = ()
        self._worst: list[int] = []
        self._error: Sequence[float] = ()
        self._threshold: Sequence[float] = ()

    def take(
        self,
        names: Sequence[str],
        level: Sequence[int],
        torque_error: Sequence[float],
        threshold: Sequence[float],
        message: str,
    ) -> None:
        """Take one message; a message without one level per joint is UNKNOWN for all."""
        joints, levels = tuple(names), tuple(level)
        count = len(joints)
        if not len(levels) == len(torque_error) == len(threshold) == count:
            levels = (0,) * count  # no error of them is shown
        levels = tuple(each if each < len(WORDS) else 0 for each in levels)
        if joints != self.joints:
            self.joints, self._level, self._worst = joints, (0,) * count, list(levels)
            self._shown = [(OK, 0.0)] * count
        self._error, self._threshold = torque_error, threshold
        if levels == self._level == tuple(self._worst):
            return
        self._worst = list(map(_worse, self._worst, levels))
        if levels != self._level:
            self._report(levels, message)
            self._level = levels

    def worst(self) -> dict[str, int]:
        """Return the worst level of each joint since the last call, or that which is held."""
        now = self._clock()
        self._shown = [
            (level, now + HOLD) if now >= until or _worse(level, held) == level
            else (held, until)
            for level, (held, until) in zip(self._worst, self._shown, strict=True)
        ]  # fmt: skip
        self._worst = list(self._level)
        return {name: level for name, (level, _) in zip(self.joints, self._shown, strict=True)}

    def row(self, joint: str) -> dict[str, float]:
        """Return torque error and threshold of a joint, in [Nm] or [N]; {} while it is UNKNOWN."""
        index = self.joints.index(joint) if joint in self.joints else -1
        if index < 0 or not self._level[index]:
            return {}
        return {'error': self._error[index], 'threshold': self._threshold[index]}

    def _report(self, levels: tuple[int, ...], message: str) -> None:
        """Add an event for each joint that got worse, and for the start and end of monitoring."""
        for index, (old, new) in enumerate(zip(self._level, levels, strict=True)):
            if new > old and new >= WORDS.index('contact'):
                name, word = self.joints[index], WORDS[new]
                text = (
                    f'{word} at {name}: torque error {self._error[index]:.3g}, '
                    f'collision threshold {self._threshold[index]:.3g}'
                )
                severity = 'error' if word == 'collision' else 'warning'
                self._events.add('collision monitor', severity, text, key=f'{word} {name}')
        monitored = any(levels)
        if monitored != any(self._level):
            text = 'joints are monitored' if monitored else f'no joint is monitored: {message}'
            severity = 'info' if monitored else 'warning'
            self._events.add('collision monitor', severity, text, key=f'monitored {monitored}')


def _worse(one: int, other: int) -> int:
    return max(one, other, key=lambda level: BEST_FIRST.index(WORDS[level]))
