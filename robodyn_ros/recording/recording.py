# SPDX-License-Identifier: Apache-2.0
"""Recording of joint states, validated when it is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import Finding, Severity, finding
from robodyn_ros.recording.bags.scan import BagPart
from robodyn_ros.recording.missing_values import missing_values
from robodyn_ros.recording.position_drive import PositionDrive
from robodyn_ros.recording.storage import all_usable, blockwise, usable

__all__ = ['Finding', 'Recording', 'Severity']

Array = NDArray[np.float64]

REQUIRED = ('position', 'torque')
OPTIONAL = ('velocity', 'acceleration', 'motor_position', 'motor_velocity', 'command')
"""Signals of a recording, each of shape (N, n); the optional ones may be None."""


def _freeze(values: Array) -> Array:
    """Return a read-only array; copy it only if it is not read-only, as recordings are large."""
    if isinstance(values, np.ndarray) and values.dtype == float and not values.flags.writeable:
        return values
    copy = np.array(values, dtype=float)
    copy.setflags(write=False)
    return copy


@dataclass(frozen=True)
class Recording:
    """Joint states over time; arrays are read-only and finite, time increases strictly.

    Readers make repairs that invent no data (they drop repeated stamps, but do not sort) and
    report them in `findings`. Samples with NaN, infinite or absurdly large values are left out
    here, see `missing_values`.

    :param time: stamps, shape (N,), in [s], strictly increasing
    :param joints: names of the n joints, unique
    :param position: shape (N, n), in [rad] or [m]
    :param torque: joint-side torque or force, shape (N, n), in [Nm] or [N]
    :param velocity: measured velocity, shape (N, n), or None
    :param acceleration: given acceleration (simulation, or computed before), or None
    :param source: file the data came from, for messages
    :param origin: epoch time of time 0, in [ns] (bags: the first stamp); 0: unknown
    :param motor_position: of the encoders on the motors, divided by the gear ratio, shape (N, n);
        None: there is one encoder per joint
    :param motor_velocity: the same
    :param topic: of a bag that it was read from
    :param part: messages of the bag that it was read from
    :param gear_ratio: revolutions of the motor per revolution of the joint, shape (n,)
    :param command: commanded position, of which the torque is computed by the drive; or None
    :param drive: that makes torque of the error of position; None: the torque was recorded
    :raises RecordingError: the data break one of these rules
    """

    time: Array
    joints: tuple[str, ...]
    position: Array
    torque: Array
    velocity: Array | None = None
    acceleration: Array | None = None
    source: str = 'recording'
    findings: tuple[Finding, ...] = field(default=())
    origin: int = 0
    motor_position: Array | None = None
    motor_velocity: Array | None = None
    gear_ratio: Array | None = None
    command: Array | None = None
    drive: PositionDrive | None = None
    topic: str = ''
    part: BagPart | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, 'joints', tuple(self.joints))
        self._check_joints()
        self._check_time()
        for name in (*REQUIRED, *OPTIONAL):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, self._check_signal(name, value))
        self._leave_out_missing()

    def _check_joints(self) -> None:
        twice = sorted({name for name in self.joints if self.joints.count(name) > 1})
        if twice:
            raise RecordingError(f'{self.source}: joint {twice[0]!r} occurs more than once')
        if not self.joints:
            raise RecordingError(f'{self.source}: it has no joints')

    def _check_time(self) -> None:
        time = _freeze(self.time)
        if time.ndim != 1 or len(time) < 2:
            raise RecordingError(
                f'{self.source}: expected at least 2 stamps in one column, got shape {time.shape}'
            )
        if not (good := usable(time)).all():
            row = int(np.flatnonzero(~good)[0])
            raise RecordingError(f'{self.source}: the stamp of sample {row} is {time[row]}')
        steps = np.diff(time)
        if (steps <= 0).any():
            row = int(np.flatnonzero(steps <= 0)[0]) + 1
            word = 'repeats' if steps[row - 1] == 0 else 'goes back'
            raise RecordingError(
                f'{self.source}: time {word} at sample {row} '
                f'({time[row - 1]:.6f} s, then {time[row]:.6f} s)'
            )
        object.__setattr__(self, 'time', time)

    def _check_signal(self, name: str, value: Array) -> Array:
        signal = _freeze(value)
        expected = (len(self.time), len(self.joints))
        if signal.shape != expected:
            raise RecordingError(
                f'{self.source}: {name} must have the shape {expected} '
                f'(samples, joints), got {signal.shape}'
            )
        return signal

    def _leave_out_missing(self) -> None:
        """Leave out samples with values that are no measurement, with findings."""
        signals = self.each(lambda values: values)
        if all_usable(*signals.values()).all():
            return
        rows, findings = missing_values(self.time, self.joints, signals)
        if len(rows) - rows.sum() < 2:
            raise RecordingError(
                f'{self.source}: {len(rows) - rows.sum()} usable samples, expected at least 2; '
                f'{findings[0].text}'
            )
        for name, values in {'time': self.time, **signals}.items():
            kept = blockwise(lambda part, keep: part[keep], values, ~rows)
            object.__setattr__(self, name, kept)
        object.__setattr__(self, 'findings', (*self.findings, *findings))

    def __len__(self) -> int:
        return len(self.time)

    @property
    def period(self) -> float:
        """Median time between samples, in [s]."""
        return float(np.median(np.diff(self.time)))

    @property
    def duration(self) -> float:
        """Time between the first and the last sample, in [s]."""
        return float(self.time[-1] - self.time[0])

    def select(self, joints: Sequence[str]) -> Recording:
        """Return the recording with just these joints, in this order (matched by name).

        :raises RecordingError: a joint is not in the recording
        """
        missing = [name for name in joints if name not in self.joints]
        if missing:
            raise RecordingError(
                f'{self.source}: joint {missing[0]!r} is not in the recording, '
                f'which has {list(self.joints)}'
            )
        if tuple(joints) == self.joints:
            return self
        columns = [self.joints.index(name) for name in joints]
        return replace(
            self,
            joints=tuple(joints),
            gear_ratio=None if self.gear_ratio is None else self.gear_ratio[columns],
            drive=self.drive and self.drive.select(columns),
            **self.each(lambda values: blockwise(lambda part: part[:, columns], values)),
        )

    def with_drive(self, drive: PositionDrive) -> Recording:
        """Return the recording with the torque of its commanded positions by another drive.

        :raises RecordingError: it has no commanded positions
        """
        if self.command is None:
            raise RecordingError(f'{self.source}: it has no commanded positions')
        torque = drive.torque(self.time, self.command, self.position)
        return replace(self, torque=torque, drive=drive)

    def slice(self, rows: slice | NDArray[np.intp]) -> Recording:
        """Return the recording with just these samples (a slice, or ascending row numbers)."""
        return replace(self, time=self.time[rows], **self.each(lambda values: values[rows]))

    def each(self, change: Callable[[Array], Array]) -> dict[str, Any]:
        """Apply a function to all signals; return them by name, without missing ones."""
        signals = {name: getattr(self, name) for name in (*REQUIRED, *OPTIONAL)}
        return {name: change(values) for name, values in signals.items() if values is not None}

    def between(self, start: int, end: int) -> Recording:
        """Return the samples between two stamps; a finding gives the duration of the others.

        :param start: in [ns] since the epoch, as ROS stamps are
        :param end: in [ns] since the epoch
        :raises RecordingError: fewer than 2 samples lie between them
        """
        first, last = np.searchsorted(
            self.time, [(start - self.origin) / 1e9, (end - self.origin) / 1e9]
        )
        if last - first < 2:
            raise RecordingError(
                f'{self.source}: it has {max(0, last - first)} samples between the stamps '
                f'{start / 1e9:.3f} s and {end / 1e9:.3f} s'
            )
        cut = self.slice(slice(int(first), int(last)))
        if len(cut) == len(self):
            return cut
        before, after = cut.time[0] - self.time[0], self.time[-1] - cut.time[-1]
        cut_off = finding('motion_only', source=self.source, before=before, after=after)
        return replace(cut, findings=(*self.findings, cut_off))

    def split(self, fraction: float) -> tuple[Recording, Recording]:
        """Split into the first `fraction` of the samples and the remainder.

        :raises RecordingError: the fraction is not between 0 and 1, or a part has no samples
        """
        if not 0.0 < fraction < 1.0:
            raise RecordingError(f'a split needs a fraction between 0 and 1, got {fraction}')
        at = round(fraction * len(self))
        return self.slice(slice(0, at)), self.slice(slice(at, None))
