# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from robots import random_urdf
from simulation import record

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.identification.files.report import text_report
from robodyn_ros.identification.files.result_file import load_identified_model, write_result
from robodyn_ros.identification.fit import choice
from robodyn_ros.identification.fit.choice import HeldOut
from robodyn_ros.identification.friction.law_selection import _Candidate, _choose_law
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.facts import json_facts
from robodyn_ros.identification.result.urdf import update_urdf
from robodyn_ros.models.catalog import robot_model, with_friction
from robodyn_ros.models.springs import SPRINGS

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


def candidate(error, terms=3, spread=0.0, residuals=(1.0,)):
    """A law whose errors on nine folds differ from this one by a spread."""
    folds = np.full(9, 30.0)
    errors = None if error is None else error * np.exp(spread * np.arange(-4, 5)) / 9.0
    held_out = None if errors is None else HeldOut((errors,), (folds,))
    return _Candidate(
        SimpleNamespace(terms=('t',) * terms, residuals=np.array(residuals)), held_out
    )


@pytest.mark.parametrize(
    ('others', 'law', 'doubt'),
    [
        ({'power': candidate(0.9, 4), 'rich': candidate(0.89, 8)}, 'power', ''),
        ({'rich': candidate(0.87, 8), 'power': candidate(0.9, 4)}, 'rich', ''),
        ({'power': candidate(0.985, 4)}, 'linear', ''),
        ({'power': candidate(0.975, 4)}, 'power', ''),
        ({'power': candidate(None, 4)}, 'linear', 'too few independent samples'),
        ({'power': candidate(0.93, 4, 0.06)}, 'power', ''),  # 1.3 standard errors, of one law
        (
            {f'{k}': candidate(0.93 if k == 4 else 1.1, k, 0.04) for k in range(4, 14)},
            'linear',
            'the best of 11 laws is not significantly better',
        ),
        ({f'{k}': candidate(0.8, k, 0.04) for k in range(4, 14)}, '4', ''),
    ],
)
def test_the_simplest_law_that_no_other_one_beats_is_chosen(others, law, doubt):
    chosen, reason = _choose_law({'linear': candidate(1.0), **others})
    assert chosen == law and doubt in reason and bool(doubt) == bool(reason)


def test_linear_friction_stays_linear():
    first, second = recordings('linear', [0.6, 2.0, 0.3])
    model = robot_model(URDF, friction='auto')
    result = identify(first, model, validation=second)
    assert result.friction.law == 'linear' and result.friction.automatic
    names = [each.name for each in result.friction.candidates]
    assert {'linear', 'power', 'smooth', 'stribeck', 'asymmetric'} < set(names)
    fixed = identify(first, robot_model(URDF), validation=second)
    assert fixed.friction is None
    np.testing.assert_allclose(result.values, fixed.values, rtol=1e-9)
    assert 'friction_chosen' in {item.code for item in result.findings}
    assert not result.friction.doubt and not result.selection.doubt


def test_a_short_recording_does_not_determine_the_law(monkeypatch):
    monkeypatch.setattr(choice, 'INDEPENDENT', 4.0)  # of a short recording all samples count
    first, _ = recordings('linear', [0.6, 2.0, 0.3])
    result = identify(first.slice(slice(0, 64)), robot_model(URDF, friction='auto'))
    assert result.friction.law == 'linear'
    told = [
        item.text for item in result.findings if 'not determined by this recording' in item.text
    ]
    assert len(told) == 2 and 'friction law' in told[1]


def test_noise_of_a_short_recording_is_seldom_a_friction_law():
    """A law whose terms drive the joint, or one of many that is the best by chance.

    The plant has the linear law. Of 30 recordings, 27 get it: noise alone makes another one
    look better in the other 3.
    """
    urdf = random_urdf(1, 5, types=('revolute',))
    model = robot_model(urdf)
    sizes = {'rotor_inertia': 1.0, 'viscous_friction': 5.0, 'coulomb_friction': 23.0}
    own = [sizes.get(item.name.partition('.')[2], 0.0) for item in model.parameters]
    values = np.where(np.array(own) > 0.0, own, np.nan_to_num(model.prior()))
    given = {'rate': 250.0, 'derivatives': False, 'resolution': 1e-5}
    wrong = {}
    for seed in range(30):
        recording = record(model, values, 825, seed=seed, noise=0.29, **given)
        result = identify(recording, robot_model(urdf, friction='auto'))
        assert 'too_short' in {item.code for item in result.findings}
        if result.friction.law != 'linear':
            wrong[seed] = result.friction.law
    assert len(wrong) <= 3, wrong


