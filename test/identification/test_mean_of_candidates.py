# SPDX-License-Identifier: Apache-2.0
"""Identifications of simulated robots with the mean of candidates: errors, parameters, files."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from robots import random_urdf
from simulation import arm, record, sines

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.identification.average.candidates import LAWS
from robodyn_ros.identification.files.export import export
from robodyn_ros.identification.files.report import text_report
from robodyn_ros.identification.files.result_file import load_identified_model, write_result
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.consistency import bodies_of
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.facts import json_facts
from robodyn_ros.identification.result.urdf import update_urdf
from robodyn_ros.models.catalog import robot_model, with_friction

YES, NO = IdentifyOptions(consistent='yes'), IdentifyOptions(consistent='no')
URDF = random_urdf(3, 83, types=('revolute',))
BODY = robot_model(URDF, friction=())
OWN = np.nan_to_num(BODY.prior(), nan=0.3)
LAW = {'terms': ['smooth', 'load'], 'smoothing': [0.08, 0.2, 0.12], 'load': OWN.tolist()}


def recordings(friction, amplitudes, **options):
    """Two motions of a robot with this friction."""
    model = with_friction(BODY, friction)
    values = np.concatenate([OWN, np.ravel(np.tile(amplitudes, (3, 1)))])
    options = {'noise': 0.02, 'derivatives': False, 'resolution': 1e-5, **options}
    return [record(model, values, 4000, seed=seed, **options) for seed in (1, 2)]


def codes_of(result):
    return {item.code for item in result.findings}


def error_of(result, second):
    """Relative torque error of a result on another motion, without noise."""
    velocity = np.gradient(second.position, second.time, axis=0)
    state = second.position, velocity, np.gradient(velocity, second.time, axis=0)
    left = (result.model.torque(*state, result.values) - second.torque)[5:-5]
    return np.linalg.norm(left) / np.linalg.norm(second.torque)


def test_a_poor_recording_gives_a_possible_robot_that_holds_elsewhere():
    """A small motion with much noise, of a robot whose masses are not those of its URDF."""
    model, truth = arm(random_urdf(6, 90, types=('revolute',)))
    random = np.random.default_rng(90)
    for _, own in bodies_of(model).links:
        truth[list(own)] *= random.uniform(0.7, 1.4)
    recording = record(model, truth, 600, noise=0.2, size=0.3)
    _, *motion = sines(6, 500, seed=9, size=1.5)
    torque = model.torque(*motion, truth)
    result = identify(recording, model)
    error = np.linalg.norm(model.torque(*motion, result.values) - torque) / np.linalg.norm(torque)
    assert result.physically_consistent and error < 0.25, error


def test_without_prior_the_inertias_of_the_urdf_do_not_matter():
    urdf = random_urdf(3, 90, types=('revolute',))
    recording = record(*arm(urdf), 600, noise=0.2, size=0.3)
    models = [
        robot_model(each) for each in (urdf, urdf.replace('<mass value="', '<mass value="9'))
    ]
    options = replace(YES, prior='none')
    true, lying = (identify(recording, each, options=options).base_values for each in models)
    np.testing.assert_allclose(true, lying, rtol=1e-6, atol=1e-9)


def test_linear_friction_is_not_worse_for_the_other_laws():
    first, second = recordings('linear', [0.6, 2.0, 0.3])
    second = replace(second, source='second')
    errors = {
        law: identify(first, robot_model(URDF, friction=law), validation=second).validation
        for law in ('linear', 'auto')
    }
    automatic, linear = errors['auto'].relative_residual, errors['linear'].relative_residual
    assert automatic < 1.02 * linear and linear < 0.025  # the noise is 0.02


def sprung(recording, joint=1, stiffness=900.0):
    """The same motion with a spring between the base and a point of a link: no sine of its angle.

    The model lacks it: its length changes too.
    """
    near, far, free = 0.15, 0.4, 0.2
    angle = recording.position[:, joint] - 0.4
    length = np.sqrt(near**2 + far**2 - 2.0 * near * far * np.cos(angle))
    torque = np.array(recording.torque)
    torque[:, joint] += stiffness * (length - free) * near * far * np.sin(angle) / length
    return replace(recording, torque=torque)


def test_a_spring_on_a_lever_is_predicted_in_part():
    first, second = (sprung(each) for each in recordings('linear', [0.6, 2.0, 0.3]))
    result = identify(first, robot_model(URDF, friction='auto'), validation=second)
    plain = identify(first, robot_model(URDF), validation=second)
    error, before = (each.validation.relative_residual for each in (result, plain))
    assert error < 0.06 and before > 5.0 * error, (error, before)
    (told,) = (item for item in result.findings if item.code == 'springs')
    assert 'joint2.' in told.text.split(',')[0] and 'springs' not in codes_of(plain)


def test_a_torsion_spring_is_found():
    first, second = recordings('linear', [0.6, 2.0, 0.3])
    stiffness = np.array([0.0, 15.0, 0.0])
    stiff = [replace(r, torque=r.torque + stiffness * r.position) for r in (first, second)]
    result = identify(stiff[0], robot_model(URDF, friction='auto'), validation=stiff[1])
    found = json_facts(result)['friction']['spring_stiffness']
    np.testing.assert_allclose([*found.values()], stiffness, atol=0.75)
    assert result.validation.relative_residual < 0.024  # the noise is 0.02


@pytest.fixture(scope='module')
def loaded():
    """Result of a robot whose friction grows with the load, its recording and the other motion."""
    first, second = recordings(LAW, [1.0, 4.0, 0.3, 0.15])
    return identify(first, robot_model(URDF, friction='auto'), validation=second), first, second


def test_smooth_load_dependent_friction_is_predicted_better_than_by_the_linear_law(loaded):
    result, first, second = loaded
    linear = identify(first, robot_model(URDF), validation=second)
    assert result.validation.relative_residual < 0.85 * linear.validation.relative_residual
    assert 0.018 < result.validation.relative_residual < 0.026  # the noise is 0.02
    heaviest = result.weighted.candidates[0]
    assert 'load' in heaviest.law and result.weighted.error < result.weighted.plain


def test_result_file_report_and_control_take_it_as_it_is(loaded, tmp_path):
    result, _, second = loaded
    write_result(result, tmp_path / 'result.yaml')
    identified = load_identified_model(tmp_path / 'result.yaml')
    q, qd = second.position[::50], np.gradient(second.position, 0.005, axis=0)[::50]
    expected = result.model.torque(q, qd, np.zeros_like(q), result.values)
    np.testing.assert_array_equal(identified.torque(q, qd, np.zeros_like(q)), expected)
    torque = ModelTorque(identified.model, identified.values)
    np.testing.assert_allclose(torque.torque(q, qd, np.zeros_like(q)), expected, atol=1e-9)
    header, weighted = identified.facts, result.weighted
    shown = [each for each in weighted.candidates if each.weight >= 0.01]
    assert header['candidate_names'] == [each.name for each in shown]
    assert header['held_out_error'] == pytest.approx(weighted.error)
    assert sum(header['candidate_weights']) == pytest.approx(1.0, abs=0.1)  # some have little
    assert f'mean of {len(weighted.candidates)} candidates' in text_report(result)
    (told,) = (item for item in result.findings if item.code == 'mean_of_candidates')
    assert told.severity == 'info' and shown[0].name in told.text
    facts = json_facts(result)
    assert {each['law'] for each in facts['candidates']} == {*LAWS}
    yaml.safe_dump(facts)


def test_a_possible_robot_with_the_friction_that_was_named(loaded):
    _, first, _ = loaded
    result = identify(first, robot_model(URDF, friction=['smooth', 'load']), options=YES)
    assert result.physically_consistent
    assert {each.law for each in result.weighted.candidates} == {'as given'}
    names = [item.name for item in result.model.parameters]
    braking = [k for k, name in enumerate(names) if name.endswith('_friction')]
    assert len(braking) == 9 and (result.values[braking] >= 0.0).all()
    body = robot_model(update_urdf(result.model, result.values), friction=())
    np.testing.assert_allclose(body.prior()[:30], result.values[:30], rtol=1e-9, atol=1e-12)


def test_a_gear_loses_at_most_what_passes_it():
    first, _ = recordings(LAW, [1.0, 4.0, 0.3, 2.5], noise=0.2)
    result = identify(first, robot_model(URDF, friction=['smooth', 'load']), options=YES)
    load = [
        value
        for item, value in zip(result.model.parameters, result.values, strict=True)
        if item.name.endswith('load_friction')
    ]
    assert len(load) == 3 and 0.9 < max(load) <= 1.0 + 1e-6 and min(load) >= 0.0


def test_springs_that_the_user_names_are_fitted(tmp_path):
    first, second = (sprung(each) for each in recordings('linear', [0.6, 2.0, 0.3]))
    model = robot_model(URDF, friction=['smooth', 'balancer'])
    result = identify(first, model, validation=second)
    assert result.validation.relative_residual < 0.07
    write_result(result, tmp_path / 'result.yaml')
    again = load_identified_model(tmp_path / 'result.yaml')
    state = (second.position[:50],) * 3
    np.testing.assert_allclose(again.torque(*state), result.torque(*state))


def test_a_robot_that_cannot_exist_is_predicted_better_than_by_a_possible_one(tmp_path):
    """The last link has -0.3 times its mass: the recording contradicts every possible robot."""
    model, truth = arm(random_urdf(3, 93, types=('revolute',)))
    _, own = bodies_of(model).links[-1]
    truth[[own[0], own[4]]] *= -0.3
    given = {'derivatives': False, 'resolution': 1e-5}
    first = record(model, truth, 2000, noise=0.2, **given)
    second = record(model, truth, 2000, seed=5, **given)
    result = identify(first, model)
    possible = identify(first, model, options=YES)
    assert not result.physically_consistent and possible.physically_consistent
    assert 'not_physically_consistent' in codes_of(result)
    assert error_of(result, second) < 0.7 * error_of(possible, second)
    assert export(result, tmp_path).result is not None


def test_standard_deviations_count_how_far_the_exported_robot_is_from_the_mean():
    """Limits that a recording contradicts must not look like knowledge."""
    model, truth = arm(random_urdf(3, 70, types=('revolute',)))
    names = [item.name for item in model.parameters]
    truth[names.index('joint3.rotor_inertia')] = -1.0
    recording = record(model, truth, 700, noise=0.1)
    mean, possible = (identify(recording, model, options=each) for each in (NO, YES))
    shift = possible.base_values - mean.base_values
    assert np.abs(shift / mean.base_stddevs).max() > 1.0
    np.testing.assert_allclose(possible.base_stddevs, np.hypot(mean.base_stddevs, shift),
                               rtol=1e-3)  # fmt: skip
    row = possible.base_expressions.index('joint2.coulomb_friction')
    expected = possible.stddevs[names.index('joint2.coulomb_friction')]
    assert expected == pytest.approx(possible.base_stddevs[row])


@pytest.mark.parametrize('law', [None, 'auto'])
def test_a_short_recording_of_another_robot_is_fitted_all_the_same(law):
    """Masses four times those of the URDF, which a strong prior would have nearly kept."""
    urdf = random_urdf(2, 94, types=('revolute',))
    model, truth = arm(urdf)
    for _, own in bodies_of(model).links:
        truth[list(own)] *= 4.0
    recording = record(model, truth, 15, noise=0.02, rate=8.0)
    result = identify(recording, robot_model(urdf, friction=law) if law else model)
    assert result.has_estimate and result.identification.relative_residual < 0.1
