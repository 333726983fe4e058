# SPDX-License-Identifier: Apache-2.0
"""Flaws of the signals or the model that a correction removes, each made on a simulated arm."""

import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from diagnosis_case import case_of
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.findings import finding, sentence
from robodyn_ros.identification.diagnosis import corrections, trial
from robodyn_ros.identification.diagnosis.case import draw, thinned
from robodyn_ros.identification.diagnosis.corrections import correction_findings
from robodyn_ros.identification.diagnosis.torque_factors import sign_findings
from robodyn_ros.identification.fit.folds import labels_of
from robodyn_ros.identification.fit.success import rated_torque
from robodyn_ros.identification.result.actions import actions
from robodyn_ros.models.catalog import build_model, robot_model

XML = random_urdf(4, 12, types=('revolute',))
MODEL, TRUTH = arm(XML)
GOOD = record(MODEL, TRUTH, 3000, noise=0.02)
VERTICAL = """
<robot name="vertical"><link name="base"/>
  <link name="arm"><inertial><origin xyz="0.3 0.1 0"/><mass value="4"/>
    <inertia ixx="0.02" iyy="0.3" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="joint1" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="50" velocity="3"/></joint>
</robot>"""
ALL = ('position', 'velocity', 'acceleration', 'torque')
SMALL = 0.05
"""Offset in [rad] that does not double the squared error."""
AXIS = {'kind': 'axis', 'type': 'rotary', 'joints': ['j'], 'friction': ['viscous']}


def ordered(order, names=ALL):
    return replace(GOOD, **{name: getattr(GOOD, name)[:, order] for name in names})


def with_offset(joint, offset):
    position = np.array(GOOD.position)
    position[:, joint] += offset
    return replace(GOOD, position=position)


def in_time(factor):
    return replace(
        GOOD,
        time=GOOD.time * factor,
        velocity=GOOD.velocity / factor,
        acceleration=GOOD.acceleration / factor**2,
    )


def found_in(model, recording):
    case = case_of(model, recording)
    return list(correction_findings(case, draw(case)))


FLAWS = {
    'two torques': (
        ordered([0, 2, 1, 3], ['torque']),
        'joint_order',
        'torques of joints joint2 and joint3 are',
    ),
    'two names': (ordered([0, 1, 3, 2]), 'joint_order', 'names of joints joint3 and joint4'),
    'order': (
        ordered([3, 2, 1, 0]),
        'joint_order',
        'names of all joints are in reverse order (joint1 to joint4)',
    ),
    'sign': (replace(GOOD, torque=GOOD.torque * [1, -1, 1, 1]), 'torque_sign', 'joint joint2'),
    'offset': (with_offset(1, 0.4), 'encoder_offset', 'joint2: its position is off by 0.4'),
    'offset of the first joint': (
        with_offset(0, 0.4),
        'encoder_offset',
        'joint1: its position is off by 0.4',
    ),
    'offset of many steps': (
        with_offset(2, 0.8),
        'encoder_offset',
        'joint3: its position is off by 0.80',
    ),
    'all torques': (
        ordered([3, 2, 1, 0], ['torque']),
        'joint_order',
        'torques of all joints are in reverse order (joint1 to joint4)',
    ),
    'short time': (in_time(0.5), 'time_scale', 'about 0.5 times as long'),
    'long time': (in_time(10.0), 'time_scale', 'about 10 times as long'),
}


@pytest.mark.parametrize('flaw', FLAWS)
def test_a_flaw_is_named_by_what_its_correction_is_worth(flaw):
    recording, code, words = FLAWS[flaw]
    (finding,) = found_in(MODEL, recording)
    assert finding.code == code and words in finding.text, finding.text
    first = re.search(r'joint\d', finding.text)
    assert finding.joint == (first[0] if first else '')
    assert finding.severity == 'error'
    assert 'On held-out parts of the recording' in finding.text


