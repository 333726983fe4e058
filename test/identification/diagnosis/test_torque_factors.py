# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from diagnosis_case import case_of, with_torque
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.diagnosis import torque_factors
from robodyn_ros.identification.diagnosis.case import draw
from robodyn_ros.identification.diagnosis.torque_factors import (
    DISAGREE,
    _turned,
    by_prior,
    disagreement,
    factor_findings,
    shared,
    sign_findings,
    signs,
)
from robodyn_ros.identification.factors.joint_fit import own_fit
from robodyn_ros.identification.fit.choice import HeldOut


@pytest.fixture(scope='module')
def healthy():
    model, truth = arm(random_urdf(3, 51, types=('revolute',)))
    return model, record(model, truth, 1500, noise=0.02)


def case_and_sample(model, recording):
    case = case_of(model, recording)
    return case, draw(case)


def test_joints_of_a_healthy_recording_agree(healthy):
    case, sample = case_and_sample(*healthy)
    assert 1.0 <= disagreement(case, sample) < DISAGREE
    result = shared(case, sample)
    assert (result.factors == 1.0).all() and (result.excesses == result.excess).all()
    assert not list(sign_findings(case, sample)) and not list(factor_findings(case, sample))
    for inertia, friction in signs(case, sample).values():
        assert inertia > 5.0 and friction > 0.0
    for factor, spread in by_prior(case, sample).values():
        assert abs(factor - 1.0) < 4.0 * spread


@pytest.mark.parametrize('wrong', [0.1, 3.0])
def test_the_factor_of_one_joint_is_found(healthy, wrong):
    model, recording = healthy
    case, sample = case_and_sample(model, with_torque(recording, [1.0, wrong, 1.0]))
    result = shared(case, sample)
    assert result.excess == pytest.approx(disagreement(case, sample)) and result.excess > 1.5
    best = int(np.argmin(result.excesses))
    assert result.joints[best] == 1
    assert result.factors[best] == pytest.approx(wrong, rel=0.02)
    (finding,) = factor_findings(case, sample)
    assert (finding.code, finding.joint, finding.severity) == ('torque_factor', 'joint2', 'error')


@pytest.mark.parametrize(
    ('left', 'factor', 'named'),
    [
        (2.5, 3.0, True),
        (4.0, 3.0, False),
        (2.5, 1.3, True),
        (2.5, 1.2, False),
        (2.5, 0.77, True),
        (2.5, 0.85, False),
        (2.5, -3.0, False),
        (2.5, 0.0, False),
    ],
)
def test_a_factor_must_explain_three_quarters(healthy, monkeypatch, left, factor, named):
    case, sample = case_and_sample(*healthy)
    excesses = np.sqrt(1.0 + np.array([9.0, left, 12.0]))
    factors = np.array([1.0, factor, 1.0])
    found = replace(shared(case, sample), excess=4.0, excesses=excesses, factors=factors)
    monkeypatch.setattr(torque_factors, 'shared', lambda *_: found)
    item = torque_factors._shared_finding(case, sample)
    assert (item is not None and item.joint == 'joint2') == named


@pytest.mark.parametrize(
    ('rests', 'doubted'),
    [
        ([2.9, 1.0, 3.1], True),
        ([3.1, 1.0, 3.1], False),
        ([0.13, 0.0, 0.14], True),  # 0.9 % of the disagreement
        ([0.14, 0.0, 0.14], False),
    ],
)
def test_factors_that_explain_nearly_as_much_are_named_too(healthy, monkeypatch, rests, doubted):
    case, sample = case_and_sample(*healthy)
    found = replace(
        shared(case, sample),
        excess=4.0,
        excesses=np.sqrt(1.0 + np.array(rests)),
        factors=np.array([5.0, 3.0, 7.0]),
    )
    monkeypatch.setattr(torque_factors, 'shared', lambda *_: found)
    text = torque_factors._shared_finding(case, sample).text
    assert ('or that of joint joint1 5 times' in text) == doubted and 'joint3' not in text


