# SPDX-License-Identifier: Apache-2.0
"""Learned thresholds of a detector: the ramp law for one sample after the other."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.control.collision.filtered_residual import FilteredResidual
from robodyn_ros.control.collision.ramp_law import LEVEL, MEMORY, ErrorSamples, RampLaw, RampScores
from robodyn_ros.models.interface import Array


class RampThresholds:
    """Comparison of the scores of a law with its thresholds; attributes as of `Thresholds`.

    Thresholds are those of the score `LEVEL`, the torque error without its conditional mean.
    `compared` is the largest score relative to its threshold, times that one. Scores find the
    start of a contact and forget it; therefore a contact that was found lasts until its torque is
    less than the smallest ramp that is found, at most for `MEMORY`. At rest, where changes start
    anew, the torque error is compared with its threshold at standstill, too.
    """

    def __init__(
        self, law: RampLaw, contact: float, enabled: NDArray[np.bool_] | None = None
    ) -> None:
        """Start with the thresholds of standstill.

        :param contact: contact thresholds relative to the collision thresholds, 0..1
        :param enabled: monitored joints, bool of shape (n,); None: all
        """
        self.law, self._scores = law, RampScores(law, enabled)
        self._enabled = np.ones(len(law.fastest), dtype=bool) if enabled is None else enabled
        self._share = contact
        self._still = law.single * law.scale[:, law.bands.moving, LEVEL]
        self.collision = self._still.copy()
        self.contact = contact * self.collision
        self.compared, self.external, self._before = np.zeros((3, len(self.collision)))
        self._end = -math.inf

    @property
    def highest(self) -> Array:
        """Largest collision thresholds of all cells, shape (n,), in [Nm] or [N]."""
        return np.asarray(self.law.single * self.law.scale[:, :, LEVEL].max(axis=1))

    def restart(self, stamp: float) -> None:
        """Start after a gap."""
        self._scores.restart(stamp)
        self._end = -math.inf

    def update(
        self, stamp: float, residual: FilteredResidual, *, settled: bool, rests: bool
    ) -> None:
        """Take a sample, see `Thresholds`."""
        samples = ErrorSamples(
            np.array([stamp]), residual.position[None], residual.velocity[None],
            residual.acceleration[None], residual.torque_error[None], np.array([rests]),
        )  # fmt: skip
        if not settled:
            self._scores.settle(samples)
            self.compared[:] = self.external[:] = 0.0
            return
        with np.errstate(all='ignore'):  # the detector refuses what is not finite
            self._scores.take(samples)
            single, joint = self._scores.ratios()
            self._compare(stamp, single[0], float(joint[0]))

    def _compare(self, stamp: float, ratio: Array, together: float) -> None:
        scores = self._scores
        error = scores.error[0] + scores.origin
        worst = int(np.argmax(ratio * self._enabled))
        ratio[worst] = max(ratio[worst], together)
        np.multiply(scores.scale[0, :, LEVEL], self.law.single, out=self.collision)
        np.multiply(self.collision, self._share, out=self.contact)
        if ratio[self._enabled].max(initial=0.0) > 1.0 and stamp >= self._end:
            self._before[:], self._end = scores.usual_error() + scores.origin, stamp + MEMORY
        held = stamp < self._end
        np.subtract(error, self._before if held else scores.origin, out=self.external)
        if held:
            lasting = np.abs(self.external) / scores.smallest_ramps()
            np.maximum(ratio, lasting, out=ratio)
            if ratio[self._enabled].max(initial=0.0) < self._share:
                self._end = -math.inf
        rests, level = scores.level_at_rest()
        if rests[0]:
            lasting = np.abs(level[0]) / self._still
            np.copyto(self.external, level[0], where=lasting > np.maximum(ratio, self._share))
            np.maximum(ratio, lasting, out=ratio)
        np.copysign(ratio * self.collision, self.external, out=self.compared)
