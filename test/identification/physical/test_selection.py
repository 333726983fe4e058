# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record, sines

from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.chosen_estimate import Selection, selection_findings
from robodyn_ros.identification.physical.consistency import bodies_of, is_consistent
from robodyn_ros.identification.physical.selection import make_refit, refit_joints
from robodyn_ros.identification.physical.semidefinite import WEIGHTS, Data, Problem
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import robot_model

YES, NO = IdentifyOptions(consistent='yes'), IdentifyOptions(consistent='no')


def disturbed(seed, joints=6):
    """A robot whose masses are not those of its URDF, its values, and its model."""
    model, truth = arm(random_urdf(joints, seed, types=('revolute',)))
    random = np.random.default_rng(seed)
    for _, own in bodies_of(model).links:
        truth[list(own)] *= random.uniform(0.7, 1.4)
    return model, truth


def error_elsewhere(model, truth, result):
    """Torque error on large fast motion, where the recording was small."""
    _, *motion = sines(len(model.joints), 500, seed=9, size=1.5)
    torque = model.torque(*motion, truth)
    return np.linalg.norm(model.torque(*motion, result.values) - torque) / np.linalg.norm(torque)


@pytest.fixture(scope='module')
def poor():
    """Recording of a small motion with much noise."""
    model, truth = disturbed(90)
    return model, truth, record(model, truth, 600, noise=0.2, size=0.3)


@pytest.fixture(scope='module')
def estimates(poor):
    """Results of the poor recording, several tests look at each: plain, chosen, consistent."""
    model, _, recording = poor
    return [identify(recording, model, options=options) for options in (NO, None, YES)]


def test_poor_recording_gives_the_consistent_estimate_and_it_holds_elsewhere(poor, estimates):
    model, truth, _ = poor
    plain, chosen, _ = estimates
    assert not plain.physically_consistent and plain.selection.estimate == 'unconstrained'
    assert chosen.physically_consistent and chosen.selection.estimate == 'consistent'
    assert chosen.selection.unseen_error < chosen.selection.unseen_error_unconstrained
    assert error_elsewhere(model, truth, chosen) < 0.7 * error_elsewhere(model, truth, plain)


def test_good_recording_gives_what_least_squares_gives():
    model, truth = disturbed(92, joints=3)
    recording = record(model, truth, 3000, noise=0.001)
    result, plain = identify(recording, model), identify(recording, model, options=NO)
    assert result.physically_consistent and result.selection.estimate == 'consistent'
    np.testing.assert_allclose(result.base_values, plain.base_values, rtol=0, atol=0.05)


def test_without_prior_the_inertias_of_the_urdf_do_not_matter(poor):
    model, _, recording = poor
    lying = robot_model(
        random_urdf(6, 90, types=('revolute',)).replace('<mass value="', '<mass value="9')
    )
    options = replace(YES, prior='none')
    results = [identify(recording, each, options=options) for each in (model, lying)]
    np.testing.assert_allclose(results[0].base_values, results[1].base_values, rtol=1e-6)
    assert results[0].selection.prior == 'none'
    assert 'without prior' in next(
        f.text for f in results[0].findings if f.code == 'estimate_chosen'
    )


def impossible(noise, parameter, value):
    """Recording of a robot with a negative parameter, and friction that drives a little."""
    model, truth = arm(random_urdf(3, 93, types=('revolute',)))
    names = [item.name for item in model.parameters]
    truth[names.index(f'joint3.{parameter}')] = value
    truth[names.index('joint1.coulomb_friction')] = -0.3
    return model, record(model, truth, 1000, noise=noise)


