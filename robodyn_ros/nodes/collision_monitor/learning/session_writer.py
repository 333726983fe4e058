# SPDX-License-Identifier: Apache-2.0
"""Healthy sessions written to a folder while the robot works."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.analysis.thresholds.healthy_data import (
    SIGNALS,
    Owner,
    owner_of,
    parts_of,
    write_part,
)
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.errors import ControlError, RobodynError, clip
from robodyn_ros.models.interface import Array


class SessionWriter:
    """Writer of one folder. A cycle only copies a sample; a thread writes parts of 20 s.

    :ivar owner: robot and detector of the session
    :ivar problem: why nothing is recorded any more, or ''
    :ivar samples: recorded since the start of the session
    :ivar contacts: of these, at or above CONTACT by the thresholds in force
    """

    def __init__(self, folder: Path, owner: Owner, limit: float, pool: ThreadPoolExecutor) -> None:
        """Begin a new session in a folder, which is made if it does not exist.

        :param limit: size of all files in it, in [bytes]
        :param pool: with one thread, so that the order of the parts is kept
        :raises RobodynError: the folder cannot be used, or has sessions of another model
        """
        self.folder, self.owner, self._limit, self._pool = folder, owner, limit, pool
        sessions = parts_of(folder)
        if sessions:
            _check_owner(sessions[max(sessions)][-1], owner)
        if len(sessions) >= 999:
            raise ControlError(f'{folder} has 999 sessions already: start a new file')
        self._session, self._part = max(sessions, default=0) + 1, 0
        self._size = sum(path.stat().st_size for each in sessions.values() for path in each)
        rows = max(2, int(20.0 / float(owner.detector['period'])))
        self._time = np.zeros(rows)
        self._signals = np.zeros((len(SIGNALS), rows, len(owner.joints)), dtype=np.float32)
        self._started = np.zeros(rows, dtype=bool)
        self._count, self._gap, self._last = 0, True, -np.inf
        self.problem, self.samples, self.contacts = '', 0, 0

    def sample(self, detector: TorqueErrorDetector, stamp: float, q: Array, torque: Array) -> None:
        """Copy the state after a sample; one that is not settled is a gap.

        :param stamp: in [s]
        :param q: measured position, shape (n,), in [rad] or [m]
        :param torque: feedback at the joint, shape (n,), in [Nm] or [N]
        """
        if not detector.settled or self.problem:
            self._gap = True
            return
        if stamp <= self._last:  # the clock was set back
            self._write()
            self._session, self._part = self._session + 1, 0
        velocity, acceleration = detector.motion
        row = self._count
        self._time[row], self._started[row] = stamp, self._gap
        change = np.nan if detector.change is None else detector.change
        signals = (detector.torque_error, velocity, acceleration, q, torque, change)
        for place, signal in enumerate(signals):
            self._signals[place, row] = signal
        self.contacts += bool((np.abs(detector.compared) > detector.contact_threshold).any())
        self._count, self._gap, self._last = row + 1, False, stamp
        self.samples += 1
        if self._count == len(self._time):
            self._write()

    def close(self) -> None:
        """Write what is left; the thread does it."""
        self._write()
        self._gap = True

    def _write(self) -> None:
        """Give the samples to the thread."""
        count, self._count = self._count, 0
        self._size += self._time[:count].nbytes + self._signals[:, :count].nbytes + count
        if self._size > self._limit:
            self.problem = (
                f'nothing is recorded any more: {self.folder} would have more than '
                f'{self._limit / 1e6:.0f} MB (learn_size): call ~/learn with FINISH'
            )
            return
        if not count:
            return
        self._part += 1
        done = self._pool.submit(
            write_part, self.folder, self.owner, self._session, self._part,
            self._time[:count].copy(), self._signals[:, :count].copy(),
            self._started[:count].copy(),
        )  # fmt: skip
        done.add_done_callback(self._noted())

    def _noted(self) -> Callable[[Future[Any]], None]:
        def note(done: Future[Any]) -> None:
            if not done.cancelled() and (error := done.exception()):
                self.problem = clip(f'nothing is recorded any more: {error}')

        return note


def _check_owner(path: Path, owner: Owner) -> None:
    """Refuse to add to sessions of another model or detector."""
    try:
        other = owner_of(path)
    except RobodynError as error:
        raise ControlError(f'{error}: call ~/learn with DISCARD, or name another file') from error
    if other != owner:
        raise ControlError(
            f'{path.parent} has sessions of another model or detector (hash '
            f'{other.model_hash[:12]}, this one {owner.model_hash[:12]}): call ~/learn with '
            f'DISCARD, or name another file'
        )
