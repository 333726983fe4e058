# SPDX-License-Identifier: Apache-2.0
"""Payload that is picked up or put down: a change of the torque error like that of a mass."""

from __future__ import annotations

import numpy as np

from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import Payload, PayloadModel

BEFORE, WAIT = 0.2, 0.5
"""Age of the torque error that the present one is compared with, and time for which the change
must be that of one payload, in [s]."""
NOISE, REACH, CORRELATED = 0.2, 0.1, 20.0
"""Noise relative to the thresholds; usual distance of the centre of mass from the frame, in [m];
samples that count as one independent sample."""
LARGEST = 3.0
"""Largest difference between a change and that of the payload, relative to the noise."""
NAMED = 30.0
"""Largest mass that is named, in [kg], if none is adopted."""
SURE = 1.2
"""Largest mass that is put down, relative to what was adopted: its estimate has an error."""


class PayloadChange:
    """Weighted least squares of the change of the torque error on mass and first moments.

    At rest a hand that pulls down has the torques of a payload. Without a limit a payload is
    therefore only named, and remains a collision.

    :ivar adopts: there is a limit
    :ivar adopted: mass of the changes that monitoring goes on with, in [kg]: the next one may take
        it to at most the limit, or down to nothing
    :ivar picked: payload after the change, once it is known; negative mass: it was put down
    :ivar interval: half of the 95 % interval of its mass, in [kg]
    :ivar message: one sentence
    """

    def __init__(self, arm: DynamicModel, limit: float, period: float, *, frame: str = '') -> None:
        """Reserve the memory.

        :param limit: largest mass that is adopted, in [kg]; 0: it is only named
        :param frame: link of the payload; '': the last one
        :raises ModelError: the arm cannot carry a payload
        """
        self.adopted, self.adopts = 0.0, limit > 0.0
        limit = limit or NAMED
        self.model, self._limit, self._period = PayloadModel(arm=arm, frame=frame), limit, period
        self._width = 4 if len(self.model.parameters) == 10 else 1
        prior = limit * np.array([1.0, REACH, REACH, REACH])[: self._width]
        self._prior = np.diag(prior**-2.0)
        self._ring = np.zeros((max(2, round(BEFORE / period)), len(arm.joints)))
        self.restart()

    def restart(self) -> None:
        """Start after a gap, or with another payload."""
        self.picked: Payload | None = None
        self.interval, self.message = float('nan'), ''
        self._taken = 0
        self._end()

    def _end(self) -> bool:
        self._samples = 0
        self._square = np.zeros((self._width, self._width))
        self._product = np.zeros(self._width)
        return False

    def push(self, error: Array) -> None:
        """Take the torque error of a sample without contact, shape (n,), in [Nm] or [N]."""
        if self._samples:
            self._end()
        self._ring[self._taken % len(self._ring)] = error
        self._taken += 1

    def explains(self, motion: tuple[Array, Array, Array], error: Array, threshold: Array) -> bool:
        """Return True if a payload within the limit explains the torque error.

        :param motion: position, velocity and acceleration, shape (n,) each
        :param error: torque error, shape (n,), in [Nm] or [N]
        :param threshold: its threshold, shape (n,)
        """
        if self._taken < len(self._ring) or not np.isfinite(error).all():
            return False
        now, change, columns = self._fit(motion, error, threshold)
        if not self._like(now, change - columns @ now):
            return self._end()
        self._samples += 1
        if self._samples * self._period > 0.5 * WAIT:  # it has been lifted
            self._square += columns.T @ columns / CORRELATED
            self._product += columns.T @ change / CORRELATED
        if self._samples * self._period < WAIT:
            self.message = f'the torque changed like that of a payload of {now[0]:.2g} kg'
            return True
        inverse = np.linalg.inv(self._square + self._prior)
        mean = inverse @ self._product
        self.interval = 2.0 * float(np.sqrt(inverse[0, 0]))
        if not self._like(mean, change - columns @ mean) or not abs(mean[0]) > self.interval:
            return self._end()
        values = np.zeros(len(self.model.parameters))
        values[: self._width] = mean
        self.picked = Payload(self.model, values)
        what = 'picked up' if mean[0] > 0.0 else 'put down'
        self.message = f'payload of {abs(mean[0]):.2g} +- {self.interval:.1g} kg {what}'
        return True

    def name(self, motion: tuple[Array, Array, Array], error: Array, threshold: Array) -> str:
        """Return what the change looks like now, or '': of a collision; as `explains`."""
        if self.adopts or self._taken < len(self._ring) or not np.isfinite(error).all():
            return ''
        now, change, columns = self._fit(motion, error, threshold)
        if not now[0] > 0.0 or not self._like(now, change - columns @ now):
            return ''
        return (
            f'; it looks like a payload of {now[0]:.2g} kg, or a hand that pulls down: '
            f'adopt_payload allows payloads'
        )

    def _fit(
        self, motion: tuple[Array, Array, Array], error: Array, threshold: Array
    ) -> tuple[Array, Array, Array]:
        """Return mass and moments, the change, and its columns, relative to the noise."""
        noise = NOISE * threshold
        # The oldest one: the newest ones may have a part of the change.
        change = (self._ring[self._taken % len(self._ring)] - error) / noise
        columns = self.model.regressor(*(each[None] for each in motion))[0, :, : self._width]
        columns /= noise[:, None]
        now = np.linalg.solve(columns.T @ columns + self._prior, columns.T @ change)
        return now, change, columns

    def _like(self, values: Array, left: Array) -> bool:
        mass = float(values[0])
        near = bool((np.abs(values[1:]) <= 3.0 * REACH * abs(mass)).all())
        within = -SURE * self.adopted <= mass <= self._limit - self.adopted
        return within and near and bool((np.abs(left) <= LARGEST).all())