def test_recording_that_contradicts_consistency_a_little_keeps_the_links():
    model, recording = impossible(0.1, 'viscous_friction', -3.0)
    result = identify(recording, model)
    assert result.selection.estimate == 'consistent_links' and result.selection.excess > 1.1
    assert is_consistent(model, result.values) and result.physically_consistent
    negative = [
        item.name
        for item, value in zip(model.parameters, result.values, strict=True)
        if item.name.endswith('.viscous_friction') and value < 0.0
    ]
    told = [f for f in result.findings if f.code == 'negative_friction']
    assert negative and len(told) == 1 and told[0].severity == 'info'
    assert told[0].text.startswith(', '.join(negative) + ' came out negative')
    limited = [k for k, item in enumerate(model.parameters) if 'coulomb' in item.name]
    assert (result.values[limited] >= 0.0).all() and not result.values[limited].all()
    asked = identify(recording, model, options=YES)
    assert asked.physically_consistent and asked.selection.estimate == 'consistent'
    better = result.identification.relative_residual
    assert better < asked.identification.relative_residual


def test_rotor_inertias_are_not_negative_where_noise_can_ask_for_it():
    model, recording = impossible(0.3, 'rotor_inertia', -1.0)
    result = identify(recording, model)
    rotors = [item.name.endswith('rotor_inertia') for item in model.parameters]
    assert (result.values[rotors] >= 0.0).all() and result.physically_consistent


def test_recording_that_contradicts_consistency_clearly_is_believed():
    """No rotor has a negative inertia: what a recording asks for is no robot."""
    model, recording = impossible(0.01, 'rotor_inertia', -1.0)
    result = identify(recording, model)
    assert result.selection.estimate == 'unconstrained' and not result.physically_consistent
    assert result.selection.unseen_error > 1.5 * result.selection.unseen_error_unconstrained
    assert result.identification.relative_residual < 0.011
    codes = {item.code for item in result.findings}
    assert {'estimate_chosen', 'not_physically_consistent'} <= codes


def test_what_a_joint_that_turns_one_way_does_not_tell_apart_is_shared():
    model, truth = arm(random_urdf(2, 5, types=('revolute',)))
    base = base_parameters(model)
    names = [parameter.name for parameter in model.parameters]
    coulomb, offset = (
        names.index(f'{model.joint_names[0]}.{each}')
        for each in ('coulomb_friction', 'torque_offset')
    )
    random = np.random.default_rng(0)
    regressor = random.normal(size=(200, len(base.grouping)))
    one, same = (int(np.flatnonzero(base.grouping[:, each])[0]) for each in (coulomb, offset))
    regressor[:, same] = regressor[:, one] + 1e-15 * random.normal(size=200)
    torque = regressor @ base.values(truth) + 0.1 * random.normal(size=200)
    orthogonal, triangle = np.linalg.qr(regressor)
    data = Data(triangle, np.linalg.lstsq(triangle, orthogonal.T @ torque, rcond=1e-9)[0])
    found = refit_joints(Problem.of(model, base, truth), data, truth)
    assert found[coulomb] == pytest.approx(found[offset], abs=1e-3)
    assert found[coulomb] + found[offset] == pytest.approx(truth[coulomb] + truth[offset], abs=0.1)


def test_short_recording_is_not_cross_validated():
    model, truth = arm(random_urdf(2, 94))
    result = identify(record(model, truth, 15, noise=0.01), model, options=YES)
    assert result.selection.estimate == 'consistent'
    assert result.selection.prior_weight == max(WEIGHTS)
    assert np.isnan(result.selection.unseen_error)
    (finding,) = selection_findings(result.selection, 0.1)
    assert 'held-out parts' not in finding.text
    assert 'not determined by this recording: there are too few' in finding.text


