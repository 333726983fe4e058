# SPDX-License-Identifier: Apache-2.0
"""The test client on a machine without progress, without ROS."""

import numpy as np
import pytest
import ros_client
from ros_client import Sent, SilenceError, steps, undisturbed

SILENT = 'additive torque ramped to zero: no usable reference for 1.188 s'


def failing(errors):
    """A test that fails once with each of these errors."""
    left = list(errors)

    @undisturbed
    def test():
        if left:
            raise left.pop(0)

    return test, left


def test_silence_is_tried_anew_and_nothing_else():
    test, left = failing([SilenceError('one'), SilenceError('two')])
    with pytest.warns(UserWarning, match='test is tried anew: two'):
        test()
    assert not left
    test, left = failing([SilenceError('one'), AssertionError('a fault'), SilenceError('two')])
    with pytest.warns(UserWarning), pytest.raises(AssertionError, match='a fault'):
        test()
    assert len(left) == 1 and not ros_client.Trial.running


def test_silence_that_does_not_end_fails(monkeypatch):
    monkeypatch.setattr(ros_client, 'TRIED', 0.05)

    @undisturbed
    def test():
        raise SilenceError('always')

    with pytest.warns(UserWarning), pytest.raises(SilenceError, match='always'):
        test()


def test_only_what_stayed_away_is_silence():
    for text in (
        SILENT,
        'there has been no usable new joint state for 0.95 s (state_timeout is 0.8 s)',
        'for 0.5 s the joint states have had no usable effort of all joints',
        'stopped after 0.3 s: there are no joint states for 1.4 s',
    ):
        with pytest.raises(SilenceError):
            SilenceError.check(text)
    for text in (
        '',
        'the reference is not finite',
        'the stamp of the joint states went back by 5 s',
        'the positions in joint states do not change although the reference moves',
        "the measured torque of joint 'joint1' is 191, torque_threshold is 190",
        "joint 'joint1' does not follow: it is 0.3 rad from where it should be",
    ):
        SilenceError.check(text)


def test_what_was_lost_counts_as_a_step_of_its_own():
    rows = [Sent([0.0, 1.0], 5, 0.0), Sent([0.5, 1.0], 6, 0.1), Sent([2.0, 0.0], 9, 0.2)]
    change, between = steps(rows, lambda row: row)
    np.testing.assert_array_equal(change, [[0.5, 0.0], [1.5, -1.0]])
    np.testing.assert_array_equal(between, [[1], [3]])
