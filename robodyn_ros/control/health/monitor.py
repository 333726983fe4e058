# SPDX-License-Identifier: Apache-2.0
"""Health of the model while the robot works: samples in the cycle, mathematics outside of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn_ros.control.health.evidence import Evidence
from robodyn_ros.control.health.explanation import explain
from robodyn_ros.control.health.hypotheses import Cause, hypotheses_of
from robodyn_ros.control.health.report import HealthReport, Reporter
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import PayloadModel


@dataclass(frozen=True)
class HealthSettings:
    """Settings of the health monitor.

    :param sample_period: time between samples, in [s]
    :param window: time of motion that counts, in [s]; older motion is forgotten
    :param blocks: parts of the window that are left out in turn; at least 10
    :param noise: standard deviation of a healthy torque error, relative to its threshold
    :param relevant: smallest explained torque, relative to the threshold, that is reported
    :param low_velocity: a robot moves if a joint is faster, in [rad/s] or [m/s]
    :param gain_uncertainty: standard deviation of the torque gain, as a share; it widens the
        interval of a mass
    """

    sample_period: float = 0.05
    window: float = 8.0
    blocks: int = 20
    noise: float = 0.2
    relevant: float = 0.15
    low_velocity: float = 0.1
    gain_uncertainty: float = 0.0


class HealthMonitor:
    """Explanation of slow torque errors from samples in motion.

    `take` only copies a sample, and is called in each cycle. `process` and `evaluate` are called
    at a few Hz. Memory does not grow.

    :ivar report: newest report
    """

    def __init__(
        self,
        model: DynamicModel,
        torque: ModelTorque,
        settings: HealthSettings | None = None,
    ) -> None:
        """Reserve the memory.

        :param torque: of this model with the values in use
        """
        self._settings = settings = settings or HealthSettings()
        count = len(torque.joints)
        samples = round(settings.window / settings.sample_period / settings.blocks)
        hypotheses = hypotheses_of(model, torque)
        self._evidence = Evidence(
            hypotheses, count, blocks=settings.blocks, block_samples=max(1, samples)
        )
        self._reporter = Reporter(
            torque.joints,
            torque.friction_step,
            settings.noise,
            settings.relevant,
            settings.gain_uncertainty,
            _payload_model(model),
        )
        self._pending = np.zeros((5, 64, count))
        self._count = 0
        self._stamp = -np.inf
        self.clear('too little motion so far')

    def clear(self, reason: str) -> None:
        """Forget all motion, for example because the payload was changed."""
        self._evidence.clear()
        self._count = 0
        self.report = HealthReport(Cause.UNKNOWN, reason)

    def take(self, stamp: float, *signals: Array) -> None:
        """Copy a sample if it is time for one.

        :param stamp: in [s]
        :param signals: position, velocity, acceleration, torque error and threshold in force, each
            of shape (n,), SI; the torque error is model torque minus feedback
        """
        # Stamps are rounded: a sample that is due counts as such.
        if 0.0 <= stamp - self._stamp < 0.999 * self._settings.sample_period:
            return
        if self._count == self._pending.shape[1]:
            return  # not processed in time: new samples are lost, stored ones keep their order
        self._stamp = stamp
        for row, signal in zip(self._pending, signals, strict=True):
            row[self._count] = signal
        self._count += 1

    def process(self) -> None:
        """Condense the samples that were taken while the robot moved."""
        q, qd, qdd, error, threshold = self._pending[:, : self._count]
        self._count = 0
        moving = (np.abs(qd) > self._settings.low_velocity).any(axis=1)
        moving &= np.isfinite(error).all(axis=1)
        if moving.any():
            noise = self._settings.noise * threshold[moving]
            self._evidence.add(q[moving], qd[moving], qdd[moving], -error[moving], noise)

    def evaluate(self) -> HealthReport:
        """Return a new report."""
        motion = float(self._evidence.samples.sum()) * self._settings.sample_period
        if self._evidence.full:
            self.process()
            self.report = self._reporter.report(explain(self._evidence), motion)
        elif self.report.cause == Cause.UNKNOWN:
            text = f'{motion:.0f} of {self._settings.window:.0f} s of motion so far'
            self.report = HealthReport(Cause.UNKNOWN, text, motion)
        return self.report


def _payload_model(model: DynamicModel) -> PayloadModel | None:
    try:
        return PayloadModel(arm=model)
    except ModelError:
        return None