def test_what_to_do_about_an_offset_names_it_without_the_text():
    recording, *_ = FLAWS['offset']
    (action,) = actions(found_in(MODEL, recording))
    assert action.startswith('error: encoder_offset (joint2): Correct the zero of its encoder: ')
    rad, deg = map(float, re.search(r'subtract (.*) rad \((.*) deg\) from', action).groups())
    assert rad == pytest.approx(0.4, abs=0.02) and deg == pytest.approx(np.rad2deg(rad), rel=0.01)


def test_a_joint_whose_inertia_and_friction_are_positive_is_not_turned(monkeypatch):
    """A joint whose own inertia and friction have the right sign is not named."""
    recording, *_ = FLAWS['sign']
    for known, turned in (({1: (9.0, 9.0)}, False), ({1: (9.0, -9.0)}, True), ({}, True)):
        monkeypatch.setattr(corrections, 'signs', lambda *_, known=known: known)
        named = {each.joint for each in found_in(MODEL, recording) if each.code == 'torque_sign'}
        assert ('joint2' in named) == turned


@pytest.mark.parametrize(('left', 'explains'), [(2.1, True), (2.3, False)])
def test_a_factor_explains_what_a_correction_does_if_it_leaves_less(monkeypatch, left, explains):
    """A correction that leaves 0.3 of a squared excess of 4^2 leaves 2.19^2."""
    found = SimpleNamespace(excess=4.0, excesses=np.array([3.0, left]))
    monkeypatch.setattr(corrections, 'shared', lambda *_: found)
    assert corrections._factor_explains(None, None, 0.3) == explains


@pytest.mark.parametrize(('count', 'step'), [(0, 1), (499, 1), (999, 1), (1000, 2), (2600, 5)])
def test_samples_are_thinned_to_some_hundred(count, step):
    np.testing.assert_array_equal(thinned(np.arange(count)), np.arange(0, count, step))


def test_a_factor_of_a_joint_leaves_relative_errors_as_they_are():
    case = case_of(MODEL, GOOD)
    present = trial.Trial.of(case, draw(case))
    turned = present.scaled(1, -2.0)
    np.testing.assert_allclose(turned.torque * [1.0, -2.0, 1.0, 1.0], present.torque)
    sign = [1.0, -1.0, 1.0, 1.0]
    np.testing.assert_allclose(turned.rows[..., -1], present.rows[..., -1] * sign)
    size = np.sqrt(np.mean(present.torque**2, axis=0))
    expected = present.torque / np.maximum(size, 0.05 * rated_torque(MODEL, size))
    used = case.signals.used[thinned(draw(case).rows)]
    np.testing.assert_allclose(present.rows[..., -1], expected * used)
    assert not used.all()


