# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf

from robodyn_ros.identification.fit.choice import HeldOut
from robodyn_ros.identification.friction import cutoff_choice
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.recording.recording import Recording

MODEL = robot_model(random_urdf(2, 3, types=('revolute',)))
OPTIONS = IdentifyOptions()


def moved(frequency):
    """Both joints on a sine, 200 Hz, 30 s."""
    time = np.arange(6000) / 200.0
    position = 0.5 * np.sin(2.0 * np.pi * frequency * time[:, None] + [0.0, 1.0])
    return Recording(time, MODEL.joint_names, position, np.cos(position))


@pytest.mark.parametrize(('frequency', 'factor'), [(0.2, 0.25), (4.0, 0.5), (9.0, 1.0)])
def test_the_lowest_cutoff_that_keeps_the_motion_is_taken(monkeypatch, frequency, factor):
    """Held-out errors that always favour the lower cut-off, as on a motion of a narrow band."""

    def held_out(_, signals, __):
        errors = np.full(10, signals.cutoff**2) * np.linspace(0.99, 1.01, 10)
        return HeldOut((errors,), (np.ones(10),))

    monkeypatch.setattr(cutoff_choice, '_held_out', held_out)
    recording = moved(frequency)
    signals = process(recording, MODEL.joint_names, OPTIONS, automatic=20.0)

    def other(share):
        options = replace(OPTIONS, cutoff_factor=share)
        return process(recording, MODEL.joint_names, options, automatic=20.0)

    assert cutoff_choice.cutoff_factor(MODEL, signals, OPTIONS, other) == factor