@pytest.mark.parametrize(
    ('known', 'friction', 'count'),
    [
        ({0: (-1.0, 0.1), 1: (-0.5, 0.1)}, [9.0, -4.0], 2),
        ({0: (-1.0, 0.1), 1: (-0.5, 0.1)}, [9.0, -6.0], None),  # torques are turned
        ({0: (-1.0, 0.1), 1: (-0.5, 0.1), 2: (0.5, 0.2)}, [9.0], 2),  # one that is not clear
        ({0: (-1.0, 0.1), 1: (0.5, 0.1)}, [9.0], None),
        ({0: (-1.0, 0.1), 1: (-0.5, 0.2)}, [9.0], None),
        ({}, [], None),
    ],
)
def test_all_joints_that_feel_gravity_say_that_it_points_upwards(known, friction, count):
    found = torque_factors._mount_finding(known, friction)
    assert (found is None) == (count is None)
    assert count is None or f'{count} joints' in found.text


def test_standard_deviations_are_those_of_residuals_that_last_for_a_hundredth():
    random = np.random.default_rng(0)
    rows, columns = np.arange(2000), np.arange(2)
    matrix = np.column_stack([np.sin(0.01 * rows), np.cos(0.017 * rows)])
    weights, values = np.array([2.0, -1.0]), np.array([3.0, 4.0])
    noise = np.repeat(random.normal(size=(200, 100)), 20, axis=1)
    fits = [own_fit(matrix, columns, matrix @ values + each, rows >= 0) for each in noise]
    spread = np.std([weights @ fit.values for fit in fits])
    told = [torque_factors._in_deviations(fit, weights) for fit in fits]
    assert np.mean(told) == pytest.approx(weights @ values / spread, rel=0.15)
    assert np.isnan(torque_factors._in_deviations(fits[0], np.zeros(2)))


@pytest.mark.parametrize(
    ('after', 'apart', 'agree'),
    [(0.4, 0.3, True), (0.4, 0.1, False), (0.6, 0.5, False), (0.4, 0.5, True)],
)
def test_a_factor_makes_joints_agree_if_most_of_the_error_goes(healthy, after, apart, agree):
    """And if no more than twice that of the joints alone is left."""

    def trial(error, alone=1.0):
        held_out = [
            HeldOut((np.full(9, each / 9.0),), (np.full(9, 30.0),)) for each in (error, alone)
        ]
        return SimpleNamespace(
            motion=(healthy[1].position,),
            weight=np.ones(1),
            held_out=lambda _: held_out[0],
            apart=lambda _: held_out[1],
        )

    assert torque_factors._agrees(trial(1.0, apart), trial(after)) == agree


@pytest.mark.parametrize(
    ('witness', 'severity', 'told'),
    [
        ((-8.0, -6.0, 0.0), 'error', ['inertia is negative', 'friction drives the joint']),
        ((-6.0, -0.2, 0.0), 'warning', ['inertia is negative']),
        ((-0.2, -6.0, 0.0), 'warning', ['friction drives the joint']),
        ((-2.0, -1.0, -0.95), 'error', ["it is -0.95 times what the model's prior masses give"]),
        ((-2.0, -1.0, 0.95), None, []),
    ],
)
def test_a_turned_sign_is_told_with_what_says_so(healthy, monkeypatch, witness, severity, told):
    case, sample = case_and_sample(*healthy)
    inertia, friction, factor = witness
    monkeypatch.setattr(
        torque_factors, 'signs', lambda *_: {0: (9.0, 9.0), 2: (inertia, friction)}
    )
    monkeypatch.setattr(torque_factors, 'by_prior', lambda *_: {2: (factor, 0.05)})
    found = list(sign_findings(case, sample))
    assert [(item.joint, item.severity) for item in found] == [('joint3', severity)] * bool(told)
    for item in found:
        every = ['inertia is negative', 'friction drives the joint', 'it is -0.95 times']
        assert [each for each in every if each in item.text] == [
            each for each in every if any(each in one for one in told)
        ]


def test_one_factor_for_all_is_told_by_the_prior(healthy):
    model, recording = healthy
    case, sample = case_and_sample(model, with_torque(recording, [1000.0] * 3))
    assert disagreement(case, sample) < DISAGREE
    factors = by_prior(case, sample)
    assert np.array([f for f, _ in factors.values()]) == pytest.approx(1000.0, rel=0.2)
    found = list(factor_findings(case, sample))
    assert 'mNm' in found[0].text and {item.severity for item in found} == {'error'}


