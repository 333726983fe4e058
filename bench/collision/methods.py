# SPDX-License-Identifier: Apache-2.0
"""Methods to compare: each gives the largest error of a robot relative to its thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from robodyn_ros.analysis.thresholds.learn import Learning, learn
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.threshold_map import ThresholdMap
from robodyn_ros.models.interface import Array


def debounced(ratio: Array, debounce: int) -> Array:
    """Return the largest ratio that some joint keeps for `debounce` samples, (N,)."""
    held = ratio.copy()
    for back in range(1, debounce):
        np.minimum(held[back:], ratio[:-back], out=held[back:])
        held[:back] = 0.0
    return np.asarray(held.max(axis=1))


def ratio(session: Session, threshold: Array, method: Method) -> Array:
    """Return the largest residual of a session relative to its thresholds, shape (N,).

    :param threshold: of the method, shape (N, n)
    """
    found = session.residual / threshold
    if method.change is not None:
        found = np.fmax(found, session.change / method.change)
    return debounced(found * session.used[:, None], method.debounce)


class Method(Protocol):
    """Thresholds for the residual of a session."""

    @property
    def debounce(self) -> int:
        """Consecutive samples above a threshold that count."""

    @property
    def change(self) -> Array | None:
        """Thresholds of the change at rest, shape (n,); None: there are none."""

    def threshold(self, session: Session) -> Array:
        """Return the thresholds in force, shape (N, n)."""


@dataclass(frozen=True)
class Mapped:
    """A learned map.

    :param map: thresholds
    """

    map: ThresholdMap
    debounce: int

    @classmethod
    def learned(
        cls, sessions: Sequence[Session], friction: Array, debounce: int, **options: object
    ) -> Mapped:
        """Learn it."""
        wanted = Learning(debounce=debounce, **options)  # type: ignore[arg-type]
        found = learn(sessions, friction, wanted)
        print(
            f'    {options or ""} layout {found.layout}, {found.hours:.2f} h, at most '
            f'{found.rate:.2f}/h'
        )
        return cls(found.map, debounce)

    @property
    def change(self) -> Array | None:
        """Thresholds of the change at rest, shape (n,)."""
        return self.map.change

    def without_change(self) -> Mapped:
        """Return the same without the change at rest: the ablation."""
        return replace(self, map=replace(self.map, change=None))

    def threshold(self, session: Session) -> Array:
        """Return the thresholds in force, shape (N, n)."""
        return self.map.at(*session.motion(self.map.bands.still))


@dataclass(frozen=True)
class Constant:
    """Constant thresholds as `propose_thresholds` makes them, raised around standstill."""

    settings: CollisionSettings
    collision: Array
    extra: Array
    change: None = None

    @property
    def debounce(self) -> int:
        """Consecutive samples above a threshold that count."""
        return self.settings.debounce

    @classmethod
    def learned(
        cls, sessions: Sequence[Session], friction: Array, settings: CollisionSettings
    ) -> Constant:
        """Take the largest errors while moving and around standstill."""
        fast, slow = np.zeros((2, len(friction)))
        for each in sessions:
            slowness = _slowness(each, settings)
            size = each.residual[each.used]
            near = slowness[each.used] > 0.3
            fast = np.maximum(fast, np.where(near, 0.0, size).max(axis=0))
            scaled = size / np.maximum(slowness[each.used], 0.3)
            slow = np.maximum(slow, np.where(near, scaled, 0.0).max(axis=0))
        slow = np.maximum(slow, friction)
        return cls(settings, 1.6 * fast, np.maximum(1.6 * (slow - fast), 0.0))

    def threshold(self, session: Session) -> Array:
        """Return the thresholds in force, shape (N, n)."""
        return np.asarray(self.collision + _slowness(session, self.settings) * self.extra)


@dataclass(frozen=True)
class Largest:
    """The largest values of the sessions to learn from, for each joint."""

    most: Array
    debounce: int = 2
    change: None = None

    @classmethod
    def learned(cls, sessions: Sequence[Session]) -> Largest:
        """Take them."""
        return cls(np.max([each.residual.max(axis=0) for each in sessions], axis=0))

    def threshold(self, session: Session) -> Array:
        """Return the thresholds in force, shape (N, n)."""
        return np.broadcast_to(self.most, session.residual.shape)


def _slowness(session: Session, settings: CollisionSettings) -> Array:
    speed = np.abs(session.velocity)
    slow = np.clip(2.0 - speed / np.asarray(settings.low_velocity), 0.0, 1.0)
    fade = settings.period / settings.low_velocity_hold
    held = slow.copy()
    for back in range(1, int(1.0 / fade) + 1):
        np.maximum(held[back:], slow[:-back] - back * fade, out=held[back:])
    return held