@pytest.mark.parametrize('ridge', [None, 0.0])
def test_a_wrong_prior_costs_little_where_nothing_can_be_left_out(ridge):
    """Masses four times those of the URDF, which the strongest weight would have nearly kept."""
    model, truth = arm(random_urdf(2, 94, types=('revolute',)))
    for _, own in bodies_of(model).links:
        truth[list(own)] *= 4.0
    recording = record(model, truth, 15, noise=0.02, rate=8.0)
    result = identify(recording, model, options=IdentifyOptions(ridge=ridge))
    assert np.isnan(result.selection.unseen_error) and result.selection.doubt
    assert 1e-6 < result.selection.prior_weight < max(WEIGHTS)
    assert result.selection.excess < 1.45
    strongest = identify(recording, model, options=IdentifyOptions(ridge=max(WEIGHTS)))
    assert strongest.selection.excess > 1.5


@pytest.fixture(scope='module')
def noisy():
    model, truth = arm(random_urdf(3, 70, types=('revolute',)))
    return model, truth, record(model, truth, 700, noise=0.3)


def test_ridge_minimises_what_it_says(noisy):
    model, _, recording = noisy
    base = base_parameters(model)
    motion = (recording.position, recording.velocity, recording.acceleration)
    used = np.ones(recording.torque.shape, dtype=bool)
    factors = condense(model, motion, recording.torque, used, base.columns).merge()
    problem = Problem.of(model, base, np.nan_to_num(model.prior()))
    data = Data.of(factors, base.rank, np.ones(3))
    random = np.random.default_rng(0)

    def cost(values, weight):
        rest = data.triangle @ (data.values - base.grouping @ values)
        drawn = problem.metric @ (values - problem.prior)
        return rest @ rest + weight * drawn @ drawn

    distances = []
    for weight in (1e-4, 1.0, 1e4):
        values = problem.draw(data, weight)
        least = cost(values, weight)
        for _ in range(20):
            near = values + 1e-3 * problem.scale * random.normal(size=len(values))
            assert cost(near, weight) > least
        distances.append(np.linalg.norm(problem.metric @ (values - problem.prior)))
    assert distances[0] > distances[1] > distances[2]


def test_estimates_are_fitted_again_as_they_were(noisy):
    """The same values as of the factors, from normal equations alone."""
    model, _, recording = noisy
    base, weight = base_parameters(model), 1e-2
    motion = (recording.position, recording.velocity, recording.acceleration)
    used = np.ones(recording.torque.shape, dtype=bool)
    factors = condense(model, motion, recording.torque, used, base.columns).merge()
    problem = Problem.of(model, base, np.nan_to_num(model.prior()))
    data, total = Data.of(factors, base.rank, np.ones(3)), sum(each.samples for each in factors)
    rows = [np.column_stack(each.rows(base.rank)) for each in factors]
    gram = sum(each.T @ each for each in rows) / total
    solved = problem.solve(data, weight)
    expected = {
        'unconstrained': data.values,
        'ridge': problem.grouping @ problem.draw(data, weight),
        'consistent': problem.grouping @ solved,
        'consistent_links': problem.grouping @ refit_joints(problem, data, solved),
    }
    for kind, values in expected.items():
        (found,) = make_refit(problem, Selection(kind, prior_weight=weight))(gram)
        np.testing.assert_allclose(found, values, rtol=1e-3, atol=1e-3)
    assert len({tuple(values.round(2)) for values in expected.values()}) == 4


def test_standard_deviations_count_how_far_the_prior_draws(noisy):
    """A prior that is wrong and strong must not look like knowledge."""
    model, _, recording = noisy
    plain = identify(recording, model, options=IdentifyOptions(consistent='no'))
    drawn = identify(recording, model, options=IdentifyOptions(ridge=1e4))
    shift = drawn.base_values - plain.base_values
    assert np.abs(shift / plain.base_stddevs).max() > 1.0
    np.testing.assert_allclose(drawn.base_stddevs, np.hypot(plain.base_stddevs, shift))
    names = [item.name for item in model.parameters]
    single = names.index('joint2.coulomb_friction')
    row = drawn.base_expressions.index('joint2.coulomb_friction')
    assert drawn.stddevs[single] == pytest.approx(drawn.base_stddevs[row])
