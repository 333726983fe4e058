# SPDX-License-Identifier: Apache-2.0
"""Cases and readings of recordings for the tests of the diagnosis and of the rivals."""

from dataclasses import replace
from functools import cache

import flaws
import numpy as np

from robodyn_ros.identification.diagnosis.case import Case
from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.identification.fit.torque_errors import evaluate
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.rivals.findings import rival_findings
from robodyn_ros.identification.rivals.reading import Reading
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.base_parameters import base_parameters


def case_of(model, recording, **options):
    """Case of a recording identified by weighted least squares."""
    chosen = IdentifyOptions(**options)
    signals = process(recording, model.joint_names, chosen)
    base = base_parameters(model)
    condensed = condense(model, signals.motion, signals.torque, signals.used, base.columns)
    fit = estimate(condensed.factors, base.rank)
    values = np.linalg.pinv(base.grouping) @ fit.values
    report, _ = evaluate(model, values, signals, source='case')
    errors = report.max_relative_torque_error
    return Case(recording, model, chosen, signals, values, errors)


ROBOTS = flaws.robots(7)


def reading_of(model, recording, **options):
    """Reading of a recording, as the diagnosis makes it."""
    chosen = IdentifyOptions(**options)
    return Reading.of(process(recording, model.joint_names, chosen), model, recording)


def found(model, recording):
    """Findings of the rivals on a recording."""
    return list(rival_findings(reading_of(model, recording)))


def first(name, change, kind='fourier'):
    """First finding on a changed recording of a plant."""
    model, recording = plant(name, kind=kind)
    named = found(model, change(recording))
    assert named, 'nothing is named'
    return named[0]


@cache
def plant(name, seed=44, kind='fourier', rate=200.0):
    """Model of a plant and a healthy recording of it, other masses than the model's prior."""
    case = flaws.Case(ROBOTS[name], seed, kind=kind)
    case.rate = rate
    return case.robot.model, flaws.record(case)[0]


def torque(recording, values):
    """The recording with another torque (N, n)."""
    return replace(recording, torque=np.asarray(values))


def scaled(recording, factor):
    """The recording with the torque of each joint times a factor (n,)."""
    return replace(recording, torque=recording.torque * np.asarray(factor))


def moved(recording, factor=1.0, offset=0.0):
    """The recording with the position of each joint times a factor (n,), plus an offset (n,)."""
    signals = {
        name: getattr(recording, name) * factor
        for name in ('velocity', 'acceleration')
        if getattr(recording, name) is not None
    }
    return replace(recording, position=recording.position * factor + offset, **signals)


def one(recording, joint, value, other=1.0):
    """A value for one joint or some, another one for the others, shape (n,)."""
    return np.where(np.isin(np.arange(len(recording.joints)), joint), value, other)


def late(recording, samples, joints=None, start=0):
    """The recording with a torque that is late from a sample on, of some joints or all."""
    values = np.array(recording.torque)
    rows = np.arange(start, len(values))
    columns = np.arange(values.shape[1]) if joints is None else np.asarray(joints)
    before = recording.torque[np.clip(rows - samples, 0, len(values) - 1)]
    values[np.ix_(rows, columns)] = before[:, columns]
    return torque(recording, values)


def constant(recording, start, end, joints=None, value=0.0):
    """The recording with a constant torque in a part of it, given by shares of its length."""
    values = np.array(recording.torque)
    rows = slice(round(start * len(values)), round(end * len(values)))
    columns = np.arange(values.shape[1]) if joints is None else np.asarray(joints)
    values[rows, columns] = recording.torque[rows.start, columns] if value is None else value
    return torque(recording, values)


def exchanged(recording, first, second, names=False):
    """The recording with two columns of torque, or two joint names, exchanged."""
    order = np.arange(len(recording.joints))
    order[[first, second]] = order[[second, first]]
    if names:
        return replace(recording, joints=tuple(recording.joints[k] for k in order))
    return torque(recording, recording.torque[:, order])
