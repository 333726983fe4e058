# SPDX-License-Identifier: Apache-2.0
"""A payload on top of an identified arm, each kind of robot, from recordings with noise."""

import re
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from closed_form_oracle import with_load
from payloads import (
    CRANK,
    KINDS,
    NOISE,
    as_base,
    base_of,
    built,
    identify_payload,
    recorded,
)
from robots import random_urdf
from simulation import arm, record, sines

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.base_result import load_base
from robodyn_ros.identification.files.result_file import load_identified_model, write_result
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.payload.estimate import check_payload_options
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.payload import PayloadModel, payload_of
from robodyn_ros.recording.recording import Recording

TEN = {'center_of_mass': (0.03, -0.02, 0.1), 'inertia': (0.02, 0.001, 0.0, 0.02, 0.002, 0.012)}
LOAD = TEN['center_of_mass'], TEN['inertia']


def oracle_torque(xml, model, values, states):
    """RNEA of Pinocchio on the loaded URDF, friction and rotors of the model."""
    robot = pin.buildModelFromXML(xml)
    data = robot.createData()
    body = np.array([pin.rnea(robot, data, *row) for row in zip(*states, strict=True)])
    rest = np.array(values)
    rest[: 10 * len(model.joints)] = 0.0
    return body + model.torque(*states, rest)


def oracle_recording(torque_of, joints, names, seed, samples=8000):
    time, *states = sines(joints, samples, rate=500.0, seed=seed)
    torque = torque_of(states)
    noise = np.random.default_rng(seed).normal(size=torque.shape) * torque.std(axis=0)
    return Recording(
        time=time, joints=names, position=states[0], torque=torque + NOISE * noise, source='sim'
    )


@pytest.mark.parametrize(('joints', 'seed'), [(6, 61), (7, 62)])
def test_ten_parameters_on_a_urdf_robot(joints, seed, tmp_path):
    xml = random_urdf(joints, seed, types=('revolute',))
    model, values = arm(xml)
    flange = f'link{joints}_part'
    loaded_xml = with_load(xml, flange, 3.0, *LOAD)
    names = model.joint_names

    def bare(states):
        return oracle_torque(xml, model, values, states)

    def carrying(states):
        return oracle_torque(loaded_xml, model, values, states)

    base = base_of(oracle_recording(bare, joints, names, 1), model, tmp_path)
    recording = oracle_recording(carrying, joints, names, 2)
    other = oracle_recording(carrying, joints, names, 3, samples=3000)
    result = identify_payload(recording, base, frame=flange, validation=other)
    assert 'arm_changed' not in {item.code for item in result.findings}
    in_another_unit = replace(recording, torque=2.5 * recording.torque)
    wrong = identify_payload(in_another_unit, base, frame=flange)
    assert 'arm_changed' in {item.code for item in wrong.findings}
    assert wrong.verdict.payload.word != 'usable'
    assert result.success and result.physically_consistent, result.findings
    assert result.verdict.payload.word == 'usable'
    found = result.payload.payload
    truth = payload_of(model, 3.0, frame=flange, **TEN)
    score = (found.values - truth.values) / found.stddevs
    assert np.abs(score).max() < 4.0
    assert np.sqrt(np.mean(score**2)) < 2.0
    assert found.stddevs[0] < 0.05
    np.testing.assert_allclose(found.center_of_mass, TEN['center_of_mass'], atol=0.01)
    assert result.validation.relative_residual < 1.3 * NOISE
    assert result.payload.without.relative_residual > 0.05
    write_result(result, tmp_path / 'loaded.yaml')
    back = load_identified_model(tmp_path / 'loaded.yaml')
    assert back.payload.model.frame == flange
    _, *states = sines(joints, 500, seed=9)
    expected = carrying(states)
    error = np.linalg.norm(back.torque(*states) - expected, axis=0)
    assert (error / np.linalg.norm(expected, axis=0)).max() < 0.03


def test_standard_deviations_hold_on_average():
    """Many runs of a small arm: errors over standard deviations are about one."""
    xml = random_urdf(3, 91, types=('revolute',))
    model, values = arm(xml)
    payload = payload_of(model, 2.0, **TEN)
    options = {'noise': 0.02, 'derivatives': True}
    scores = []
    for seed in range(8):
        first = identify(
            record(model, values, 2000, seed=seed, **options),
            model,
            options=IdentifyOptions(consistent='no'),
        )
        base = as_base(first)
        recording = record(model, values + payload.added, 2000, seed=seed + 50, **options)
        result = identify_payload(recording, base, options=IdentifyOptions(consistent='no'))
        seen = result.base_values
        truth = _expressions(result, payload.values)
        scores.append((seen - truth) / result.base_stddevs)
    spread = np.sqrt(np.mean(np.square(scores)))
    assert 0.5 < spread < 1.6