def lever_spring(position, stiffness=900.0):
    """Torque of a spring between the base and a point of the link: nearly a sine, but no sine."""
    near, far, free = 0.15, 0.4, 0.2
    angle = position - 0.4
    length = np.sqrt(near**2 + far**2 - 2.0 * near * far * np.cos(angle))
    return -stiffness * (length - free) * near * far * np.sin(angle) / length


def sprung(recording, joint=1):
    """Return a recording of the same motion of a robot with a spring at a joint."""
    torque = np.array(recording.torque)
    torque[:, joint] -= lever_spring(recording.position[:, joint])
    return replace(recording, torque=torque)


def test_a_spring_on_a_lever_is_found_and_predicted():
    """The plant has what the model lacks: the spring's length changes too."""
    first, second = (sprung(each) for each in recordings('linear', [0.6, 2.0, 0.3]))
    result = identify(first, robot_model(URDF, friction='auto'), validation=second)
    plain = identify(first, robot_model(URDF), validation=second)
    assert result.friction.law.split('+')[1] in SPRINGS
    assert [part['kind'] for part in result.model.describe()['parts']][1] == 'springs'
    error, before = (each.validation.relative_residual for each in (result, plain))
    assert error < 0.06 and before > 5.0 * error  # the noise is 0.02
    (told,) = (item for item in result.findings if item.code == 'springs')
    assert 'joint2.' in told.text.split(',')[0]
    assert 'springs' not in {item.code for item in plain.findings}


def test_a_torsion_spring_needs_one_term():
    first, second = recordings('linear', [0.6, 2.0, 0.3])
    stiffness = np.array([0.0, 15.0, 0.0])
    stiff = [replace(r, torque=r.torque + stiffness * r.position) for r in (first, second)]
    result = identify(stiff[0], robot_model(URDF, friction='auto'), validation=stiff[1])
    assert result.friction.law == 'linear+spring'
    found = json_facts(result)['friction']['spring_stiffness']
    np.testing.assert_allclose([*found.values()], stiffness, atol=0.5)
    assert 'springs_or_masses' not in {item.code for item in result.findings}


def test_a_balancer_that_other_masses_explain_as_well_is_told():
    """A pendulum of 30 times the mass of its URDF, or with a balancer: the torque is the same."""
    urdf = random_urdf(1, 5, types=('revolute',))
    model = robot_model(urdf, friction='linear')
    heavy = [1.0 if 'friction' in item.name else 30.0 for item in model.parameters]
    values = np.nan_to_num(model.prior(), nan=1.0) * heavy
    recording = record(model, values, 4000, seed=1, noise=0.003, derivatives=False)
    result = identify(recording, robot_model(urdf, friction='auto'))
    assert result.friction.law == 'linear+balancer'
    (told,) = (item for item in result.findings if item.code == 'springs_or_masses')
    assert told.severity == 'warning' and '--friction' in told.remedy


def test_springs_that_the_user_names_are_fitted(tmp_path):
    first, second = (sprung(each) for each in recordings('linear', [0.6, 2.0, 0.3]))
    model = robot_model(URDF, friction=['smooth', 'balancer'])
    result = identify(first, model, validation=second)
    assert result.friction.law == 'viscous+smooth_coulomb+offset+balancer_sine+balancer_cosine'
    write_result(result, tmp_path / 'result.yaml')
    again = load_identified_model(tmp_path / 'result.yaml')
    state = (second.position[:50],) * 3
    np.testing.assert_allclose(again.torque(*state), result.torque(*state))


@pytest.fixture(scope='module')
def loaded():
    """Result of an identification with a law that has all there is, and the other motion."""
    first, second = recordings(LAW, [1.0, 4.0, 0.3, 0.15])
    return identify(first, robot_model(URDF, friction='auto'), validation=second), first, second