@pytest.mark.parametrize(
    ('factors', 'severity'),
    [
        ([0.01, 0.02, 1.0], 'warning'),
        ([0.01, 20.0, 30.0], 'warning'),
        ([10.5, 30.0, 90.0], 'error'),
        ([9.5, 30.0, 90.0], 'warning'),
        ([0.02, 0.05, 0.095], 'error'),
        ([0.02, 0.05, 0.3], 'warning'),
        ([20.0, 30.0, -1.0], 'error'),  # a factor that is not clear says nothing
        ([20.0, -1.0, -1.0], 'warning'),
    ],
)
def test_masses_of_a_urdf_may_be_wrong_but_a_unit_is_the_same_for_all(
    healthy, monkeypatch, factors, severity
):
    case, sample = case_and_sample(*healthy)
    known = {joint: (factor, 1e-3 * factor) for joint, factor in enumerate(factors)}
    monkeypatch.setattr(torque_factors, 'by_prior', lambda *_: known)
    found = list(factor_findings(case, sample))
    assert found and {item.severity for item in found} == {severity}


def test_a_turned_sign_is_found(healthy):
    model, recording = healthy
    case, sample = case_and_sample(model, with_torque(recording, [1.0, 1.0, -1.0]))
    inertia, friction = signs(case, sample)[2]
    assert inertia < -5.0 and friction < -5.0
    assert [finding.joint for finding in sign_findings(case, sample)] == ['joint3']


@pytest.mark.parametrize('joint', [0, 2])
def test_a_torque_that_is_mostly_viscous_friction_tells_its_sign(healthy, joint):
    """Its correlation with the velocity is -0.99; next to no inertia is seen."""
    model, recording = healthy
    torque = np.array(recording.torque)
    drag = 100.0 * np.std(torque[:, joint]) * recording.velocity[:, joint]
    noise = np.random.default_rng(joint).normal(size=len(drag))
    torque[:, joint] = -(torque[:, joint] + drag + 0.05 * np.std(drag) * noise)
    turned = replace(recording, torque=torque)
    assert np.corrcoef(torque[:, joint], recording.velocity[:, joint])[0, 1] < -0.99
    case, sample = case_and_sample(model, turned)
    (found,) = sign_findings(case, sample)
    assert (found.joint, found.severity) == (f'joint{joint + 1}', 'error')


@pytest.mark.parametrize(
    ('inertia', 'friction', 'factor', 'wrong'),
    [
        (-8.0, -6.0, 0.0, True),
        (-8.0, float('nan'), 0.0, True),
        (-0.2, -72.0, 0.0, True),  # a slow joint: friction alone
        (-0.2, -10.0, 0.0, False),
        (-999.0, -2.7, 0.0, True),  # an axis with next to no friction
        (-2.0, -1.0, -0.95, True),  # the prior alone
        (-2.0, -1.0, -0.02, False),  # of a size that no prior masses explain
        (-2.0, 14.0, -0.95, False),  # contradicted by friction
        (0.2, -72.0, 0.98, False),  # and by the prior
        (9.0, 3.0, 1.0, False),
        (-5.5, -5.5, 0.0, True),
        (-4.5, -5.5, 0.0, False),
        (-5.5, -4.5, 0.0, False),
        (-0.2, -16.0, 0.0, True),
        (-0.2, -14.0, 0.0, False),
        (-16.0, -0.2, 0.0, True),
        (-16.0, 4.5, 0.0, True),
        (-16.0, 5.5, 0.0, False),
        (4.5, -16.0, 0.0, True),
        (5.5, -16.0, 0.0, False),
        (-16.0, 0.0, 0.19, True),
        (-16.0, 0.0, 0.21, False),
        (0.0, 0.0, -2.9, True),
        (0.0, 0.0, -3.1, False),
        (0.0, 0.0, -0.34, True),
        (0.0, 0.0, -0.32, False),
    ],
)
def test_witnesses_of_a_turned_sign(inertia, friction, factor, wrong):
    assert _turned(inertia, friction, factor, 0.05)[1] is wrong