def _expressions(result, values):
    """Values of the base expressions, by Python's own reading of their text."""
    names = [item.name for item in result.payload.payload.model.parameters]
    known = {name.replace('.', '_'): value for name, value in zip(names, values, strict=True)}
    texts = [text.replace('payload.', 'payload_') for text in result.base_expressions]
    return np.array([eval(text, {'__builtins__': {}}, known) for text in texts])


def test_a_motion_of_one_wrist_joint_shows_some_combinations_only():
    xml = random_urdf(3, 91, types=('revolute',))
    model, values = arm(xml)
    base = as_base(identify(record(model, values, 4000, noise=0.01), model))
    payload = payload_of(model, 2.0, **TEN)
    time, q, qd, qdd = sines(3, 4000, seed=3)
    for signal in (q, qd, qdd):
        signal[:, :2] = 0.0
    torque = model.torque(q, qd, qdd, values + payload.added)
    torque += 0.01 * np.random.default_rng(1).normal(size=torque.shape)
    recording = Recording(time=time, joints=model.joint_names, position=q, torque=torque)
    result = identify_payload(recording, base)
    assert result.success, result.findings
    assert len(result.base_values) == 3  # two components of weight, one inertia
    assert np.isnan(result.payload.payload.stddevs[0])
    codes = {item.code: item for item in result.findings}
    assert 'determines 3 combinations' in codes['payload_partly_visible'].text
    assert codes['frozen_joint'].severity == 'warning'
    same = recording.select(model.joint_names)
    deviation = base.model.torque(q, qd, qdd, base.values + result.payload.payload.added) - torque
    assert np.std(deviation[:, 2]) < 0.015 and len(same)


def test_no_payload_is_said_to_be_none(tmp_path):
    model = built('scara', 4, KINDS['scara'][2])
    values = np.random.default_rng(1).uniform(0.5, 1.5, len(model.parameters))
    base = base_of(recorded(model, values, 1), model, tmp_path)
    result = identify_payload(recorded(model, values, 2), base)
    assert result.success
    assert (result.payload.payload.values >= 0.0).all()
    texts = {item.code: item.message for item in result.findings}
    assert 'no parameter of it differs from 0' in texts['payload_not_visible']
    title = result.summary().splitlines()[0]
    assert 'succeeded, the payload is not distinguishable from zero' in title


def test_a_base_with_payload_is_noticed_by_a_negative_mass(tmp_path):
    model = built('scara', 4, KINDS['scara'][2])
    values = np.random.default_rng(1).uniform(0.5, 1.5, len(model.parameters))
    loaded = values + payload_of(model, 1.0).added
    base = base_of(recorded(model, loaded, 1), model, tmp_path)
    result = identify_payload(recorded(model, values + 0.0, 2), base)
    assert not result.success
    texts = {item.code: item.message for item in result.findings if item.severity == 'error'}
    assert (
        'Check that the base result was identified without payload'
        in texts['payload_not_physical']
    )


def test_bases_that_do_not_fit_are_refused(tmp_path):
    scara = built('scara', 4, KINDS['scara'][2])
    values = np.random.default_rng(1).uniform(0.5, 1.5, len(scara.parameters))
    base_of(recorded(scara, values, 1), scara, tmp_path)
    path = tmp_path / 'base.yaml'
    with pytest.raises(IdentificationError, match='name the result file of a run without payload'):
        load_base('')
    with pytest.raises(IdentificationError, match='cannot be read'):
        load_base(tmp_path / 'none.yaml', scara)
    with pytest.raises(IdentificationError, match=r'with the joints .*, expected'):
        load_base(path, built('scara', 3, KINDS['scara'][2]))
    longer = built('scara', 4, {'geometry': {'L1': 0.4, 'L2': 0.25}})
    with pytest.raises(IdentificationError, match=r'another model .*\(other scara.geometry\)'):
        load_base(path, longer)
    assert load_base(path).joints == scara.joint_names


def test_a_base_with_a_payload_is_refused_and_the_right_one_named(tmp_path):
    """The sum of both loads would be identified, without a word."""
    xml = random_urdf(2, 91, types=('revolute',))
    model = robot_model(xml)
    _, values = arm(xml)
    base = base_of(record(model, values, 3000, noise=0.01), model, tmp_path)
    loaded = record(model, values + payload_of(model, 2.0, **TEN).added, 3000, seed=1, noise=0.01)
    first = identify_payload(loaded, base)
    assert first.facts['base_result'] == base.source and base.source in first.summary()
    write_result(first, tmp_path / 'loaded.yaml')
    right = re.escape(base.source)
    with pytest.raises(IdentificationError, match=f'has a payload itself.*{right}'):
        load_base(tmp_path / 'loaded.yaml', model)
    with pytest.raises(IdentificationError, match='has a payload itself'):
        identify_payload(loaded, load_identified_model(tmp_path / 'loaded.yaml'))


