# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import case_of
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.diagnosis.signals import (
    inertia_shares,
    noise_findings,
    slow_joints,
    stale_findings,
    stale_runs,
)


@pytest.fixture(scope='module')
def healthy():
    model, truth = arm(random_urdf(2, 54, types=('revolute',)))
    return model, truth, record(model, truth, 2000, noise=0.02)


def test_a_healthy_recording_has_no_findings(healthy):
    model, _, recording = healthy
    case = case_of(model, recording)
    assert not list(stale_findings(case))
    assert not list(noise_findings(case)) and not slow_joints(case)


def test_stale_runs_are_segments_that_end_in_a_jump():
    moving = np.sin(0.01 * np.arange(1000))
    assert not len(stale_runs(moving)) and not len(stale_runs(np.ones(100)))
    held = np.array(moving)
    held[200:211], held[400:406] = held[200], held[400]
    assert stale_runs(held).tolist() == [10.0, 5.0]
    coarse = np.round(moving / 0.05) * 0.05  # an encoder's steps are no jumps
    assert not len(stale_runs(coarse))


@pytest.mark.parametrize(
    ('speed', 'held', 'share', 'stale'),
    [
        (1.0, 19, 0.45, True),
        (1.0, 19, 0.35, False),  # it moved less than before and after
        (1.0, 3, 1.0, True),
        (1.0, 2, 0.95, False),  # not beyond three of the smallest steps
        (0.12, 9, 1.0, True),
        (0.06, 9, 1.0, False),  # a tenth of the usual speed
    ],
)
def test_a_jump_is_compared_with_the_motion_around_it(speed, held, share, stale):
    jump = share * (held + 1) * speed
    around = np.full(100, speed)
    steps = np.concatenate([np.ones(500), around, np.zeros(held), [jump], around, np.ones(500)])
    for sign in (1.0, -1.0):
        assert stale_runs(sign * np.cumsum(steps)).tolist() == [held] * stale


def test_rounding_of_a_joint_at_rest_is_no_step():
    """Converted units leave positions of a joint at rest that differ by the last bit."""
    random = np.random.default_rng(4)
    turns = random.integers(0, 3, 2000).cumsum() % 2 * 1e-4
    resting = (turns * 180.0 / np.pi) * np.pi / 180.0 + random.integers(-1, 2, 2000) * 2e-20
    assert not len(stale_runs(resting))


def test_the_last_digits_of_a_joint_are_not_stale():
    """Printed numbers have a smallest step of their own, and a joint at rest toggles."""
    time = np.arange(4000) * 0.01
    random = np.random.default_rng(0)
    held = np.repeat(random.integers(-4, 5, 200), 4)  # counts, at rest
    counts = np.round(0.8 * np.sin(0.5 * time) / 1.2e-5)
    counts = np.concatenate([counts[0] + held, counts])
    printed = np.round(counts * 1.2e-5, 6)
    printed[::1000] += 1e-6
    assert not len(stale_runs(printed))
    printed[2000:2010] = printed[2000]
    assert stale_runs(printed).tolist() == [9.0]


def test_stale_joints_are_named(healthy):
    model, _, recording = healthy
    position = np.array(recording.position)
    fast = 100 + int(np.argmax(np.abs(recording.velocity[100:1800, 1])))
    position[fast - 15 : fast + 15, 1] = position[fast - 15, 1]
    stale = replace(recording, position=position, velocity=None, acceleration=None)
    (finding,) = stale_findings(case_of(model, stale))
    assert (finding.joint, finding.severity) == ('joint2', 'error') and '1 times' in finding.text
    position[fast - 15 : fast] = recording.position[fast - 15 : fast]
    (finding,) = stale_findings(case_of(model, replace(stale, position=position)))
    assert (finding.joint, finding.severity) == ('joint2', 'warning')
    position[fast : fast + 10] = recording.position[fast : fast + 10]  # 5 samples: 0.05 s and less
    assert not list(stale_findings(case_of(model, replace(stale, position=position))))


def test_noise_as_large_as_the_torque_is_told(healthy):
    model, truth, _ = healthy
    case = case_of(model, record(model, truth, 1500, noise=0.6))
    found = {finding.joint for finding in noise_findings(case)}
    assert found == {'joint1', 'joint2'}


def test_shares_of_inertia_and_residual_are_those_of_the_torque(healthy):
    model, truth, recording = healthy
    still = np.zeros_like(recording.position)
    inertia = model.torque(recording.position, still, recording.acceleration, truth)
    inertia -= model.torque(recording.position, still, still, truth)
    expected = np.std(inertia, axis=0) / np.sqrt(np.mean(recording.torque**2, axis=0))
    case = case_of(model, recording)
    for joint, (share, noise) in inertia_shares(case).items():
        assert share == pytest.approx(expected[joint], rel=0.1)
        assert noise == pytest.approx(0.03, rel=0.2)  # no model is more exact


def test_slow_motions_show_little_inertia(healthy):
    model, truth, recording = healthy
    slow = replace(
        recording,
        velocity=recording.velocity / 40.0,
        acceleration=recording.acceleration / 1600.0,
        torque=model.torque(
            recording.position, recording.velocity / 40.0, recording.acceleration / 1600.0, truth
        ),
    )
    case = case_of(model, slow)
    fast = case_of(model, recording)
    before, after = inertia_shares(fast), inertia_shares(case)
    assert all(after[joint][0] < 0.02 * before[joint][0] for joint in before)
    found = slow_joints(case)
    assert len(found) == 2 and all(clear for _, clear in found)
