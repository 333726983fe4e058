# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from diagnosis_case import case_of
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.diagnosis import signals
from robodyn_ros.identification.diagnosis.case import draw
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
    sample = draw(case)
    assert not list(stale_findings(case))
    assert not list(noise_findings(case, sample)) and not slow_joints(case, sample)


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


def test_a_step_as_small_as_those_of_the_motion_ends_no_stale_run():
    """A joint that rests for a moment and goes on: it did not move meanwhile."""
    steps = np.concatenate([np.full(500, 0.001), np.full(100, 0.01), np.zeros(10)])
    position = np.cumsum(np.concatenate([steps, np.full(100, 0.01)]))
    assert not len(stale_runs(position))
    position[610:] += 0.1  # what it went meanwhile at this speed
    assert stale_runs(position).tolist() == [10.0]


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


@pytest.mark.parametrize(
    ('lengths', 'used', 'severity'),
    [
        ([9.0], 0.0, None),
        ([11.0], 0.0, 'warning'),  # 0.05 s
        ([9.0, 2.0], 0.0, 'warning'),  # a two-hundredth of the samples
        ([30.0], 19.0, 'warning'),
        ([30.0], 21.0, 'error'),  # a hundredth is used
    ],
)
def test_stale_segments_are_compared_with_the_recording(
    healthy, monkeypatch, lengths, used, severity
):
    case = case_of(healthy[0], healthy[2])
    found = iter([np.zeros(0), np.array(lengths), np.array([used])])
    monkeypatch.setattr(signals, 'stale_runs', lambda _: next(found))
    told = list(stale_findings(case))
    assert [(item.joint, item.severity) for item in told] == [('joint2', severity)] * bool(told)
    assert bool(told) == bool(severity)
    assert all(f'{len(lengths)} times' in item.text for item in told)


def test_noise_as_large_as_the_torque_is_told(healthy):
    model, truth, _ = healthy
    case = case_of(model, record(model, truth, 1500, noise=0.6))
    found = {finding.joint for finding in noise_findings(case, draw(case))}
    assert found == {'joint1', 'joint2'}


@pytest.mark.parametrize(
    ('share', 'noise', 'slow', 'clear'),
    [
        (0.014, 0.0, True, True),
        (0.016, 0.0, False, False),
        (0.05, 0.09, True, False),
        (0.03, 0.09, True, True),
        (0.06, 0.09, False, False),
        (0.09, 0.5, True, True),
        (0.11, 0.5, False, False),
    ],
)
def test_a_joint_is_slow_by_its_inertia_and_its_residual(
    healthy, monkeypatch, share, noise, slow, clear
):
    case = case_of(healthy[0], healthy[2])
    shares = {0: (share, noise), 1: (0.5 * share, noise)}
    monkeypatch.setattr(signals, 'inertia_shares', lambda *_: shares)
    found = slow_joints(case, draw(case))
    named = {item.joint: clear for item, clear in found}
    assert ('joint1' in named, named.get('joint1', False)) == (slow, clear)
    assert not slow or [item.joint for item, _ in found] == ['joint2', 'joint1']


@pytest.mark.parametrize(
    ('noise', 'rest', 'error', 'rms', 'code'),
    [
        (0.32, 0.1, 0.0, 1.0, 'noise_as_large_as_signal'),
        (0.28, 0.1, 0.0, 1.0, None),
        (0.17, 0.32, 0.0, 1.0, 'noise_as_large_as_signal'),
        (0.15, 0.32, 0.0, 1.0, None),  # what the model lacks is no noise
        (0.0, 0.0, 0.6, 1.0, 'little_torque'),
        (0.0, 0.0, 0.4, 1.0, None),
        (0.0, 0.0, 0.6, 1.1, None),
    ],
)
def test_noise_and_little_torque_are_told_apart(
    healthy, monkeypatch, noise, rest, error, rms, code
):
    """The limits are 30 % of the torque, half the residual, and 5 % of the rated torque."""
    case = replace(case_of(healthy[0], healthy[2]), errors=np.full(2, error))
    monkeypatch.setattr(signals, 'white_noise', lambda _: noise)
    monkeypatch.setattr(signals, 'rated_torque', lambda _, torque: 21.0 * (torque == [0.0, rms]))
    own = SimpleNamespace(rms=rms, rest=rest * np.array([1.0, -1.0]))
    sample = SimpleNamespace(fits=lambda: [(1, own)])
    found = [(item.code, item.joint) for item in noise_findings(case, sample)]
    assert found == ([(code, 'joint2')] if code else [])


def test_shares_of_inertia_and_residual_are_those_of_the_torque(healthy):
    model, truth, recording = healthy
    still = np.zeros_like(recording.position)
    inertia = model.torque(recording.position, still, recording.acceleration, truth)
    inertia -= model.torque(recording.position, still, still, truth)
    expected = np.std(inertia, axis=0) / np.sqrt(np.mean(recording.torque**2, axis=0))
    case = case_of(model, recording)
    for joint, (share, noise) in inertia_shares(case, draw(case)).items():
        assert share == pytest.approx(expected[joint], rel=0.1)
        assert noise == pytest.approx(0.02, rel=0.2)


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
    sample = draw(case)
    fast = case_of(model, recording)
    before, after = inertia_shares(fast, draw(fast)), inertia_shares(case, sample)
    assert all(after[joint][0] < 0.02 * before[joint][0] for joint in before)
    found = slow_joints(case, sample)
    assert len(found) == 2 and all(clear for _, clear in found)
