# SPDX-License-Identifier: Apache-2.0
"""A recording that can be read by other conventions: its signals, and the samples compared."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.fit.folds import labels_of
from robodyn_ros.identification.rivals.evidence import Evidence, roughness
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import with_friction
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.friction_terms import DEFAULT_TERMS
from robodyn_ros.models.interface import Array, DynamicModel, Indices, SumModel
from robodyn_ros.models.springs import SpringModel
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import low_pass

COMPARED = 600
"""Samples that hypotheses are compared on: the error of a variance from so many is 6 %."""

SUSPICIOUS = 0.1
"""Share of a joint's torque that its own fit leaves from which on conventions are doubted."""

DISAGREE = 1.15
"""Squared error of all joints together over that of each alone, from which on they disagree."""

FOREIGN = 0.1
"""Roughness of masses from which on they are not those of this recording: 0.1 is 40 % more."""

EXACT = 0.03
"""Share of a joint's torque that no model of a geared joint explains better."""


@dataclass(frozen=True)
class Reading:
    """Signals of a recording, and its samples as they were recorded.

    :param rows: samples that are compared, shape (M,)
    :param recorded: torque as it was recorded, at `times`, shape (N, n), in [Nm] or [N]
    :param times: shape (N,), in [s]; those of the signals are equally spaced
    :param doubted: the complete model leaves much of a joint's torque: a smaller gain counts
    """

    signals: Processed
    rows: Indices
    present: Evidence
    recorded: Array
    times: Array
    doubted: bool = False

    @classmethod
    def of(
        cls,
        signals: Processed,
        model: DynamicModel,
        recording: Recording,
        *,
        doubted: bool = False,
    ) -> Reading:
        """Read a recording as it was recorded, with linear friction."""
        plain = plain_model(model)
        rows = np.linspace(0, len(signals) - 1, min(COMPARED, len(signals))).astype(np.intp)
        torque = signals.torque[rows]
        q, qd, qdd = (values[rows] for values in signals.motion)
        rms = np.sqrt(np.mean(torque**2, axis=0))
        present = Evidence(
            model=plain,
            base=base_parameters(plain),
            motion=(q, qd, qdd),
            torque=torque,
            used=signals.used[rows],
            unit=np.ones(len(rms)),
            column=np.arange(len(rms)),
            size=_positive(rms),
            labels=labels_of(q),
        )
        present = replace(present, size=_separate_errors(present, rms))
        present = replace(present, rough=roughness(present.masses))
        selected = recording.select(signals.joints)
        return cls(signals, rows, present, selected.torque, selected.time, doubted)

    @property
    def suspicious(self) -> bool:
        """True if joints disagree on what they share, or with the masses, or have other torque."""
        return self.contradicted or self.present.rough > FOREIGN

    @property
    def contradicted(self) -> bool:
        """The same by the torque alone: masses of a URDF may be wrong."""
        disagree = self.present.error > DISAGREE * len(self.present.size)
        return bool(disagree or (self.present.size > SUSPICIOUS * self.rms).any())

    @cached_property
    def rms(self) -> Array:
        """RMS torque of each joint, shape (n,), in [Nm] or [N]."""
        return np.asarray(np.sqrt(np.mean(self.present.torque**2, axis=0)))

    @property
    def moving(self) -> list[int]:
        """Joints with samples that are used."""
        return [int(joint) for joint in np.flatnonzero(self.present.used.any(axis=0))]

    @property
    def period(self) -> float:
        """Sampling period, in [s]."""
        return float(self.signals.time[1] - self.signals.time[0])

    def with_recorded(self, torque: Array) -> Evidence:
        """Return the samples with another torque than `recorded`, shape (N, n)."""
        columns = [np.interp(self.signals.time, self.times, values) for values in torque.T]
        return self.with_torque(np.column_stack(columns))

    def with_torque(self, raw: Array) -> Evidence:
        """Return the samples with another torque (N, n), before the low pass, in [Nm] or [N]."""
        cutoff, rate = self.signals.cutoff, 1.0 / self.period
        if cutoff is not None:
            with suppress(RobodynError):  # too short for the filter
                raw = low_pass(raw, min(max(cutoff, 20.0), 0.45 * rate), rate)
        return self.present.read(torque=raw[self.rows])


def plain_model(model: DynamicModel) -> DynamicModel:
    """Return the bodies of a model with linear friction: a rich law absorbs flaws."""
    parts = model.parts if isinstance(model, SumModel) else (model,)
    bodies = [part for part in parts if not isinstance(part, (FrictionModel, SpringModel))]
    try:
        body = bodies[0] if len(bodies) == 1 else SumModel(parts=bodies)
        names = [item.name for item in model.parameters]
        constant = any(name.endswith('torque_offset') for name in names)
        return with_friction(body, DEFAULT_TERMS if constant else DEFAULT_TERMS[:-1])
    except RobodynError:  # no bodies, or a closed form with friction of its own
        return model


def _separate_errors(present: Evidence, rms: Array) -> Array:
    """Return the error of each joint (n,) if it shares no parameter with the others."""
    each = np.eye(len(rms), dtype=bool)
    alone = [replace(present, used=present.used & one).error for one in each]
    return _positive(np.maximum(np.sqrt(alone) * present.size, EXACT * rms))


def _positive(size: Array) -> Array:
    return np.asarray(np.maximum(size, 1e-9 * max(float(size.max()), 1e-300)))
