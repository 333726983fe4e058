# SPDX-License-Identifier: Apache-2.0
"""Flaws of one recording, and of a robot that has several."""

from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import case_of, scaled
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.diagnosis.diagnose import diagnose
from robodyn_ros.identification.diagnosis.together import different_findings
from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.payload import payload_of
from robodyn_ros.recording.recording import Recording

MODEL, TRUTH = arm(random_urdf(3, 60, types=('revolute',)))
COUNT = 5


def recorded(seed, cables):
    """Record a small motion round a place of its own; cables add torque that no model has."""
    random, chains = np.random.default_rng([3, seed]), np.random.default_rng(5)
    time, q = np.arange(900) / 100.0, np.tile(random.uniform(-1.0, 1.0, 3), (900, 1))
    qd, qdd = np.zeros((2, 900, 3))
    for joint in range(3):
        for harmonic in range(1, 4):
            w, size = 2.0 * np.pi * 0.21 * harmonic, 0.15 * random.uniform(0.3, 0.8) / harmonic
            angle = w * time + random.uniform(0.0, 6.28)
            q[:, joint] += size * np.sin(angle)
            qd[:, joint] += size * w * np.cos(angle)
            qdd[:, joint] -= size * w**2 * np.sin(angle)
    torque = MODEL.torque(q, qd, qdd, TRUTH)
    scale = np.sqrt(np.mean(torque**2, axis=0)).mean()
    for joint in range(3):
        other, phase = (joint + 1) % 3, chains.uniform([1.0, 1.0, 0.0], [3.0, 2.0, 6.0])
        stretch = phase[0] * q[:, other] - phase[1] * q[:, joint] + phase[2]
        pull = np.sin(stretch) + 0.5 * np.tanh(qd[:, other] / 0.1)
        torque[:, joint] += cables * scale * pull
    torque += 0.02 * scale * random.normal(size=torque.shape)
    signals = {'position': q, 'velocity': qd, 'acceleration': qdd, 'torque': torque}
    return Recording(time=time, joints=MODEL.joint_names, source=f'run {seed}', **signals)


@pytest.fixture(scope='module')
def good():
    return [recorded(seed, 0.0) for seed in range(COUNT)]


def errors(recordings):
    """Return for each recording code and joint of the errors."""
    found = [diagnose(case_of(MODEL, each)) for each in recordings]
    return [[(item.code, item.joint) for item in own if item.severity == 'error'] for own in found]


def exchanged(recording):
    return replace(recording, torque=recording.torque[:, [1, 0, 2]])


FLAWS = {
    'sign': (lambda each: scaled(each, [1.0, -1.0, 1.0]), 'torque_sign'),
    'order': (exchanged, 'joint_order'),
}


@pytest.mark.parametrize('count', [2, COUNT])
@pytest.mark.parametrize('flaw', FLAWS)
def test_a_flaw_of_the_robot_is_an_error(good, flaw, count):
    change, code = FLAWS[flaw]
    found = errors([change(each) for each in good[:count]])
    assert code in {each for own in found for each, _ in own}, found


@pytest.mark.parametrize('flaw', ['sign'])  # so small a motion hides order and factor
def test_a_flaw_of_one_recording_is_an_error_of_it_alone(good, flaw):
    change, code = FLAWS[flaw]
    found = errors([*good[:2], change(good[2]), *good[3:]])
    assert code in {each for each, _ in found[2]}, found
    assert not any([*found[:2], *found[3:]]), found


def test_an_error_of_one_recording_does_not_hide_a_flaw_of_the_robot(good):
    change, code = FLAWS['sign']
    changed = [change(each) for each in good]
    dead = scaled(changed[0], [1.0, 1.0, 0.0])
    found = errors([dead, *changed[1:]])
    assert found[0] == [('zero_torque', 'joint3')]
    assert all(code in {each for each, _ in own} for own in found[1:]), found


def test_cables_in_small_motions_are_no_error():
    """Another order of the joints may fit a small motion better by chance."""
    assert not any(errors([recorded(seed, 0.3) for seed in range(COUNT)]))


def condensed_of(recording):
    signals = process(recording, MODEL.joint_names, IdentifyOptions())
    columns = base_parameters(MODEL).columns
    return condense(MODEL, signals.motion, signals.torque, signals.used, columns)


def differing(recordings):
    apart = [condensed_of(each) for each in recordings]
    sources = [each.source for each in recordings]
    return list(different_findings(apart, np.ones(3), sources))


def pair(change):
    """Two recordings with large motions, the second one with torque (N, 3) that is added."""
    first, second = (record(MODEL, TRUTH, 4000, noise=0.02, seed=seed) for seed in (1, 2))
    added = change(second.position, second.velocity, second.acceleration)
    return [first, replace(second, torque=second.torque + added, source='second')]


def test_recordings_of_the_same_robot_do_not_differ(good):
    assert not differing(good) and not differing(good[:1])
    assert not differing(pair(lambda *motion: np.zeros(3)))


def test_a_recording_at_rest_cannot_be_compared():
    first, _ = pair(lambda *motion: np.zeros(3))
    still = np.zeros((4000, 3))
    noise = np.random.default_rng(0).normal(size=still.shape)
    signals = {'position': still, 'velocity': still, 'acceleration': still, 'torque': noise}
    apart = [condensed_of(first), condensed_of(replace(first, **signals))]
    assert not list(different_findings(apart, np.ones(3), ['first', 'rest']))


def test_unknown_torque_in_small_motions_is_no_difference():
    assert not differing([recorded(seed, 0.03) for seed in range(COUNT)])


@pytest.mark.parametrize('count', [1, 3])
def test_a_recording_with_a_load_differs_from_those_without(count):
    body = payload_of(
        MODEL, 3.0, center_of_mass=(0.0, 0.1, 0.2), inertia=(0.2, 0.0, 0.0, 0.2, 0.0, 0.1)
    )
    first, loaded = pair(lambda *motion: MODEL.torque(*motion, body.added))
    bare = [first, *(record(MODEL, TRUTH, 4000, noise=0.02, seed=seed) for seed in (3, 4))]
    (item,) = differing([*bare[:count], loaded])
    assert (item.code, item.severity) == ('recordings_differ', 'warning')
    assert '% on second' in item.text and '--payload' in item.message