def test_smooth_load_dependent_friction_is_chosen_and_better(loaded):
    result, first, second = loaded
    assert result.friction.law == 'smooth+load'
    linear = identify(first, robot_model(URDF), validation=second)
    assert result.validation.relative_residual < 0.85 * linear.validation.relative_residual
    assert 0.018 < result.validation.relative_residual < 0.025  # the noise is 0.02
    described = result.model.describe()['parts'][1]
    np.testing.assert_allclose(described['smoothing'], LAW['smoothing'], rtol=0.25)
    names = [item.name for item in result.model.parameters]
    load = [result.values[names.index(f'joint{k}.load_friction')] for k in (1, 2, 3)]
    np.testing.assert_allclose(load, 0.15, atol=0.05)


def test_result_file_report_and_control_take_it_as_it_is(loaded, tmp_path):
    result, _, second = loaded
    write_result(result, tmp_path / 'result.yaml')
    identified = load_identified_model(tmp_path / 'result.yaml')
    signals = (second.position[::50], *np.gradient(second.position, 0.005, axis=0)[None, ::50])
    q, qd, qdd = signals[0], signals[1], np.zeros_like(signals[0])
    expected = result.model.torque(q, qd, qdd, result.values)
    np.testing.assert_array_equal(identified.torque(q, qd, qdd), expected)
    torque = ModelTorque(identified.model, identified.values)
    np.testing.assert_allclose(torque.torque(q, qd, qdd), expected, atol=1e-9)
    header = identified.facts
    assert header['friction_law'] == 'smooth+load' and header['friction_chosen_automatically']
    rows = header['friction_candidates'], header['friction_candidate_errors']
    assert len(rows[0]) == len(rows[1]) > 8 and min(rows[1]) < 0.8
    assert '<- used' in text_report(result) and 'stribeck' in text_report(result)
    table = json_facts(result)['friction_choice']['candidates']
    assert table[0] == {**table[0], 'name': 'linear', 'terms': 3, 'error': 1.0}
    yaml.safe_dump(json_facts(result))


def test_consistent_robot_with_any_law(loaded):
    _, first, _ = loaded
    options = IdentifyOptions(consistent='yes')
    result = identify(first, robot_model(URDF, friction=['smooth', 'load']), options=options)
    assert result.physically_consistent and result.friction.law == 'viscous+smooth_coulomb+' + (
        'offset+load'
    )
    assert not result.friction.automatic
    names = [item.name for item in result.model.parameters]
    braking = [k for k, name in enumerate(names) if name.endswith('_friction')]
    assert len(braking) == 9 and (result.values[braking] >= 0.0).all()
    body = robot_model(update_urdf(result.model, result.values), friction=())
    np.testing.assert_allclose(body.prior()[:30], result.values[:30], rtol=1e-9, atol=1e-12)


def test_no_friction_depends_on_the_load_of_a_servo_without_load():
    """What the rotor and a light horn leave of a load imitates any friction."""
    urdf = random_urdf(1, 5, types=('revolute',))
    light = robot_model(urdf, friction='linear')
    sizes = {'rotor_inertia': 0.02, 'viscous_friction': 2.0, 'coulomb_friction': 3.0}
    own = [sizes.get(item.name.partition('.')[2], 0.0) for item in light.parameters]
    recording = record(light, np.array(own), 4000, seed=1, noise=0.3, derivatives=False)
    tried = {each.name for each in _friction_of(recording, urdf).candidates}
    assert 'stribeck' in tried and not any('load' in name for name in tried)
    (loaded, _), (name,) = recordings(LAW, [1.0, 4.0, 0.3, 0.15]), ['smooth+load']
    assert name in {each.name for each in _friction_of(loaded, URDF).candidates}


def _friction_of(recording, urdf):
    return identify(recording, robot_model(urdf, friction='auto')).friction


def test_a_gear_loses_at_most_what_passes_it():
    first, _ = recordings(LAW, [1.0, 4.0, 0.3, 2.5], noise=0.2)
    model = robot_model(URDF, friction=['smooth', 'load'])
    result = identify(first, model)
    assert result.selection.estimate.startswith('consistent')
    load = [
        value
        for item, value in zip(result.model.parameters, result.values, strict=True)
        if item.name.endswith('load_friction')
    ]
    assert len(load) == 3 and max(load) == pytest.approx(1.0, abs=1e-6) and min(load) >= 0.0
