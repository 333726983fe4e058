# SPDX-License-Identifier: Apache-2.0
"""Methods to compare: each gives the largest value of a robot relative to its thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from robodyn_ros.analysis.thresholds.learn import Learned, Learning, learn
from robodyn_ros.analysis.thresholds.moments import chunks
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.models.interface import Array


class Method(Protocol):
    """Detection in a session."""

    def ratio(self, session: Session) -> Array:
        """Return the largest value relative to its threshold, shape (N,)."""


def held(ratio: Array, session: Session, debounce: int) -> Array:
    """Return the largest ratio that some joint keeps for `debounce` samples, (N,)."""
    ratio = ratio * session.used[:, None]
    found = ratio.copy()
    for back in range(1, debounce):
        np.minimum(found[back:], ratio[:-back], out=found[back:])
        found[:back] = 0.0
    return np.asarray(found.max(axis=1))


@dataclass(frozen=True)
class Ramps:
    """The learned law.

    :param parts: combinations that count: 0 single joints, 1 all joints
    """

    learned: Learned
    parts: tuple[int, ...] = (0, 1)

    @classmethod
    def of(
        cls, sessions: Sequence[Session], period: float, friction: Array, options: Learning
    ) -> Ramps:
        """Learn it."""
        return cls(learn(sessions, period, friction, options))

    def ratio(self, session: Session) -> Array:
        """Return the larger one of both combinations."""
        found = np.zeros(len(session.time))
        for scores, rows in chunks(session, self.learned.law):
            single, joint = scores.ratios()
            both = [single.max(axis=1), joint]
            found[rows] = np.max([both[k] for k in self.parts], axis=0)
        return found * session.used


@dataclass(frozen=True)
class Constant:
    """Constant thresholds as `propose_thresholds` makes them, raised around standstill."""

    settings: CollisionSettings
    collision: Array
    extra: Array

    @classmethod
    def learned(
        cls, sessions: Sequence[Session], friction: Array, settings: CollisionSettings
    ) -> Constant:
        """Take the largest errors while moving and around standstill."""
        fast, slow = np.zeros((2, len(friction)))
        for each in sessions:
            slowness = _slowness(each, settings)
            size = np.abs(each.samples.error[each.used])
            near = slowness[each.used] > 0.3
            fast = np.maximum(fast, np.where(near, 0.0, size).max(axis=0))
            scaled = size / np.maximum(slowness[each.used], 0.3)
            slow = np.maximum(slow, np.where(near, scaled, 0.0).max(axis=0))
        slow = np.maximum(slow, friction)
        return cls(settings, 1.6 * fast, np.maximum(1.6 * (slow - fast), 0.0))

    def ratio(self, session: Session) -> Array:
        """Return the largest ratio that is held."""
        threshold = self.collision + _slowness(session, self.settings) * self.extra
        return held(np.abs(session.samples.error) / threshold, session, self.settings.debounce)


@dataclass(frozen=True)
class Largest:
    """The largest values of the sessions to learn from, for each joint."""

    most: Array

    @classmethod
    def learned(cls, sessions: Sequence[Session]) -> Largest:
        """Take them."""
        return cls(np.max([np.abs(s.samples.error[s.used]).max(axis=0) for s in sessions], axis=0))

    def ratio(self, session: Session) -> Array:
        """Return the largest ratio that is held."""
        return held(np.abs(session.samples.error) / self.most, session, 2)


def _slowness(session: Session, settings: CollisionSettings) -> Array:
    speed = np.abs(session.samples.velocity)
    slow = np.clip(2.0 - speed / np.asarray(settings.low_velocity), 0.0, 1.0)
    fade = settings.period / settings.low_velocity_hold
    kept = slow.copy()
    for back in range(1, int(1.0 / fade) + 1):
        np.maximum(kept[back:], slow[:-back] - back * fade, out=kept[back:])
    return kept
