# SPDX-License-Identifier: Apache-2.0
"""Verdict on torque errors, and findings on estimates."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from robots import dh_urdf
from simulation import arm, record

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis import checks
from robodyn_ros.identification.diagnosis.checks import distinct, merge
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify

# Two joints; both are rated at 100 Nm.
MODEL, TRUTH = arm(dh_urdf([(0.0, 0.0, 0.3), (np.pi / 2, 0.4, 0.0)]))
GOOD = record(MODEL, TRUTH, 3000, noise=0.01)


def errors_of(result):
    return {
        item.joint: item.severity
        for item in result.findings
        if item.code == 'relative_error_too_large'
    }


def with_torque(recording, change):
    return replace(recording, torque=change(np.array(recording.torque)))


def test_validation_decides_about_success():
    """A model that fits its own recording and no other is no success."""

    def wrong(torque):
        torque[:, 1] += 1.35 * np.abs(torque[:, 1]).max() * np.sin(3.1 * GOOD.time)
        return torque

    other = record(MODEL, TRUTH, 3000, noise=0.01, seed=5)
    assert identify(GOOD, MODEL, validation=other).success
    result = identify(GOOD, MODEL, validation=with_torque(other, wrong))
    assert not result.success and errors_of(result) == {'joint2': 'error'}


@pytest.mark.parametrize(('rule', 'errors'), [('torque', {}), ('softmc', {'joint1': 'error'})])
def test_single_samples_decide_by_the_rule_of_softmc_only(rule, errors):
    def spoiled(torque):
        torque[700:705, 0] += 2.0 * np.abs(torque[:, 0]).max() * np.array([0.5, 1, 1, 1, 0.5])
        torque[1500:1505, 0] = -torque[700:705, 0]
        return torque

    spoiled = with_torque(GOOD, spoiled)
    given = replace(spoiled, velocity=None, acceleration=None)
    result = identify(given, MODEL, options=IdentifyOptions(success_rule=rule))
    assert errors_of(result) == errors and result.success is not bool(errors)


def test_a_placeholder_of_the_effort_limit_hides_no_model_without_worth():
    """Drives of 1e6 Nm: 5 % of that would allow any error."""
    urdf = dh_urdf([(0.0, 0.0, 0.3), (np.pi / 2, 0.4, 0.0)])
    loose, _ = arm(urdf.replace('effort="100"', 'effort="1e6"'))
    other = record(MODEL, TRUTH, 3000, noise=0.01, seed=5)
    turned = with_torque(other, lambda torque: -torque)
    result = identify(GOOD, loose, validation=turned)
    assert not result.success and set(errors_of(result)) == {'joint1', 'joint2'}
    assert not result.verdict.worth_writing
    assert identify(GOOD, loose, validation=other).success


@pytest.mark.parametrize(
    ('samples', 'severity'), [(30, None), (29, 'warning'), (6, 'warning'), (5, 'error')]
)
def test_samples_are_compared_with_the_parameters_they_determine(samples, severity):
    """Ten of each are enough, below two each nothing is determined."""
    factors = [factor(range(3), samples), factor(range(4), 40), factor(range(4), 0)]
    condensed = SimpleNamespace(joints=('a', 'b', 'c'), factors=factors)
    found = list(checks.data_findings(condensed, FIT, None, {'c'}))
    assert [(item.joint, item.severity) for item in found] == ([('a', severity)] * bool(severity))


def factor(columns, samples=1000):
    return SimpleNamespace(columns=np.array(columns), samples=samples)


FIT = SimpleNamespace(unseen=np.zeros((4, 0)), condition_number_scaled=1e3)


@pytest.mark.parametrize(('count', 'more'), [(5, ''), (6, ' and 1 more')])
def test_parameters_that_a_motion_does_not_determine_are_named(count, more):
    """The least determined first, five at most; a share of 5 % is not worth naming."""
    unseen = np.zeros((8, 2))
    unseen[:count, 1] = -0.1 * np.arange(1, count + 1)
    unseen[6, 0], unseen[7, 0] = 0.04, 0.02
    base = SimpleNamespace(rank=8, expressions=tuple('stuvwxyz'))
    factors = [factor([0, 6]), factor([6, 7]), factor([4])]
    condensed = SimpleNamespace(joints=('a', 'b', 'c'), factors=factors)
    fit = SimpleNamespace(unseen=unseen, condition_number_scaled=1.0)
    for frozen, severity in (((), 'error'), ({'b'}, 'warning')):
        (found,) = checks.data_findings(condensed, fit, base, frozen)
        assert (found.code, found.severity) == ('rank_deficient', severity)
        assert ' 2 of 8 ' in found.text and 'act on a, c and' in found.text
        names = ', '.join('stuvwx'[:count][::-1][:5])
        assert f': {names}{more}.' in found.text


def test_noise_is_no_excuse():
    result = identify(record(MODEL, TRUTH, 3000, noise=1.5), MODEL)
    assert not result.verdict.worth_writing and not errors_of(result)  # its cause says the same
    assert {'noise_as_large_as_signal', 'not_explained'} <= {f.code for f in result.findings}


def test_findings_that_say_the_same_of_several_joints_are_one_line():
    shares = zip(('a', 'b', 'c'), (3, 5, 40), strict=True)
    found = [
        Finding('region_too_small', f'joint {n} moves in {k}% of its range', n) for n, k in shares
    ]
    error = Finding('stale_joint', 'joint a is stale', 'a', 'error')
    first, *others = merge([*found, error, replace(error, text='joint b is stale', joint='b')])
    assert first.text == 'joint a moves in 3% of its range (also b, c)'
    assert first.joint == 'a, b, c'
    assert [item.joint for item in others] == ['a', 'b']


def test_the_most_severe_finding_of_a_joint_stays_and_the_later_of_equals():
    given = [
        Finding('noise', f'{number}', joint, severity)
        for number, (joint, severity) in enumerate(
            [('a', 'warning'), ('b', 'error'), ('a', 'info'), ('b', 'warning'), ('c', 'info'),
             ('c', 'warning'), ('c', 'warning')]
        )
    ]  # fmt: skip
    assert [(item.joint, item.text) for item in distinct(given)] == [
        ('a', '0'), ('b', '1'), ('c', '6')
    ]  # fmt: skip


def test_motion_that_one_recording_lacks_is_no_finding_of_all():
    slow, short = (Finding('moving_too_slowly', f'joint {n} is slow', n) for n in 'ab')
    noise = Finding('noise', 'joint a has noise', 'a')
    assert list(checks.of_recordings([[slow, noise]], ['one'])) == [slow, noise]
    found = checks.of_recordings([[slow, short, noise], [slow]], ['one', 'two'])
    assert [item.text for item in found] == [
        'one: joint a is slow', 'one: joint a has noise', 'two: joint a is slow'
    ]  # fmt: skip


def test_a_recording_of_which_nothing_is_estimated_says_what_it_lacks():
    at_rest = with_torque(GOOD, lambda torque: torque * [0.0, 1.0])
    position = GOOD.position * [1.0, 0.0]
    known = finding('zero_torque', 'joint1', value=0.0)
    other = Finding('noise', 'joint1 has noise', 'joint1')
    recording = replace(at_rest, position=position, findings=(known, other))
    found = checks.failure_findings(recording, MODEL, 'no samples')
    codes = [(item.code, item.joint) for item in found]
    assert codes == [
        ('frozen_joint', 'joint2'), ('zero_torque', 'joint1'), ('too_few_samples', ''),
        ('noise', 'joint1'),
    ]  # fmt: skip
    assert 'joint1, joint2' in found[2].text and 'identified: no samples.' in found[2].text
    duration = GOOD.time[-1] - GOOD.time[0]
    rate = (len(GOOD.time) - 1) / duration
    assert f'{duration:.4g} s at {rate:.4g} Hz' in found[2].remedy


def test_a_delay_says_whether_it_was_corrected():
    late = with_torque(GOOD, lambda torque: np.roll(torque, 4, axis=0)).slice(slice(20, -20))
    for choice, code, words in (
        ('auto', 'time_offset', 'was shifted back'),
        ('no', 'sensor_delay', 'all joints come'),
    ):
        result = identify(late, MODEL, options=IdentifyOptions(time_offset=choice))
        (found,) = [item.text for item in result.findings if item.code == code]
        assert words in found
