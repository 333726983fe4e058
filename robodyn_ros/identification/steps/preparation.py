# SPDX-License-Identifier: Apache-2.0
"""Task of an identification, and its recordings made ready to be condensed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.fit.time_offset import common_offsets, offsets_of
from robodyn_ros.identification.fit.torque_errors import predict
from robodyn_ros.identification.friction.chosen_law import FrictionChoice
from robodyn_ros.identification.friction.cutoff_choice import cutoff_factor
from robodyn_ros.identification.friction.law_selection import select_friction
from robodyn_ros.identification.gears.motor_side import gear_torque_of
from robodyn_ros.identification.options import LEAVE_ONE_OUT, IdentifyOptions, LeaveOneOut
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.identification.signals.grid import Grid
from robodyn_ros.identification.signals.offset_correction import TimeOffset
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.segments import KnownTorque, Segments, segments_of
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.friction import unspecified_friction
from robodyn_ros.models.gear_torque import GearTorqueLaw
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import PayloadModel
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import MAX_CUTOFF_SHARE

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

    def processed(
        self, recording: Recording, automatic: float | None = None, grid: Grid | None = None
    ) -> Segments:
        """Return the signals of a recording, with their known torque."""
        known, joints = known_torque(self.known), self.model.joint_names
        return segments_of(recording, joints, self.options, known, automatic, grid)

    def alike(
        self, recording: Recording, cutoff: float | None, known: Segments | None = None
    ) -> Segments:
        """Return the signals of a recording at an automatic cut-off of at least `cutoff`, in [Hz].

        A low cut-off removes motion that the parameters were fitted to: their torque would look
        wrong on a slow or noisy recording.

        :param known: signals at the automatic cut-off of the recording, if they were computed
        """
        parts = known or self.processed(recording)
        own, options = parts.shown.cutoff, self.options
        least = min(cutoff or 0.0, MAX_CUTOFF_SHARE / recording.period)
        if own is None or own >= least or options.filter_cutoff is not None:
            return parts
        return self.processed(recording, least / options.cutoff_factor, parts.grid)


def known_torque(known: Known | None) -> KnownTorque | None:
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
class Prepared:
    """Recordings that are ready to be condensed.

    :param frozen: names of the joints that move in no recording, or whose torque is not measured
    """

    task: Task
    model: DynamicModel
    raw: tuple[Segments, ...]
    parts: tuple[Segments, ...]
    offsets: dict[int, TimeOffset]
    friction: FrictionChoice | None
    frozen: frozenset[str]


def prepare(task: Task, clock: Clock) -> Prepared:
    """Process recordings, complete the friction law and correct time offsets of the torque."""
    with clock.step('process'):
        task, raw = _processed(task)
        frozen = frozenset.intersection(*(_frozen(parts) for parts in raw))
    model, friction, unknown = task.model, None, unspecified_friction(task.model) is not None
    offsets: dict[int, TimeOffset] = {}
    law = 'linear'  # of the offsets
    for _ in range(3):  # a law moves the offsets, which move the law; then both stay
        before = offsets
        with clock.step('time_offset'):
            # Late torque has its jumps where the velocity is not zero any more, which would look
            # like another law.
            offsets = _offsets(task, model, raw)
        settled = friction is not None and _shifted(offsets) == _shifted(before)
        if settled or not unknown:
            break
        with clock.step('friction'):
            richest = max(raw, key=_moving_samples).corrected(offsets).shown.to_estimate()
            model, friction = select_friction(task.model, richest, task.options)
        if friction is not None and friction.law == law == 'linear':
            break  # it has no shape that could move the offsets
        law = '' if friction is None else friction.law
    parts = tuple(each.corrected(offsets) for each in raw)
    return Prepared(task, model, raw, parts, offsets, friction, frozen)


def _processed(task: Task) -> tuple[Task, tuple[Segments, ...]]:
    """Return the signals of the recordings, at the cut-off chosen on the first one."""

    def signals(factor: float) -> Processed:
        cutoff, grid = raw[0].shown.cutoff, raw[0].grid
        tried[factor] = raised(factor).processed(task.recordings[0], cutoff, grid)
        return tried[factor].shown

    def raised(factor: float) -> Task:
        return replace(task, options=replace(task.options, cutoff_factor=factor))

    raw = tuple(task.processed(recording) for recording in task.recordings)
    factor, tried = 1.0, {1.0: raw[0]}
    if task.arm is None:
        factor = cutoff_factor(task.model, raw[0].shown, task.options, signals)
    known = raw if factor == 1.0 else [None] * len(raw)
    task, first = raised(factor), tried[factor]
    others = zip(task.recordings[1:], known[1:], strict=True)
    return task, (first, *(task.alike(each, first.shown.cutoff, own) for each, own in others))


def _offsets(task: Task, model: DynamicModel, raw: Sequence[Segments]) -> dict[int, TimeOffset]:
    """Time offsets of the torque, which are the measurement's and so those of all recordings."""
    if task.arm is not None:  # its parameters belong to torque as it was measured
        return {}
    base = base_parameters(model)
    return common_offsets(
        [offsets_of(model, base, each.shown.to_estimate(), task.options) for each in raw]
    )


def _shifted(offsets: dict[int, TimeOffset]) -> dict[int, int]:
    """Return the corrected offsets in steps of 0.1 ms."""
    return {joint: round(each.seconds * 1e4) for joint, each in offsets.items() if each.applied}


def _frozen(parts: Segments) -> frozenset[str]:
    codes = ('frozen_joint', 'zero_torque', 'constant_torque')
    return frozenset(f.joint for f in parts.shown.findings if f.code in codes)


def _moving_samples(parts: Segments) -> int:
    """Return the number of used samples of the joint that has the fewest."""
    return int(np.min(parts.shown.used.sum(axis=0)))
