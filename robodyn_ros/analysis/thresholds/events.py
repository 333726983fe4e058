# SPDX-License-Identifier: Apache-2.0
"""Collisions that the detector finds in a recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robodyn_ros.analysis.thresholds.session import Mask, feed
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.recording.recording import Recording


@dataclass
class Event:
    """Torque errors above the thresholds, without an interruption longer than the hold time.

    :param time: stamp of the first sample of this level, in [s] of the recording: no computing or
        transport time is included
    :param end: stamp of the last sample at or above CONTACT, in [s]
    :param joint: joint with the largest torque error relative to its threshold when `time` was
        reached
    :param torque_error: largest absolute torque error of that joint, in [Nm] or [N]; of a push at
        rest its change, times the ratio of both thresholds
    :param threshold: collision threshold of that joint at `time`, in [Nm] or [N]
    :param contact: stamp of the first sample at or above CONTACT, in [s]
    """

    time: float
    end: float
    level: Level
    joint: str
    torque_error: float
    threshold: float
    contact: float


@dataclass
class Watch:
    """Detection over a recording.

    :param unknown: samples with level UNKNOWN: not monitored
    """

    events: list[Event]
    samples: int = 0
    unknown: int = 0


def run_detector(
    detector: TorqueErrorDetector, recording: Recording, *, hold: float = 0.5,
    rests: Mask | None = None,
) -> Watch:  # fmt: skip
    """Run a detector over a recording; collisions are reset as soon as they were noted.

    :param hold: samples above the thresholds within this time of an event belong to it, in [s]
    :param rests: samples at which the reference rests, shape (N,); None: it is not known
    :raises ControlError: the recording lacks a joint
    """
    watch = Watch([])
    stamps = recording.time.tolist()
    for row in feed(detector, recording, rests):
        watch.samples += 1
        level = Level(int(detector.level.max(initial=0)))
        watch.unknown += not detector.settled
        if level >= Level.CONTACT:
            _note(watch.events, detector, stamps[row], level, hold)
        if detector.latched:
            detector.release()
    return watch


def _note(
    events: list[Event], detector: TorqueErrorDetector, stamp: float, level: Level, hold: float
) -> None:
    """Continue the last event, or begin one."""
    size = np.abs(detector.compared)
    worst = int((size / detector.threshold).argmax())
    last = events[-1] if events and stamp - events[-1].end <= hold else None
    if last is None or level > last.level:
        event = Event(
            stamp, stamp, level, detector.joints[worst], float(size[worst]),
            float(detector.threshold[worst]), stamp if last is None else last.contact,
        )  # fmt: skip
        events[-1 if last else len(events) :] = [event]
        return
    last.end = stamp
    last.torque_error = max(last.torque_error, float(size[detector.joints.index(last.joint)]))


def rows_of(watch: Watch, origin: float) -> Iterator[tuple[str, ...]]:
    """Yield the events as texts, header first; `origin` of the stamps in [s]."""
    yield ('time', 'end', 'contact', 'level', 'joint', 'torque_error', 'threshold')
    for each in watch.events:
        stamps = (each.time, each.end, each.contact)
        yield (
            *(f'{stamp + origin:.6f}' for stamp in stamps),
            each.level.name,
            each.joint,
            f'{each.torque_error:.6g}',
            f'{each.threshold:.6g}',
        )
