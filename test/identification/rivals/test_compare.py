# SPDX-License-Identifier: Apache-2.0
"""Comparison of rivals: controls without a flaw, and the rules by which one is named."""

from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import ROBOTS, exchanged, found, plant, reading_of, scaled, torque

from robodyn_ros.findings import FINDINGS
from robodyn_ros.identification.rivals import compare as compared
from robodyn_ros.identification.rivals.compare import ALWAYS, OF_SIGNAL, RIVALS, compare
from robodyn_ros.identification.rivals.rival import Rival


@pytest.fixture(scope='module')
def healthy():
    return reading_of(*plant('scara3'))


@pytest.fixture(scope='module')
def flawed():
    model, recording = plant('scara3')
    return reading_of(model, exchanged(recording, 0, 1))


@pytest.mark.parametrize('kind', ['fourier', 'sine'])
@pytest.mark.parametrize('name', ROBOTS)
def test_a_healthy_recording_names_nothing(name, kind):
    model, recording = plant(name, 45, kind)
    assert not found(model, recording)


@pytest.mark.parametrize('name', ['scara', 'delta3', 'axis', 'six_axis'])
def test_springs_and_balancers_name_nothing(name):
    """A third of each joint's torque, which gravity in another direction would imitate."""
    model, recording = plant(name, 45)
    q = recording.position - recording.position.mean(axis=0)
    size = 0.4 * recording.torque.std(axis=0) / q.std(axis=0)
    assert not found(model, torque(recording, recording.torque + size * q))


@pytest.mark.parametrize('name', ['scara', 'delta3', 'axis'])
def test_rich_friction_names_nothing(name):
    model, recording = plant(name, 45)
    qd = np.gradient(recording.position, recording.time, axis=0)
    speed = qd / np.abs(qd).max(axis=0)
    extra = np.cbrt(speed) * (1.0 + 0.5 * np.abs(speed))
    added = 0.5 * recording.torque.std(axis=0) * extra
    assert not found(model, torque(recording, recording.torque + added))


@pytest.mark.parametrize('name', ['scara', 'delta3', 'axis', 'six_axis'])
def test_pure_noise_is_not_explained(name):
    model, recording = plant(name, 45)
    random = np.random.default_rng(2)
    noise = random.normal(size=recording.torque.shape) * recording.torque.std(axis=0)
    slow = np.sin(3.0 * recording.time)[:, None] * 0.1 * recording.torque.std(axis=0)
    assert [item.code for item in found(model, torque(recording, noise + slow))] == [
        'not_explained'
    ]


def test_torque_of_another_motion_is_not_explained():
    model, recording = plant('scara3')
    (item,) = found(model, torque(recording, recording.torque[::-1]))
    assert item.code == 'not_explained' and item.severity == 'error'


def test_the_best_rival_comes_first(flawed):
    named = compare(flawed)
    assert named[0].rival.key == 'joint_order.torques' and named[0].rival.joints == (0, 1)
    assert named[0].gain > named[0].rival.least and named[0].certainty > named[0].rival.certain
    joint, left = named[0].evidence
    assert joint in (0, 1) and left < 0.2


def test_what_explains_no_more_is_not_named(flawed):
    def same(reading):
        yield Rival('joint_order.torques', (0, 1), reading.present)

    assert compare(flawed, [same]) == ()


def test_a_rival_must_be_better_by_so_many_standard_errors(flawed):
    (best, *_) = compare(flawed)

    def strict(reading):
        yield replace(best.rival, certain=1e6)

    def usual(reading):
        yield best.rival

    assert compare(flawed, [usual]) and compare(flawed, [strict]) == ()


def test_a_rival_that_gains_no_more_than_by_chance_is_not_clear(flawed):
    """A few seconds determine a model badly: held-out errors are far above those of the fit."""
    (best, *_) = compare(flawed)
    alike = replace(best.rival.evidence)
    alike.__dict__['optimism'] = 100.0

    def lucky(reading):
        yield replace(best.rival, evidence=alike)

    assert best.clear and not compare(flawed, [lucky])[0].clear


def test_what_is_left_over_is_named_only_where_nothing_else_is(flawed):
    (best, *_) = compare(flawed)
    last = replace(best.rival, key='disturbed_interval', last=True)
    for order in ((best.rival, last), (last, best.rival)):
        named = compare(flawed, [lambda _, each=each: iter([each]) for each in order])
        assert [each.rival.last for each in named] == [False, True]


def test_only_a_suspicious_recording_is_read_in_every_way(healthy, flawed, monkeypatch):
    asked = []

    def always(reading):
        asked.append('always')
        return iter(())

    def otherwise(reading):
        asked.append('otherwise')
        return iter(())

    monkeypatch.setattr(compared, 'ALWAYS', (always,))
    assert not healthy.suspicious and flawed.suspicious
    compare(healthy, [always, otherwise])
    assert asked == ['always']
    compare(flawed, [always, otherwise])
    assert asked == ['always', 'always', 'otherwise']


def test_every_hypothesis_is_in_the_table_once():
    assert len(set(RIVALS)) == len(RIVALS)
    assert set(OF_SIGNAL) <= set(RIVALS) and set(ALWAYS) <= set(RIVALS)


@pytest.mark.parametrize('hypothesis', RIVALS, ids=lambda each: each.__name__)
def test_every_rival_has_a_text_and_a_key(hypothesis):
    model, recording = plant('scara')
    reading = reading_of(model, scaled(recording, [1.0, -2.0, 1.0, 1.0]))
    for rival in hypothesis(reading):
        assert rival.key in FINDINGS and FINDINGS[rival.key].severities, rival.key
        assert all(0 <= joint < 4 for joint in rival.joints)
        assert rival.evidence.torque.shape == reading.present.torque.shape
