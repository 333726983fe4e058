# SPDX-License-Identifier: Apache-2.0
"""Healthy session: torque errors and motion of a recording, as the detector has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.ramp_law import ErrorSamples
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.states.reference_rest import ReferenceRest
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.long_work import progress
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Session:
    """Torque errors of a recording.

    :param samples: torque errors and filtered motion, N samples in single precision
    :param settled: the detector had settled, shape (N,)
    :param used: samples that count: settled, and the data are healthy, (N,)
    :param started: samples after a start or gap, shape (N,)
    """

    source: str
    samples: ErrorSamples
    settled: Mask
    used: Mask
    started: Mask
    notes: tuple[str, ...] = ()

    @property
    def time(self) -> Array:
        """Stamps, shape (N,), in [s]."""
        return self.samples.time

    @property
    def hours(self) -> float:
        """Time of the samples that count, in [h]."""
        return float(np.median(np.diff(self.time)) * self.used.sum() / 3600.0)

    def without(self, rows: Mask, note: str) -> Session:
        """Return the session without some samples; the note tells why."""
        return replace(self, used=self.used & ~rows, notes=(*self.notes, note))

    def rows(self, rows: slice) -> Session:
        """Return a part of the session."""
        started = self.started[rows].copy()
        started[:1] = True
        return replace(
            self, samples=self.samples.rows(rows), settled=self.settled[rows],
            used=self.used[rows], started=started,
        )  # fmt: skip


def with_velocity(recording: Recording) -> Recording:
    """Return a recording with velocities; missing ones are differences to the previous sample."""
    if recording.velocity is not None:
        return recording
    slope = np.diff(recording.position, axis=0) / np.diff(recording.time)[:, None]
    return replace(recording, velocity=np.concatenate([slope[:1], slope]))


def rest_of_reference(
    time: Array, commands: Iterable[tuple[float, ArrayLike]], width: int
) -> Mask | None:
    """Return the samples at which commanded positions rest, shape (N,); None: there are none.

    As for the monitor, a command is known one sample after its own cycle.

    :param time: stamps of the samples, shape (N,), in [s], ascending
    :param commands: stamps, in [s], and commanded positions, shape (n,), in [rad] or [m]
    """
    reference, following = ReferenceRest(width), iter(commands)
    after = next(following, None)
    resting = np.zeros(len(time), dtype=bool)
    before = -np.inf
    for row, stamp in enumerate(time.tolist()):
        while after is not None and after[0] <= before:
            reference.update(*after)
            after = next(following, None)
        resting[row], before = reference.rests(stamp), stamp
    return resting if reference.known else None


def feed(
    detector: TorqueErrorDetector, recording: Recording, rests: Mask | None = None
) -> Iterator[int]:
    """Feed a recording to a detector; yield the row after each sample.

    :param rests: samples at which the reference rests, shape (N,); None: it is not known
    :raises ControlError: the recording lacks a joint
    """
    if missing := [name for name in detector.joints if name not in recording.joints]:
        raise ControlError(f'{recording.source} has no joint {missing[0]}')
    data = with_velocity(recording.select(detector.joints))
    assert data.velocity is not None
    stamps = data.time.tolist()
    resting = [False] * len(stamps) if rests is None else rests.tolist()
    for row, sample in enumerate(zip(data.position, data.velocity, data.torque, strict=True)):
        detector.resting = resting[row]
        detector.update(stamps[row], *sample)
        progress('monitoring', row / len(stamps))
        yield row


def session_of(
    recording: Recording, torque: ModelTorque, settings: CollisionSettings,
    rests: Mask | None = None,
) -> Session:  # fmt: skip
    """Run the detector over a recording.

    :param rests: samples at which the reference rests, shape (N,); None: it is not known
    :raises ControlError: the recording lacks a joint
    """
    # No torque error reaches these thresholds.
    settings = replace(settings, max_torque_error=1e300, contact_threshold=1e300)
    detector = TorqueErrorDetector(torque=torque, settings=settings)
    # Single precision: an hour at 1 kHz has a gigabyte otherwise.
    signals: Array = np.zeros((4, len(recording), len(detector.joints)), dtype=np.float32)
    settled, started = np.zeros((2, len(recording)), dtype=bool)
    before = True
    for row in feed(detector, recording):
        signals[0, row], signals[3, row] = detector.position, detector.torque_error
        signals[1, row], signals[2, row] = detector.motion
        settled[row] = detector.settled
        started[row], before = before and not settled[row], settled[row]
    notes: tuple[str, ...] = ()
    if (gaps := int(started.sum()) - 1) > 0:
        notes = (
            f'{recording.source}: {(~settled).sum()} of {len(settled)} samples left out: {gaps} '
            f'gaps or invalid samples, after each of which the detector has to settle',
        )
    known = np.zeros(len(recording), dtype=bool) if rests is None else rests
    position, velocity, acceleration, error = signals
    samples = ErrorSamples(recording.time, position, velocity, acceleration, error, known)
    return Session(recording.source, samples, settled, settled.copy(), started, notes)


def drives_off(
    recording: Recording, gravity: Array, *, longest: float = 1.0, settling: float = 0.5
) -> Mask:
    """Return the samples at which the torque of a joint does not change although it must.

    A constant torque is impossible for long while its joint moves, and zero is impossible at rest
    under gravity.

    :param gravity: torque of the model at rest in each position, shape (N, n), in [Nm] or [N]
    :param longest: longest constant torque of a moving joint, in [s]: coarse current
        measurements repeat values, but not for so long
    :param settling: time after it in which the torque comes back, in [s]
    :return: shape (N,)
    """
    count = max(2, round(longest / recording.period))
    stuck = _runs(np.diff(recording.torque, axis=0) == 0.0, count)
    moving = _runs(np.diff(recording.position, axis=0) != 0.0, count)
    loaded = np.abs(gravity) > 0.1 * np.abs(recording.torque).max(axis=0)
    off: Mask = (stuck & (moving | (loaded & (recording.torque == 0.0)))).any(axis=1)
    for end in np.flatnonzero(off[:-1] & ~off[1:]):
        off[end : np.searchsorted(recording.time, recording.time[end] + settling)] = True
    return off


def _runs(same: Mask, count: int) -> Mask:
    """Return the samples inside runs of at least `count` true steps; from (N - 1, n) to (N, n)."""
    result = np.zeros((len(same) + 1, same.shape[1]), dtype=bool)
    for joint, column in enumerate(same.T):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], column, [False]]).astype(np.int8)))
        for start, end in edges.reshape(-1, 2):
            if end - start >= count:
                result[start : end + 1, joint] = True
    return result
