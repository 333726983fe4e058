# SPDX-License-Identifier: Apache-2.0
"""Families of motions with decision variables x, and their derivatives by x.

Every motion is a start position plus a deviation, which may be scaled joint by joint, so that
limits of position, velocity and acceleration can be met exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy  # its parts at their first use: they take half a second

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.arguments import joint_names, per_joint
from robodyn_ros.excitation.motions.fourier import FourierMotion
from robodyn_ros.excitation.motions.sinesum import SineSumMotion
from robodyn_ros.excitation.trajectory import Array, Trajectory


class Sampled(ABC):
    """A family at fixed times (N,)."""

    @abstractmethod
    def deviation(self, x: Array) -> Array:
        """Return the deviation of the position and its two derivatives, shape (3, N, n)."""

    @abstractmethod
    def pull(self, x: Array, weights: Array) -> Array:
        """Differentiate the sum of weights (3, N, n) times the deviation by x (size,)."""


class MotionFamily(ABC):
    """Motions of n joints of one kind, between t = 0 and `duration`, with `size` variables."""

    size: int

    def __init__(
        self, joints: Sequence[str], position: Sequence[float] | Array, duration: float
    ) -> None:
        """Check and store the arguments.

        :param position: start of every motion, shape (n,), in [rad] or [m]
        :param duration: in [s]
        :raises MotionError: wrong counts, or a duration that is not above zero
        """
        self.joints = joint_names(joints)
        self.position = per_joint(self.joints, 'position', position)
        if not (np.isfinite(duration) and duration > 0.0):
            raise MotionError(f'the duration of a motion must be above 0 s, got {duration}')
        self.duration = float(duration)

    @abstractmethod
    def prepare(self, time: Array) -> Sampled:
        """Prepare the evaluation at times (N,), in [s]."""

    @abstractmethod
    def motion(self, x: Array, scale: Array) -> Trajectory:
        """Return the motion of x, with the deviation of each joint times its scale (n,)."""

    def start(self, random: np.random.Generator) -> Array:
        """Return random variables (size,) as a start: all of equal size."""
        return random.normal(size=self.size)

    @abstractmethod
    def fastest(self) -> float:
        """Return the largest frequency of the deviation, in [Hz], for the number of samples."""


class FourierFamily(MotionFamily):
    """One period of a Fourier series at `position`, at rest and unaccelerated, at both ends.

    Document "double_encoder_identification_2023", Eq. 15 and the end conditions under Eq. 17. x
    holds, per joint, coordinates of (a_l) in the space sum a_l = 0 and of (b_l) in the space sum l
    b_l = 0; theta_0 follows.
    """

    def __init__(self, *, harmonics: int, **place: Any) -> None:
        """Prepare the bases of coefficients that meet the conditions.

        :param harmonics: from 2 to 100
        :param place: arguments of `MotionFamily`; the duration is the period
        :raises MotionError: arguments that cannot be used
        """
        super().__init__(**place)
        if not 2 <= harmonics <= 100:
            raise MotionError(f'a Fourier motion needs 2 to 100 harmonics, got {harmonics}')
        self.harmonics = int(harmonics)
        self.order = np.arange(1.0, harmonics + 1.0)
        self.omega = 2.0 * np.pi / self.duration * self.order
        self.a_space: Array = scipy.linalg.null_space(np.ones((1, harmonics)))
        self.b_space: Array = scipy.linalg.null_space(self.order[None, :])
        self.size = len(self.joints) * 2 * (harmonics - 1)

    def coefficients(self, x: Array) -> tuple[Array, Array]:
        """Return coefficients a and b, each (n, L), of x."""
        rows = x.reshape(len(self.joints), -1)
        half = self.harmonics - 1
        return rows[:, :half] @ self.a_space.T, rows[:, half:] @ self.b_space.T

    def prepare(self, time: Array) -> Sampled:
        """Prepare sines and cosines."""
        phase = np.asarray(time, dtype=float)[:, None] * self.omega
        sine, cosine, a, b = np.sin(phase), np.cos(phase), self.a_space, self.b_space
        rows = [
            np.hstack([(sine / self.omega) @ a, ((1.0 - cosine) / self.omega) @ b]),
            np.hstack([cosine @ a, sine @ b]),
            np.hstack([-(sine * self.omega) @ a, (cosine * self.omega) @ b]),
        ]
        return _Linear(np.array(rows), len(self.joints))

    def motion(self, x: Array, scale: Array) -> FourierMotion:
        """Return the series of the scaled coefficients."""
        a, b = self.coefficients(x)
        return FourierMotion.from_rest(
            joints=self.joints,
            position=self.position,
            a=a * scale[:, None],
            b=b * scale[:, None],
            base_frequency=1.0 / self.duration,
        )

    def fastest(self) -> float:
        """Return the frequency of the last harmonic."""
        return self.harmonics / self.duration


class SineSumFamily(MotionFamily):
    """Sums of W sines with free amplitudes and frequencies: algorithm A.

    Document "local_identification", Eq. 1, with its bound on the frequencies. x holds, per joint,
    W amplitudes and W numbers z with frequency = highest * (0.05 + 0.95 / (1 + exp(-z))).
    """

    def __init__(
        self, *, sines: int, highest: Sequence[float] | Array | float, **place: Any
    ) -> None:
        """Check the frequencies.

        :param sines: W, from 1 to 100
        :param highest: highest frequency of each joint, shape (n,) or one, in [Hz]
        :param place: arguments of `MotionFamily`; the duration includes lead-in and lead-out
        :raises MotionError: arguments that cannot be used
        """
        super().__init__(**place)
        self.highest = per_joint(self.joints, 'highest', highest)
        if not (self.highest > 0.0).all() or not 1 <= sines <= 100:
            raise MotionError(f'expected 1 to 100 sines above 0 Hz, got {sines}, {highest}')
        self.sines = int(sines)
        self.size = len(self.joints) * 2 * self.sines

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """Return amplitudes, frequencies in [Hz] and their derivative by z, each (n, W)."""
        rows = x.reshape(len(self.joints), 2, self.sines)
        share = 1.0 / (1.0 + np.exp(-np.clip(rows[:, 1], -50.0, 50.0)))
        top = self.highest[:, None]
        return rows[:, 0], top * (0.05 + 0.95 * share), 0.95 * top * share * (1.0 - share)

    def prepare(self, time: Array) -> Sampled:
        """Prepare the schedule of lead-in and lead-out."""
        still = self.motion(np.zeros(self.size), np.zeros(len(self.joints)))
        return _Sines(self, still.schedule(np.asarray(time, dtype=float)))

    def motion(self, x: Array, scale: Array) -> SineSumMotion:
        """Return the sines of the scaled amplitudes."""
        amplitude, frequency, _ = self.split(x)
        return SineSumMotion(
            joints=self.joints,
            center=self.position,
            amplitude=amplitude * scale[:, None],
            frequency=frequency,
            duration=self.duration,
        )

    def fastest(self) -> float:
        """Return the highest frequency of any joint."""
        return float(self.highest.max())


class _Linear(Sampled):
    """Deviation = basis (3, N, m) times the m variables of each joint."""

    def __init__(self, basis: Array, joints: int) -> None:
        self._basis, self._joints = basis, joints

    def deviation(self, x: Array) -> Array:
        """Return the deviation (3, N, n)."""
        return np.asarray(self._basis @ x.reshape(self._joints, -1).T)

    def pull(self, x: Array, weights: Array) -> Array:
        """Multiply weights (3, N, n) by the basis."""
        return np.tensordot(weights, self._basis, axes=([0, 1], [0, 1])).ravel()


class _Sines(Sampled):
    def __init__(self, family: SineSumFamily, schedule: tuple[Array, Array, Array]) -> None:
        self._family = family
        self._s, self._rate, self._change = (value[:, None, None] for value in schedule)

    def _waves(self, omega: Array) -> tuple[Array, Array, Array]:
        """Return sines, cosines (N, n, W), and the sines' derivatives by time (3, N, n, W)."""
        phase = omega * self._s
        sine, cosine = np.sin(phase), np.cos(phase)
        return sine, cosine, self._scale_rates(sine, omega * cosine, -(omega**2) * sine)

    def _scale_rates(self, value: Array, first: Array, second: Array) -> Array:
        return np.stack([value, first * self._rate, second * self._rate**2 + first * self._change])

    def deviation(self, x: Array) -> Array:
        amplitude, frequency, _ = self._family.split(x)
        return np.asarray((self._waves(2.0 * np.pi * frequency)[2] * amplitude).sum(axis=3))

    def pull(self, x: Array, weights: Array) -> Array:
        amplitude, frequency, slope = self._family.split(x)
        s, omega = self._s, 2.0 * np.pi * frequency
        sine, cosine, terms = self._waves(omega)
        by_omega = self._scale_rates(
            s * cosine,
            cosine - omega * s * sine,
            -2.0 * omega * sine - omega**2 * s * cosine,
        )
        heavy = weights[..., None]
        by_amplitude = (heavy * terms).sum(axis=(0, 1))
        by_z = (heavy * by_omega).sum(axis=(0, 1)) * amplitude * 2.0 * np.pi * slope
        return np.stack([by_amplitude, by_z], axis=1).ravel()
