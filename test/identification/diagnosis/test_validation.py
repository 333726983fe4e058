# SPDX-License-Identifier: Apache-2.0
"""Intervals of a validation whose torque the model does not explain."""

import re
from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import case_of
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.diagnosis.validation import validation_findings

MODEL, TRUTH = arm(random_urdf(3, 12, types=('revolute',)))
GOOD = record(MODEL, TRUTH, 4000, noise=0.02)


def changed(change):
    torque = np.array(GOOD.torque)
    change(torque)
    return replace(GOOD, torque=torque)


def times(item):
    return [float(each) for each in re.findall(r'([\d.]+) s\b', item.text)]


def on_validation(recording, values):
    case = case_of(MODEL, recording)
    return list(validation_findings(MODEL, values, case.signals, 'other.csv'))


def test_a_contact_in_the_validation_is_named():
    def touch(torque):
        torque[1800:1900] += 0.7 * np.abs(torque).max(axis=0)

    (item,) = on_validation(changed(touch), TRUTH)
    assert item.code == 'disturbed_validation' and item.severity == 'warning'
    start, end = times(item)
    assert abs(start - 9.0) < 0.6 and abs(end - 9.5) < 0.6


def test_torque_that_is_known_is_no_disturbance_of_a_validation():
    signals = case_of(MODEL, GOOD).signals
    known = np.zeros_like(signals.torque)
    known[1800:1900] = 100.0
    carried = replace(signals, torque=signals.torque + known, known=known)
    assert list(validation_findings(MODEL, TRUTH, replace(carried, known=None), 'other.csv'))
    assert not list(validation_findings(MODEL, TRUTH, carried, 'other.csv'))


@pytest.mark.parametrize('values', [TRUTH, 1.1 * TRUTH, 0.0 * TRUTH])
def test_a_model_that_is_wrong_everywhere_is_no_disturbance(values):
    assert not on_validation(GOOD, values)
