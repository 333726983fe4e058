# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from robodyn_ros.control.feedforward.reference import Pace, ReferenceMotion


@pytest.fixture
def reference() -> ReferenceMotion:
    return ReferenceMotion(width=2, timeout=0.02, period=0.002)


def sine(time: float) -> tuple[np.ndarray, np.ndarray]:
    return np.array([np.sin(time), 2.0 * time]), np.array([np.cos(time), 2.0])


def test_acceleration_is_that_of_half_a_cycle_ago(reference: ReferenceMotion) -> None:
    for count in range(200):
        time = 5.0 + 0.002 * count
        assert reference.read(time, *sine(time)) == ''
    np.testing.assert_allclose(reference.acceleration, [-np.sin(time - 0.001), 0.0], atol=1e-6)
    np.testing.assert_array_equal(reference.position, sine(time)[0])


def test_the_first_sample_has_no_acceleration(reference: ReferenceMotion) -> None:
    reference.read(1.0, *sine(0.0))
    assert not reference.acceleration.any()
    reference.read(1.002, *sine(1.0))
    assert reference.acceleration.any()
    reference.restart()
    assert reference.read(1.2, *sine(0.5)) == ''
    assert not reference.acceleration.any()


def test_time_must_go_forward_and_not_jump(reference: ReferenceMotion) -> None:
    reference.read(1.0, *sine(0.0))
    assert 'went back by 0.5 s' in reference.read(0.5, *sine(0.0))
    reference.restart()
    assert reference.read(0.5, *sine(0.0)) == ''
    reference.timeout = 0.25
    assert reference.read(0.75, *sine(0.0)) == '', 'that is the largest distance'
    assert 'jumped forward by 2 s' in reference.read(2.75, *sine(0.0))


def test_samples_that_follow_each_other_too_fast_are_to_be_left_out(
    reference: ReferenceMotion,
) -> None:
    assert reference.refusal(1.0) == ''
    reference.read(1.0, *sine(0.0))
    assert reference.elapsed == np.inf
    assert 'only 0 s after' in reference.refusal(1.0)
    assert 'only 0.0004 s after' in reference.refusal(1.0004)
    exact = ReferenceMotion(width=2, timeout=0.02, period=2.0**-9)
    exact.read(1.0, *sine(0.0))
    assert exact.refusal(1.0 + 2.0**-11) == ''
    # A sender that was late with one sample and is in time with the next is no reason.
    assert reference.refusal(1.0006) == ''
    assert reference.refusal(0.9) == '', 'that is a fault'
    reference.read(1.0006, *sine(0.0006))
    np.testing.assert_allclose(reference.elapsed, 0.0006)
    reference.restart()
    assert reference.elapsed == np.inf


@pytest.mark.parametrize('velocity', [[0.0, 0.1], [-0.011, 0.0]])
def test_position_frozen_while_the_velocity_says_it_moves(
    reference: ReferenceMotion, velocity: list[float]
) -> None:
    moving = (np.ones(2), np.array(velocity))
    for begin in (1.0, 2.0):  # a gap starts the time anew
        answers = [reference.read(begin + 0.002 * count, *moving) for count in range(15)]
        assert not any(answers[:10])
        assert 'does not change although' in answers[-1]
        reference.restart()  # a gap in the stamps is a fault of its own


def test_standing_still_is_no_fault(reference: ReferenceMotion) -> None:
    still = (np.ones(2), np.zeros(2))
    assert not any(reference.read(1.0 + 0.002 * count, *still) for count in range(100))


def test_a_velocity_that_fades_without_end_is_standing_still(reference: ReferenceMotion) -> None:
    """As a low-pass leaves it: the position is too coarse for it long before it is zero."""
    for count in range(3000):
        fading = 0.01 * 0.98**count * np.ones(2)
        assert reference.read(1.0 + 0.002 * count, 1.0 + 0.1 * fading, fading) == ''
    assert fading.any()


def test_a_burst_takes_no_more_time_than_has_passed() -> None:
    pace = Pace(0.002)
    for count in range(50):
        assert pace.take(0.002 * count, 0.002) == 0.002
    late = [pace.take(0.120, 0.002) for _ in range(8)]
    assert late == pytest.approx([0.002, 0.002, 0, 0, 0, 0, 0, 0], abs=1e-12)
    assert pace.take(0.121, 0.002) == pytest.approx(0.001)
    # One sample late and the next in time, for ever: none of them loses anything.
    pace = Pace(0.002)
    for count in range(50):
        late = 0.0015 * (count % 2)
        assert pace.take(0.002 * count + late, 0.002) == pytest.approx(0.002)


@pytest.mark.parametrize(
    ('step', 'told'),
    [
        (0.001, True),
        (0.0015, True),
        (0.0018, False),
        (0.0023, False),
        (0.0025, True),
        (0.004, True),
    ],
)
def test_the_mean_time_between_samples_is_held_against_the_period(
    reference: ReferenceMotion, step: float, told: bool
) -> None:
    assert reference.off_pace(3) == ''
    random, spacing = np.random.default_rng(1), []
    for count in range(1000):
        jitter = 0.4 * step * random.random()
        assert reference.read(5.0 + step * count + jitter, *sine(step * count)) == ''
        spacing.append(reference.spacing)
    np.testing.assert_allclose(spacing[500:], step, rtol=0.1)
    sentence = (
        f'references come every {1e3 * spacing[-1]:.3g} ms, the parameter period is 2 ms: additive'
        f'_torque_delay of 3 references is {3e3 * spacing[-1]:.3g} ms in place of 6 ms'
    )
    assert reference.off_pace(3) == (sentence if told else '')
    reference.restart()
    assert reference.off_pace(3) == ''
