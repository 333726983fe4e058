# SPDX-License-Identifier: Apache-2.0
"""Task of an identification, and its recordings made ready to be condensed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.average.candidates import EVERY
from robodyn_ros.identification.fit.time_offset import common_offsets, offsets_of
from robodyn_ros.identification.fit.torque_errors import predict
from robodyn_ros.identification.friction.complete_law import complete_friction
from robodyn_ros.identification.gears.motor_side import gear_torque_of
from robodyn_ros.identification.options import LEAVE_ONE_OUT, IdentifyOptions, LeaveOneOut
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.identification.signals.cutoff import Cutoffs
from robodyn_ros.identification.signals.grid import Grid
from robodyn_ros.identification.signals.processed import Processed, TimeOffset
from robodyn_ros.identification.signals.segments import (
    SEGMENT,
    KnownTorque,
    Segments,
    segments_of,
)
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.friction import find_unspecified
from robodyn_ros.models.gear_torque import GearTorqueLaw
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import PayloadModel
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import MAX_CUTOFF_SHARE

USUAL_CUTOFF = 10.0
"""In [Hz]: arms move below it, their gears vibrate above it."""

LOWER = 0.9
"""Share of the highest cut-off below which another one is a candidate."""

KEPT = 0.8
"""Share of the samples by the spectrum's cut-off that a higher one has to leave."""

Known = IdentifiedModel | GearTorqueLaw
"""Types of the argument `known` of `identify`."""


@dataclass(frozen=True)
class Task:
    """One identification: arguments of `identify`, checked."""

    recordings: tuple[Recording, ...]
    model: DynamicModel
    options: IdentifyOptions
    known: Known | None = None
    validation: Recording | LeaveOneOut | None = None

    def __post_init__(self) -> None:
        """Check what goes together.

        :raises IdentificationError: no recording, too few to leave one out, or a payload without
            the arm that carries it, or on an arm with another payload
        """
        if not self.recordings:
            raise IdentificationError('no recording to identify from')
        if self.validation == LEAVE_ONE_OUT and len(self.recordings) < 2:
            raise IdentificationError(
                'leave-one-out needs at least 2 recordings to identify from, got 1'
            )
        if self.arm is not None:
            self.arm.refuse_payload()
        if isinstance(self.model, PayloadModel) and self.arm is None:
            raise IdentificationError(
                'a payload is identified on top of an identified arm: give it as known torque'
            )

    @property
    def arm(self) -> IdentifiedModel | None:
        """The identified arm whose payload is estimated; None: no payload is estimated."""
        carries = isinstance(self.model, PayloadModel)
        return self.known if carries and isinstance(self.known, IdentifiedModel) else None

    def process(
        self, recording: Recording, like: Cutoffs | None = None, grid: Grid | None = None
    ) -> Segments:
        """Return the signals of a recording, with their known torque.

        :param like: cut-offs of the recording that was fitted; None: those of this one
        """
        known, joints = build_known_torque(self.known), self.model.joint_names
        return segments_of(recording, joints, self.options, known, like=like, grid=grid)


def build_known_torque(known: Known | None) -> KnownTorque | None:
    """Return the function that gives the torque of `known` at the samples of processed signals.

    The torque of an arm is that of its values without payload, with the torque of gear deflection
    where both the arm and the recording have it.
    """
    if known is None:
        return None
    arm = known if isinstance(known, IdentifiedModel) else None
    gears = known.residual if isinstance(known, IdentifiedModel) else known

    def torque(recording: Recording, signals: Processed) -> Array:
        total = np.zeros_like(signals.torque)
        if gears is not None:
            total += gear_torque_of(recording, signals, gears)
        if arm is not None:
            total += predict(arm.model, arm.values, signals)
        return total

    return torque


