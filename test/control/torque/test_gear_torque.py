# SPDX-License-Identifier: Apache-2.0
import itertools
import time
from types import SimpleNamespace

import numpy as np
import pytest
import residuals
from control_arm import small_arm

from robodyn_ros.control.feedforward.additive_torque import AdditiveTorque
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.torque.gear_torque import MeasuredGearTorque
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError

PERIOD, JOINTS = 0.001, 6
REST = np.zeros(JOINTS)


def proportional():
    return residuals.proportional('abcdef')


def make(**changes):
    return MeasuredGearTorque(proportional(), **{'period': PERIOD, 'scale': 1.0, **changes})


CLOCK = itertools.count(1)


def stamp():
    return 1000.0 + PERIOD * next(CLOCK)


def run(law, deflection, cycles, gear=-50.0):
    for _ in range(cycles):
        law.read(REST, gear * (REST + deflection), stamp())
        law.torque()
    return law.applied.copy()


def test_deflection_by_the_gear_ratio_gives_the_trained_torque():
    expected = proportional().torque(*np.array([[[0.005] * 6], [[0.0] * 6], [[0.0] * 6]]))[0]
    assert 3.0 < expected[0] < 7.0
    np.testing.assert_allclose(run(make(), 0.005, 300), expected, rtol=1e-6)
    for scale in (0.0, 0.3):
        scaled = run(make(scale=scale), 0.005, 300)
        np.testing.assert_allclose(scaled, scale * expected, rtol=1e-6)


def test_it_fades_in_and_a_wild_deflection_gives_none():
    law = make(fade_time=0.1)
    law.read(REST, REST - 50.0 * 0.005, stamp())
    first = np.abs(law.torque()).max()
    assert 0.0 < first < 0.02 * np.abs(run(law, 0.005, 200)).max()
    assert (run(make(timeout=0.5 * PERIOD), 0.005, 300) == 0.0).all()  # all are too old
    assert (run(make(), 0.5, 300) == 0.0).all()  # another zero of an encoder


@pytest.mark.parametrize('silent', ['nothing', 'nan', 'frozen'])
def test_without_measurements_it_fades_to_zero(silent):
    law = make(timeout=0.02, fade_time=0.1)
    before = run(law, 0.005, 300)
    last, course = 1000.0 + PERIOD * (next(CLOCK) - 1), []
    for _ in range(130):
        if silent == 'nan':
            law.read(REST, REST * np.nan, stamp())
        elif silent == 'frozen':  # the last message again and again
            law.read(REST, REST - 50.0 * 0.005, last)
        course.append(law.torque().copy())
    course = np.array(course)
    np.testing.assert_allclose(course[:19], np.tile(before, (19, 1)))
    assert (np.abs(course[19]) < np.abs(before)).all()
    assert (np.abs(np.diff(course, axis=0)) <= np.abs(before) / 99.0).all()
    assert (course[121:] == 0.0).all()
    assert (np.abs(run(law, 0.005, 300)) > 0.99 * np.abs(before)).all()


@pytest.mark.parametrize('spacing', [0.25, 1.0, 4.0])
def test_rates_are_those_of_the_stamps_however_often_measurements_come(spacing):
    law, seen = make(), []
    law._law = SimpleNamespace(gear_ratio=np.full(JOINTS, -50.0), torque=told(seen))
    for index in range(int(400 / spacing)):
        time = index * spacing * PERIOD
        law.read(REST, REST - 50.0 * (0.01 + 0.2 * time), 1000.0 + time)
        if index * spacing % 1.0 == 0.0:
            for _ in range(max(1, int(spacing))):
                law.torque()
    _, rate, velocity = seen[-1]
    np.testing.assert_allclose(rate, 0.2, rtol=0.02 * spacing)
    np.testing.assert_allclose(velocity, 0.2, rtol=0.02 * spacing)


def told(seen):
    def torque(*inputs):
        seen.append(np.array(inputs))
        return np.zeros((1, JOINTS))

    return torque


