# SPDX-License-Identifier: Apache-2.0
"""Drives that go off: the torque of all joints falls to zero together, which no contact does."""

from __future__ import annotations

import numpy as np

from robodyn_ros.models.interface import Array

BEFORE, MOVING = 0.2, 0.05
"""Age of the torque that the present one is compared with, at rest and in motion, in [s]: before
the fall. In motion the torque changes by itself."""
LONGEST, BRAKING = 0.2, 0.06
"""Longest fall, and time within which the robot must have become slower, in [s]. A contact that
looks like a fall of all torques is reported that much later."""
LEFT, BACK = 0.1, 0.9
"""Share of the torque before at which drives are off, and at which they are on again."""
HELD, STEADY, CHANGE = 0.5, 0.1, 0.05
"""Share above which they are on again once it has been the same for a time, in [s], but for a
change: static friction can hold the remainder. With less, a brake may hold it: they are on again
once the robot has moved with more than `LEFT` for that time."""
NOISE, SMALL, ALIKE = 0.15, 0.05, 0.25
"""Noise relative to the thresholds, at most a share of the largest torque; difference of the
joints' falls relative to the fall."""
SAME = 0.9
"""Smallest cosine of the angle between the torque error and the torque before, over the joints, at
rest. In motion brakes add to the torque error."""
LOADED, LITTLE = 4.0, 6.0
"""Torque relative to the noise above which a fall counts, and below which a joint cannot
contradict. Two must count: one alone can be a contact."""
LOST = 1.0
"""Torque error relative to the noise of a fall that counts: the motion does not explain it."""


class DrivesOff:
    """Comparison of the torque feedback with a share, the same of all joints, of that before.

    :ivar off: the drives are off
    :ivar held: a part of the torque is back, but the robot has not moved
    """

    def __init__(self, width: int, period: float) -> None:
        """Reserve the memory."""
        self._ring = np.zeros((max(2, round(BEFORE / period)), 2, width))
        self._period = period
        self.restart()

    def _end(self) -> bool:
        self.off = self.held = False
        self._falling = self._same = self._moved = 0
        return False

    def restart(self) -> None:
        """Start after a gap."""
        self._end()
        self._samples, self._share = 0, 0.0
        self._age = len(self._ring)

    def push(self, torque: Array, velocity: Array) -> None:
        """Take torque feedback and velocity of a sample, shape (n,)."""
        if self._falling:
            self._falling += 1
            return
        row = self._ring[self._samples % len(self._ring)]
        row[0], row[1] = torque, velocity
        self._samples += 1

    def falls(
        self, torque: Array, velocity: Array, threshold: Array, low: Array, error: Array
    ) -> bool:
        """Return True if the torques of all joints fall, or have fallen (`off`).

        :param threshold: of the torque error, shape (n,), in [Nm] or [N]
        :param low: largest velocity at rest, shape (n,), in [rad/s] or [m/s]
        :param error: torque error, shape (n,)
        """
        if not self._falling:
            rests = (np.abs(velocity) <= low).all()
            self._age = len(self._ring) if rests else max(2, round(MOVING / self._period))
        before, moved = self._ring[(self._samples - self._age) % len(self._ring)]
        noise = np.minimum(NOISE * threshold, SMALL * np.abs(before).max() + 1e-300)
        usual, now = before / noise, torque / noise
        share = float(usual @ now / max(usual @ usual, 1e-300))
        alike = np.abs(now - share * usual) <= 2.0 + ALIKE * (1.0 - share) * np.abs(usual)
        lost = error / noise
        fell = alike & (np.abs(usual) > LOADED) & (np.abs(lost) > LOST)
        if self._samples < len(self._ring) or int(fell.sum()) < 2:
            return self._end()
        alike |= np.maximum(np.abs(usual), np.abs(now)) <= LITTLE  # friction turns
        moves = self._age < len(self._ring)
        missing = usual @ lost > SAME * np.sqrt((usual @ usual) * (lost @ lost))
        if not (missing or moves or self.off) or not (-LEFT <= share < BACK and alike.all()):
            return self._end()
        self._same = self._same + 1 if abs(share - self._share) < CHANGE else 0
        if not self._same:
            self._share = share
        turns = bool((np.abs(velocity) > low).any())
        self._moved = self._moved + 1 if turns and share > LEFT else 0
        steady = self._same * self._period >= STEADY
        self.held = self.off and steady and share > LEFT
        back = share > HELD and (steady or turns)
        if self.off and (back or self._moved * self._period > STEADY):
            return self._end()
        self._falling = max(self._falling, 1)
        self.off |= share <= LEFT
        time = self._falling * self._period
        slower = np.abs(velocity) <= np.maximum(low, BACK * np.abs(moved))
        return self.off or (time <= LONGEST and (time <= BRAKING or bool(slower.all())))