@dataclass
class Clock:
    """Wall-clock time of each step, in [s]."""

    timings: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @property
    def total(self) -> float:
        """Time since the start, in [s]."""
        return time.perf_counter() - self.started

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step."""
        start = time.perf_counter()
        yield
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True)
class ProcessedRecordings:
    """Recordings that are ready to be condensed.

    :param parts: with corrected time offsets of the torque
    :param lower: the same at lower cut-offs, for further candidates
    :param automatic: the friction law was not named
    :param frozen: names of the joints that move in no recording, or whose torque is not measured
    """

    task: Task
    model: DynamicModel
    parts: tuple[Segments, ...]
    lower: tuple[tuple[Segments, ...], ...]
    offsets: dict[int, TimeOffset]
    automatic: bool
    frozen: frozenset[str]

    def at_level(self, level: int) -> ProcessedRecordings:
        """Return the recordings at one of the cut-offs, 0 the highest."""
        return replace(self, parts=(self.parts, *self.lower)[level])


def prepare(task: Task, clock: Clock) -> ProcessedRecordings:
    """Find the time offsets of the torque, then complete the friction of the model.

    Late torque has its jumps where the velocity is not zero any more, which would look like
    another law. A payload is estimated at one cut-off and on torque as it was measured, as the
    parameters of its arm belong to that.
    """
    with clock.step('process'):
        first = task.process(task.recordings[0])
        first, lower = _choose_highest(first)
        others = [task.process(each, first.cutoffs) for each in task.recordings[1:]]
    offsets: dict[int, TimeOffset] = {}
    if task.arm is None:
        with clock.step('offset'):
            offsets = _offsets(task, first)
    if task.arm is None and others:
        with clock.step('offset'):
            offsets = common_offsets([offsets, *(_offsets(task, each) for each in others)])
    parts = tuple(each.correct(offsets) for each in (first, *others))
    levels: tuple[tuple[Segments, ...], ...] = ()
    if task.arm is None and first.raw_samples <= SEGMENT:  # else memory grows with each cut-off
        with clock.step('process'):
            levels = tuple(
                tuple(each.at(cutoff).correct(offsets) for each in (first, *others))
                for cutoff in lower
            )
    friction = find_unspecified(task.model)
    with clock.step('friction'):
        richest = max(parts, key=_moving_samples).shown.to_estimate()
        model = complete_friction(task.model, richest, task.options, EVERY)
    frozen = frozenset.intersection(*map(_find_idle, parts))
    automatic = friction is not None and friction.automatic
    return ProcessedRecordings(task, model, parts, levels, offsets, automatic, frozen)


def _choose_highest(parts: Segments) -> tuple[Segments, list[float]]:
    """Return a recording at the highest cut-off of the candidates, and the lower ones, in [Hz].

    It is the one by the spectrum, at least the usual one unless gaps leave few samples there.
    """
    range_ = parts.cutoffs
    if range_ is None:
        return parts, []
    even = parts.grid.recording if parts.grid else parts.recording
    usual = min(USUAL_CUTOFF, MAX_CUTOFF_SHARE / even.period)
    if usual > range_.used:
        higher = parts.at(usual)
        if higher.raw.used.sum() >= KEPT * parts.raw.used.sum():
            parts = higher
    highest = parts.cutoffs.used if parts.cutoffs else usual
    octaves = 0.5 * highest, 0.25 * highest
    lower = {max(each, range_.lowest) for each in (*octaves, range_.used)}
    return parts, sorted((each for each in lower if each < LOWER * highest), reverse=True)


def _offsets(task: Task, parts: Segments) -> dict[int, TimeOffset]:
    if parts.recording.drive is not None:  # torque and motion are of the same samples
        return {}
    signals = parts.shown.to_estimate()
    return offsets_of(task.model, base_parameters(task.model), signals, task.options)


def _find_idle(parts: Segments) -> frozenset[str]:
    codes = ('frozen_joint', 'zero_torque', 'constant_torque')
    return frozenset(f.joint for f in parts.shown.findings if f.code in codes)


def _moving_samples(parts: Segments) -> int:
    """Return the number of used samples of the joint that has the fewest."""
    return int(np.min(parts.raw.used.sum(axis=0)))