@pytest.mark.parametrize('count', [70, 400, 3000])
def test_samples_can_be_shifted_by_their_reach(count):
    case = case_of(MODEL, GOOD.slice(slice(0, count)))
    sample = draw(case)
    assert sample.rows[0] == sample.reach == len(case.signals) - 1 - sample.rows[-1]
    assert sample.reach == min(np.ceil(0.05 * case.rate), len(case.signals) // 8)
    assert len(sample.rows) == min(2500, len(case.signals) - 2 * sample.reach)


@pytest.mark.parametrize(
    ('shares', 'excess', 'suspicious'),
    [
        ((0.1, 0.19), 1.05, False),
        ((0.21, 0.1), 1.05, True),
        ((0.1,), 1.07, True),
        ((), 1.0, False),
    ],
)
def test_corrections_are_tried_where_a_fit_is_bad(monkeypatch, shares, excess, suspicious):
    monkeypatch.setattr(corrections, 'disagreement', lambda *_: excess)
    fits = [(k, SimpleNamespace(sigma=3.0 * share, rms=3.0)) for k, share in enumerate(shares)]
    assert corrections._suspicious(None, SimpleNamespace(fits=lambda: fits)) == suspicious


def test_an_offset_has_the_unit_of_its_joint():
    assert corrections._length_or_angle(0.1234, 'rad') == '0.123 rad (7.07 deg)'
    assert corrections._length_or_angle(-0.1234, 'm') == '-0.123 m'


def test_joints_apart_are_each_a_fit_of_its_own():
    case = case_of(MODEL, replace(GOOD, torque=GOOD.torque * [1.0, 2.0, 1.0, 1.0]))
    present = trial.Trial.of(case, draw(case))
    division = trial.folds(present)
    for kind, own in zip(division, labels_of(present.motion[0]), strict=True):
        np.testing.assert_array_equal(kind, own)  # regions of the positions
    together, apart = present.held_out(division), present.apart(division)
    assert apart.mean < 0.2 * together.mean
    for kind, samples, shared in zip(apart.kinds, apart.samples, together.samples, strict=True):
        assert kind.shape == samples.shape
        np.testing.assert_array_equal(samples, shared)
    first = [
        replace(present, weight=present.weight * each).held_out(division) for each in np.eye(4)
    ]
    np.testing.assert_allclose(apart.kinds[0], sum(each.kinds[0] for each in first))


def test_errors_below_two_per_cent_of_the_torque_count_as_alike():
    assert trial.relative_error(0.8, 0.1, 500) == pytest.approx((0.1 + 0.2) / (0.8 + 0.2))
    assert trial.relative_error(0.0, 0.0, 500) == 1.0


def test_normal_equations_of_any_rank_and_scale_are_solved():
    random = np.random.default_rng(0)
    rows = random.normal(size=(50, 4)) * [1e-6, 1.0, 1e3, 1e-9]
    side = rows @ [2e6, -1.0, 3e-3, 4e9]
    np.testing.assert_allclose(trial.solution(rows.T @ rows, rows.T @ side), [2e6, -1, 3e-3, 4e9])
    twice = np.column_stack([rows[:, :2], rows[:, 1], np.zeros(50)])
    expected = np.linalg.lstsq(twice / [1e-6, 1, 1, 1], rows[:, :2] @ [2e6, -1.0])[0]
    found = trial.solution(twice.T @ twice, twice.T @ (rows[:, :2] @ [2e6, -1.0]))
    np.testing.assert_allclose(found, expected / [1e-6, 1, 1, 1], atol=1e-7)
    gram = trial.gram_of(np.column_stack([rows, side + 1.0])[:, None])
    values = np.zeros(4)
    assert trial.squared_error(gram, values) == pytest.approx(np.sum((side + 1.0) ** 2))


def test_springs_follow_the_sine_of_a_lever():
    case = case_of(MODEL, GOOD)
    present = trial.Trial.of(case, draw(case))
    lever = np.sin(present.motion[0] + [0.3, 1.0, -2.0, 0.0]) * [90.0, 0.0, 70.0, 80.0]
    pulled = replace(present, torque=present.torque + lever)
    values, error = pulled.with_springs().fitted()
    assert len(values) == present.regressor.shape[2] + 4 * 6
    assert error < 1.1 * present.fitted()[1] < 0.1 * pulled.fitted()[1]


@pytest.mark.parametrize(
    ('share', 'clear', 'spring', 'severity', 'words'),
    [
        (0.4, True, False, 'error', 'correction'),
        (0.4, True, True, 'warning', 'correction.spring'),
        (0.4, False, False, 'warning', 'correction.unclear'),
        (0.6, True, False, 'warning', 'correction'),
        (0.6, True, True, None, ''),  # it may as well be a spring
        (0.6, False, False, None, ''),
    ],
)
def test_a_correction_is_an_error_if_it_is_large_certain_and_no_spring(
    monkeypatch, share, clear, spring, severity, words
):
    case, shares = case_of(MODEL, GOOD), {3.0: 0.1, 1.0: share, 2.0: share + 0.05}
    tried = [
        corrections.Correction(
            partial(finding, 'encoder_offset', 'joint2', offset='0.1 rad'),
            SimpleNamespace(
                fitted=lambda error=error: (None, error), held_out=lambda _, e=error: e
            ),
        )
        for error in shares  # the two that fit best are compared, not the first one
    ]
    monkeypatch.setattr(corrections, '_suspicious', lambda *_: True)
    monkeypatch.setattr(corrections, '_corrections', lambda *_: tried)
    monkeypatch.setattr(corrections, 'share_left', lambda _, error, count: shares[error])
    monkeypatch.setattr(corrections, 'is_better', lambda *_: clear)
    monkeypatch.setattr(corrections, '_springs_explain', lambda *_: spring)
    monkeypatch.setattr(corrections, 'confirmed', lambda case, told, *_: told)
    explains, saturated = [], []
    monkeypatch.setattr(corrections, '_factor_explains', lambda *_: explains)
    monkeypatch.setattr(corrections, 'saturation_findings', lambda *_: saturated)

    def found():
        return list(correction_findings(case, draw(case)))

    told = found()
    assert [item.severity for item in told] == [severity] * bool(severity)
    assert all(sentence(words, share=share) in item.text for item in told)
    explains.append('a factor of a joint')
    assert not found()
    explains.clear()
    saturated.append('torque is missing at the top')
    assert not found()


def test_a_recording_without_flaw_has_none():
    assert not found_in(MODEL, GOOD)


def of_size(factor):
    """The robot's URDF with lengths times a factor."""

    def scaled(match):
        return f'xyz="{" ".join(repr(factor * float(each)) for each in match[1].split())}"'

    origins = re.compile(r'(?<=<origin )xyz="([^"]*)"')
    return robot_model(origins.sub(scaled, XML))


@pytest.mark.parametrize(
    ('factor', 'words', 'severity'),
    [(0.7, '1.4', 'error'), (1.4, '0.71', 'error'), (0.93, '1.1', 'warning')],
)
def test_a_urdf_of_another_size_is_named(factor, words, severity):
    (finding,) = found_in(of_size(factor), GOOD)
    assert finding.code == 'wrong_size' and f'about {words} times' in finding.text, finding.text
    assert finding.severity == severity


def test_a_small_offset_that_is_certain_is_a_warning_with_its_size():
    (finding,) = found_in(MODEL, with_offset(1, SMALL))
    assert (finding.code, finding.joint, finding.severity) == (
        'encoder_offset', 'joint2', 'warning',
    )  # fmt: skip
    assert f'off by {SMALL}' in finding.text


def test_a_robot_at_the_ceiling_is_not_blamed_on_the_signs():
    model, truth = arm(XML, gravity=(0.0, 0.0, 9.81))
    hanging = record(model, truth, 3000, noise=0.02)
    case = case_of(MODEL, hanging)
    first = [*correction_findings(case, draw(case)), *sign_findings(case, draw(case))][0]
    assert first.code == 'wrong_dynamic_model' and 'upside down' in first.text


def test_a_spring_is_no_reason_to_turn_gravity():
    """A spring balancer carries most of the second joint's gravity."""
    still = np.zeros_like(GOOD.position)
    gravity = MODEL.torque(GOOD.position, still, still, np.nan_to_num(MODEL.prior()))
    torque = np.array(GOOD.torque)
    torque[:, 1] -= 1.3 * gravity[:, 1]
    codes = [(item.code, item.severity) for item in found_in(MODEL, replace(GOOD, torque=torque))]
    assert ('wrong_dynamic_model', 'error') not in codes


def test_what_a_spring_explains_as_well_is_a_warning():
    """Gravity does not act on a vertical axis; a mounting with tilt and a spring look alike."""
    model, truth = arm(VERTICAL)
    good = record(model, truth, 3000, noise=0.02)
    assert not found_in(model, good)
    (found,) = found_in(
        model, replace(good, torque=good.torque - 9.0 * np.sin(good.position - 0.3))
    )
    assert (found.code, found.severity) == ('wrong_dynamic_model', 'warning')
    assert 'Springs or balancers' in found.text


def test_a_model_that_lacks_something_is_named_and_more_parameters_alone_are_not():
    axes = {k: build_model({**AXIS, 'dynamic_model': k}) for k in (1, 2, 3)}

    def recorded(number):
        values = np.linspace(1.0, 2.0, len(axes[number].parameters))
        return record(axes[number], values, 3000, noise=0.02)

    (finding,) = found_in(axes[1], recorded(3))
    assert finding.code == 'wrong_dynamic_model' and 'dynamic model 3 of axis' in finding.text
    assert not found_in(axes[1], recorded(1))
