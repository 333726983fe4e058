# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import random_urdf

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.identification.signals.cutoff import Cutoffs
from robodyn_ros.identification.steps.preparation import (
    LEAVE_ONE_OUT,
    Clock,
    Task,
    build_known_torque,
    prepare,
)
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.payload import PayloadModel
from robodyn_ros.recording.recording import Recording

MODEL = robot_model(random_urdf(2, 3, types=('revolute',)))


def noisy(rate):
    """A slow motion whose noise lowers the automatic cut-off."""
    time = np.arange(round(30.0 * rate)) / rate
    position = 0.5 * np.sin(2.0 * np.pi * 0.2 * time[:, None] + [0.0, 1.0])
    position += 1e-3 * np.random.default_rng(0).normal(size=position.shape)
    return Recording(time, MODEL.joint_names, position, np.cos(position))


def test_a_recording_is_filtered_like_those_that_were_fitted():
    recording = noisy(200.0)
    task = Task((recording,), MODEL, IdentifyOptions())
    own = task.process(recording).raw.cutoff
    assert own < 10.0
    for like in (15.0, 0.7 * own):
        assert task.process(recording, Cutoffs(1.0, like, 20.0)).raw.cutoff == like
    # a lower sampling rate carries a fifth of itself
    assert task.process(noisy(50.0), Cutoffs(1.0, 15.0, 20.0)).raw.cutoff == pytest.approx(10.0)
    given = Task((recording,), MODEL, IdentifyOptions(filter_cutoff=5.0))
    assert given.process(recording, Cutoffs(1.0, 15.0, 20.0)).raw.cutoff == 5.0


def test_recordings_and_arm_that_are_missing_are_refused():
    recording, options = noisy(50.0), IdentifyOptions()
    assert Task((recording,) * 2, MODEL, options, validation=LEAVE_ONE_OUT).arm is None
    with pytest.raises(IdentificationError, match='at least 2 recordings'):
        Task((recording,), MODEL, options, validation=LEAVE_ONE_OUT)
    with pytest.raises(IdentificationError, match='no recording'):
        Task((), MODEL, options)
    with pytest.raises(IdentificationError, match='on top of an identified arm'):
        Task((recording,), PayloadModel(arm=MODEL), options)


def test_known_torque_of_an_arm_is_that_of_its_values():
    values = np.linspace(0.5, 1.5, len(MODEL.parameters))
    arm = IdentifiedModel(model=MODEL, values=values, stddevs=values, hash='')
    recording = noisy(200.0)
    signals = Task((recording,), MODEL, IdentifyOptions()).process(recording).shown
    known = build_known_torque(arm)
    assert known is not None and build_known_torque(None) is None
    expected = MODEL.torque(*signals.motion, values)
    difference = np.abs(known(recording, signals) - expected)
    assert np.quantile(difference, 0.9) < 0.02 * np.abs(expected).max()


def test_a_slow_driver_whose_values_are_published_often_gets_a_cut_off_that_it_carries():
    fast = noisy(100.0)
    held = np.arange(len(fast)) // 20 * 20  # measured at 5 Hz
    recording = Recording(
        fast.time, fast.joints, fast.position[held], np.ascontiguousarray(fast.torque[held])
    )
    task = Task((recording,), MODEL, IdentifyOptions())
    prepared = prepare(task, Clock())
    assert prepared.parts[0].raw.cutoff == pytest.approx(1.0)