@pytest.mark.parametrize(('gap', 'restarted'), [(0.019, False), (0.021, True)])
def test_after_a_gap_of_the_stamps_beyond_the_timeout_it_fades_to_zero_first(gap, restarted):
    law, course = make(timeout=0.02, fade_time=0.1), []
    for moment in (*PERIOD * np.arange(300), *(0.299 + gap + PERIOD * np.arange(300))):
        law.read(REST, REST - 50.0 * (0.005 + 1e-9 * moment), 1000.0 + moment)
        course.append(law.torque().copy())
    course = np.array(course)
    size = np.abs(course[299])
    assert (np.abs(np.diff(course, axis=0)) <= size / 90.0).all()
    assert (course[300:] == 0.0).all(axis=1).any() == restarted
    np.testing.assert_allclose(course[-1], course[299], rtol=1e-3)


def test_a_motor_whose_value_stays_while_its_joint_moves_is_not_measured():
    law = make(timeout=0.02, fade_time=0.05)
    before = run(law, 0.005, 300)
    course, position = [], REST.copy()
    for _ in range(300):
        position[2] += 0.5 * PERIOD
        law.read(position, REST - 50.0 * 0.005, stamp())
        course.append(law.torque().copy())
    course = np.array(course)
    assert (np.abs(course) <= 1.3 * np.abs(before)).all() and not course[-1].any()
    for _ in range(300):  # a joint that rests is no fault of its motor
        law.read(position, -50.0 * (position + 0.005), stamp())
        law.torque()
    np.testing.assert_allclose(law.applied, before, rtol=1e-3)


def test_it_never_exceeds_the_limit():
    law, random = make(), np.random.default_rng(0)
    for _ in range(500):
        law.read(random.normal(size=6) * 0.01, random.normal(size=6), stamp())
        assert (np.abs(law.torque()) <= 10.0).all()


def test_clear_is_zero_at_once():
    law = make()
    run(law, 0.005, 300)
    law.clear()
    assert (law.applied == 0.0).all() and (law.torque() == 0.0).all()


@pytest.mark.parametrize(
    ('wrong', 'text'),
    [
        *(({'scale': bad}, 'residual_scale must be from 0 to 1') for bad in (-0.1, 1.1, np.nan)),
        *(
            ({name: bad}, f'{name} of the gear torque must be above 0 and finite, got {bad}')
            for name in ('period', 'timeout', 'fade_time')
            for bad in (0.0, -1.0, np.nan, np.inf)
        ),
    ],
)
def test_settings_that_cannot_be_used(wrong, text):
    with pytest.raises(ControlError, match=text):
        make(**wrong)


def test_six_axes_within_a_cycle_of_a_millisecond():
    law, times = make(), []
    for _ in range(300):
        begin = time.perf_counter()
        law.read(REST, REST, stamp())
        law.torque()
        times.append(time.perf_counter() - begin)
    assert np.median(times) < PERIOD, np.median(times)


class Deflected:
    """A gear torque that is always the same."""

    cleared = 0
    sent = np.array([3.0, -2.0])

    def clear(self):
        self.cleared += 1

    def torque(self):
        return self.sent


def test_the_law_adds_it_without_delay_scaled_and_limited():
    model, values = small_arm()
    limit = np.array([60.0, 30.0])
    settings = FeedforwardSettings(model.joint_names, limit, feedforward_scale=0.5)
    gears = Deflected()
    laws = [
        AdditiveTorque(torque=ModelTorque(model, values), settings=settings, gear_torque=found)
        for found in (None, gears)
    ]
    for law in laws:
        law.start()
    assert gears.cleared == 1
    at = np.full(2, 0.3)
    for _ in range(200):
        alone, both = (law.update(at, 0.0 * at, 0.0 * at).copy() for law in laws)
    np.testing.assert_allclose(both - alone, [1.5, -1.0], rtol=1e-9)
    gears.sent = np.array([1e4, -1e4])
    for _ in range(200):
        both = laws[1].update(at, 0.0 * at, 0.0 * at)
        assert (np.abs(both) <= limit).all()
    np.testing.assert_array_equal(both, limit * [1.0, -1.0])
