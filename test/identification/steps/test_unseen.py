# SPDX-License-Identifier: Apache-2.0
"""A validation that repeats the motion of the fit says little about other motions."""

from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.pipeline import identify

MODEL, TRUTH = arm(random_urdf(3, 52, types=('revolute',)))


def validated(other):
    fitted = record(MODEL, TRUTH, 4000, noise=0.05, seed=1)
    result = identify(fitted, MODEL, validation=other(fitted))
    repeats = any(item.code == 'validation_repeats' for item in result.findings)
    return repeats, result.verdict


@pytest.mark.parametrize('shift', [0, 700])
def test_a_repeated_motion_counts_with_errors_on_parts_left_out(shift):
    """Also from another moment on."""
    noise = np.random.default_rng(3)

    def repeat(recording):
        torque = recording.torque + noise.normal(0.0, 0.05, recording.torque.shape)
        rows = slice(shift, None)
        return replace(recording, torque=torque).slice(rows)

    repeats, verdict = validated(repeat)
    assert repeats and verdict.tested == 'held-out blocks'


def test_another_motion_is_no_repeat():
    repeats, verdict = validated(lambda _: record(MODEL, TRUTH, 4000, noise=0.05, seed=2))
    assert not repeats and verdict.tested == 'the validation'