@pytest.mark.parametrize(('noise', 'word'), [(0.01, 'usable'), (4.0, 'not usable')])
def test_torque_that_stays_unexplained_is_no_success(noise, word, tmp_path):
    xml = random_urdf(2, 91, types=('revolute',))
    model = robot_model(xml)
    _, values = arm(xml)
    base = base_of(record(model, values, 3000, noise=0.01), model, tmp_path)
    loaded = values + payload_of(model, 2.0, **TEN).added
    result = identify_payload(record(model, loaded, 3000, seed=1, noise=noise), base)
    assert result.verdict.payload.word == word and result.success is (word == 'usable')
    assert result.verdict.worth_writing is result.success
    assert result.verdict.joints == base.verdict.joints


@pytest.mark.parametrize(
    ('change', 'code'), [('stale', 'stale_joint'), ('saturated', 'torque_saturation'),
                         ('late', 'sensor_delay'), ('short', 'too_short')],
)  # fmt: skip
def test_the_cause_of_a_bad_payload_recording_comes_first(change, code, tmp_path):
    kind, joints, options, _ = KINDS['scara3']
    model = built(kind, joints, options)
    values = np.where(np.isnan(model.prior()), 0.8, model.prior())
    base = base_of(recorded(model, values, 1), model, tmp_path)
    loaded = values + payload_of(model, 2.0, inertia=[0.3]).added
    recording = recorded(model, loaded, 2, seconds=3.0 if change == 'short' else 20.0)
    position, torque = np.array(recording.position), np.array(recording.torque)
    if change == 'stale':
        for start in range(200, 4800, 200):
            position[start : start + 25, 1] = position[start, 1]
    elif change == 'saturated':
        limit = 0.6 * np.abs(torque[:, 1]).max()
        torque[:, 1] = np.clip(torque[:, 1], -limit, limit)
    elif change == 'late':
        torque[:, 1] = np.roll(torque[:, 1], 5)
    result = identify_payload(replace(recording, position=position, torque=torque), base)
    first = result.findings[0]
    assert first.code == code, [item.text for item in result.findings]
    assert first.joint == 'joint2' or change == 'short'
    assert len(set(result.findings)) == len(result.findings)


def test_too_few_samples_leave_no_payload():
    model = built('axis', 1, CRANK)
    values = np.where(np.isnan(model.prior()), 0.8, model.prior())
    recording = recorded(model, values, 1)
    base = as_base(identify(recording, model))
    few = recorded(model, values, 2).slice(slice(0, 20))
    result = identify_payload(few, base)
    assert not result.success and not result.has_estimate and result.payload is None
    assert result.findings[0].code == 'too_few_samples'
    untested = identify_payload(recording, base, validation=few)
    texts = {item.code: item.message for item in untested.findings if item.severity == 'error'}
    assert '20 samples' in texts['validation_too_short']


def test_an_estimator_without_effect_on_a_payload_is_refused():
    check_payload_options(IdentifyOptions(payload_gain_uncertainty=0.1))
    with pytest.raises(IdentificationError, match='a payload is identified'):
        check_payload_options(IdentifyOptions(estimator='robust'))


def test_a_payload_needs_the_arm_that_carries_it():
    model = built('axis', 1, CRANK)
    recording = recorded(model, np.where(np.isnan(model.prior()), 0.8, model.prior()), 1)
    with pytest.raises(IdentificationError, match='on top of an identified arm'):
        identify(recording, PayloadModel(arm=model))


def test_a_wrong_torque_gain_is_within_the_interval(tmp_path):
    """The torque constant is 3 % wrong, in both runs."""
    kind, joints, options, (mass, inertia) = KINDS['scara']
    model = built(kind, joints, options)
    values = np.where(np.isnan(model.prior()), 1.0, model.prior())
    payload = payload_of(model, mass, inertia=[inertia])

    def wrong(recording):
        return replace(recording, torque=1.03 * recording.torque)

    base = base_of(wrong(recorded(model, values, 1)), model, tmp_path)
    loaded = wrong(recorded(model, values + payload.added, 2))
    without = replace(base, facts=base.facts | {'base_parameter_stddevs': ()})
    exact = IdentifyOptions(payload_gain_uncertainty=0.0)
    found = {}
    for gain in (0.0, 0.03, None):
        chosen = IdentifyOptions(payload_gain_uncertainty=gain)
        found[gain] = identify(loaded, payload.model, known=base, options=chosen).payload.payload
    error = abs(found[0.0].mass - mass)
    assert error > 3.0 * found[0.0].stddevs[0] and error < 2.0 * found[0.03].stddevs[0]
    assert found[0.0].stddevs[0] < found[None].stddevs[0] < found[0.03].stddevs[0]
    # A base file without the arm's deviations: they are estimated from the recording at hand.
    estimated = identify(loaded, payload.model, known=without, options=exact).payload.payload
    np.testing.assert_allclose(estimated.stddevs, found[0.0].stddevs, rtol=0.4)
