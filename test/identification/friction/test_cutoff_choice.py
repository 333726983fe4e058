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


@pytest.mark.parametrize(
    ('automatic', 'power', 'spread', 'factor'),
    [
        (5.0, -2.0, 0.0, 4.0),  # up to the lowest one of this rate, 20 Hz
        (10.0, -2.0, 0.0, 2.0),
        (20.0, -2.0, 0.0, 1.0),
        (5.0, -0.5, 0.5, 4.0),
        (20.0, 0.5, 0.5, 1.0),  # better by two to three standard errors
        (20.0, 2.0, 0.3, 0.25),
    ],
)
def test_a_higher_cutoff_must_be_better_and_a_lower_one_certainly(
    monkeypatch, automatic, power, spread, factor
):
    def held_out(_, signals, __):
        octaves = np.log2(signals.cutoff / automatic)
        noise = np.exp(spread * np.linspace(-4.5, 4.5, 10)) if octaves else np.ones(10)
        return HeldOut((signals.cutoff**power * noise / noise.mean(),), (np.ones(10),))

    monkeypatch.setattr(cutoff_choice, '_held_out', held_out)
    monkeypatch.setattr(cutoff_choice, '_keeps_motion', lambda *_: True)
    signals = Cut(automatic)

    def other(share):
        return Cut(automatic * share)

    assert cutoff_choice.cutoff_factor(MODEL, signals, OPTIONS, other) == factor
    asked = replace(OPTIONS, filter_cutoff=9.0)
    assert cutoff_choice.cutoff_factor(MODEL, signals, asked, other) == 1.0
    assert cutoff_choice.cutoff_factor(MODEL, Cut(None), OPTIONS, other) == 1.0


class Cut:
    time = np.arange(9) / 200.0

    def __init__(self, cutoff):
        self.cutoff = cutoff

    def __len__(self):
        return len(self.time)
