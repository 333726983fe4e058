# SPDX-License-Identifier: Apache-2.0
"""Timeout of references that follows their measured pauses."""

import numpy as np
import pytest

from robodyn_ros.control.feedforward.reference_timeout import (
    HIGHEST,
    LOWEST,
    MARGIN,
    ReferenceTimeout,
)

PERIOD = 0.002

MEMORY = 60.0
"""Time constant with which a pause is forgotten, in [s]."""


def after(pauses, **settings):
    """The timeout after references with these pauses between them, and the time of the last."""
    timeout = ReferenceTimeout(period=PERIOD, **settings)
    times = np.cumsum([100.0, *pauses])
    for now in times:
        timeout.read(now)
    return timeout


def steady(seconds, period=PERIOD):
    return np.full(round(seconds / period), period)


def test_it_starts_at_the_upper_limit_and_falls_to_the_lower_one_with_steady_references():
    timeout = after([])
    assert timeout.value == timeout.bound == HIGHEST
    for seconds in (1.0, 10.0):
        share = np.exp(-seconds / MEMORY)
        assert after(steady(seconds)).value == pytest.approx(HIGHEST * share, rel=1e-3)
    timeout = after(steady(3.0 * MEMORY))
    assert timeout.value == LOWEST and timeout.longest < LOWEST / MARGIN


def test_it_follows_a_long_pause_at_once_and_forgets_it():
    quiet = steady(3.0 * MEMORY)
    timeout = after([*quiet, 0.03])
    assert timeout.longest == pytest.approx(0.03) and timeout.value == pytest.approx(0.09)
    assert after([*quiet, 0.15]).value == HIGHEST
    assert after([*quiet, 0.03, *steady(MEMORY)]).value == LOWEST


def test_a_pause_of_a_sender_that_was_stopped_is_no_jitter():
    quiet = steady(3.0 * MEMORY)
    assert after([*quiet, HIGHEST + 0.01]).value == LOWEST


def test_slow_references_get_a_timeout_of_their_period():
    slow = ReferenceTimeout(period=0.1)
    now = 0.0
    for _ in range(3000):
        now += 0.1
        slow.read(now)
    assert slow.value == pytest.approx(0.3) and slow.bound == pytest.approx(0.5)
    assert after(steady(200.0, 0.025)).value == pytest.approx(0.075), 'not the period set'


def test_a_given_timeout_stays_and_has_no_exception():
    timeout = after([*steady(1.0), 0.019, 0.3], given=0.02)
    assert timeout.value == timeout.bound == 0.02
    for pause, late in ((0.0201, True), (0.0199, False)):
        assert timeout.silent(pause, PERIOD) == timeout.expired(pause, True) == late
    assert str(timeout) == 'reference_timeout is 0.02 s'


def test_a_pause_that_this_computer_made_is_accepted_up_to_the_bound():
    timeout = after(steady(3.0 * MEMORY))
    for pause, sent, silent in (
        (0.039, 0.039, False), (0.05, 0.05, True), (0.05, PERIOD, False), (0.19, PERIOD, False),
        (0.21, PERIOD, True), (0.05, timeout.value, False), (timeout.bound, PERIOD, False),
    ):  # fmt: skip
        assert timeout.silent(pause, sent) == silent, (pause, sent)
    for pause, held_up, expired in (
        (0.039, False, False), (0.05, False, True), (0.05, True, False), (0.21, True, True),
        (timeout.value, False, False), (timeout.bound, True, False),
    ):  # fmt: skip
        assert timeout.expired(pause, held_up) == expired, (pause, held_up)
    assert str(timeout) == (
        'reference_timeout is 0.04 s, 3 times the longest recent pause, at least 0.04 s'
    )
