# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, base_values, record, sines
from threadpoolctl import threadpool_info, threadpool_limits

from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import Finding
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.long_work import show_progress
from robodyn_ros.recording.recording import Recording


def codes(result, severity='error'):
    return {item.code for item in result.findings if item.severity == severity}


@pytest.mark.parametrize('joints', range(1, 10))
def test_noise_free_base_parameters_are_recovered(joints):
    model, truth = arm(random_urdf(joints, 40 + joints))
    result = identify(record(model, truth, 1500), model)
    expected = base_values(model, truth)
    assert result.success, result.findings
    error = np.linalg.norm(result.base_values - expected) / np.linalg.norm(expected)
    assert error < 1e-7
    assert result.identification.relative_residual < 1e-9
    assert result.physically_consistent


@pytest.mark.parametrize('seed', range(2))
def test_noisy_identification_holds_on_another_motion(seed):
    model, truth = arm(random_urdf(6, 60 + seed, types=('revolute',)))
    options = {'noise': 0.02, 'resolution': 1e-5, 'derivatives': False, 'rate': 500.0}
    recording = record(model, truth, 10000, seed=1, **options)
    other = record(model, truth, 5000, seed=2, **options)
    result = identify(recording, model, validation=other)
    assert result.success, result.findings
    assert 0.018 < result.identification.relative_residual < 0.025
    # Noise of 2 % is in the measured torque of the other motion too.
    assert 0.018 < result.validation.relative_residual < 0.025
    _, *motion = sines(6, 3000, rate=500.0, seed=3)
    clean = model.torque(*motion, truth)
    error = model.torque(*motion, result.values) - clean
    assert np.linalg.norm(error) < 0.008 * np.linalg.norm(clean)


def test_standard_deviations_are_honest():
    # Positions are filtered and differentiated and torque noise is coloured by the low pass.
    model, truth = arm(random_urdf(2, 70, types=('revolute',)))
    expected = base_values(model, truth)
    hits = []
    for seed in range(12):
        options = {'noise': 0.03, 'resolution': 1e-6, 'derivatives': False}
        result = identify(record(model, truth, 3000, seed=seed, **options), model)
        hits.append(np.abs(result.base_values - expected) < 1.96 * result.base_stddevs)
    assert 0.92 < np.mean(hits) < 0.995  # rather too wide than too narrow


def test_joints_are_matched_by_name():
    model, truth = arm(random_urdf(3, 44))
    recording = record(model, truth)
    swapped = recording.select(('joint3', 'joint1', 'joint2'))
    result = identify(swapped, model)
    np.testing.assert_allclose(result.values, identify(recording, model).values, rtol=1e-9)
    assert result.model.joint_names == ('joint1', 'joint2', 'joint3')
    with pytest.raises(RecordingError, match="joint 'joint2' is not in the recording"):
        identify(recording.select(('joint1', 'joint3')), model)


def test_joint_that_stands_still_fails_with_its_name():
    model, truth = arm(random_urdf(3, 45, types=('revolute',)))
    recording = record(model, truth)
    position, velocity = np.array(recording.position), np.array(recording.velocity)
    position[:, 1], velocity[:, 1] = 0.4, 0.0
    frozen = replace(recording, position=position, velocity=velocity)
    result = identify(frozen, model)
    assert not result.success
    assert codes(result) == {'frozen_joint'}  # what this leaves undetermined is a warning
    assert any(f.joint == 'joint2' for f in result.findings if f.code == 'frozen_joint')
    text = next(f.text for f in result.findings if f.code == 'rank_deficient')
    assert 'joint2.viscous_friction' in text or 'joint2.coulomb_friction' in text


def test_a_joint_at_rest_between_links_of_other_masses_is_no_stuck_encoder():
    """Four times the masses of the URDF: what acts on the joints at rest is far from the model."""
    model, truth = arm(random_urdf(3, 45, types=('revolute',)))
    time, *motion = sines(3, 4000)
    moves = np.array([False, False, True])
    q, qd, qdd = (np.where(moves, each, 0.0) for each in motion)
    q[:, :2] = 0.4
    torque = model.torque(q, qd, qdd, 4.0 * truth)
    still = Recording(time=time, joints=model.joint_names, position=q, torque=torque)
    result = identify(still, model)
    assert result.success, result.findings
    idle = result.verdict.joints[:2]
    assert [(joint.moved, joint.feedforward.word) for joint in idle] == [(False, 'with care')] * 2
    assert all('it did not move' in joint.feedforward.reasons for joint in idle)
    assert result.identification.joint_relative_residual[2] < 0.01


def test_the_torque_of_a_joint_that_hardly_moves_is_uncertain_elsewhere():
    model, truth = arm(random_urdf(3, 45, types=('revolute',)))
    time, q, qd, qdd = sines(3, 4000)
    for values in (q, qd, qdd):
        values[:, 1] *= 0.02
    torque = model.torque(q, qd, qdd, truth)
    torque += 0.1 * torque.std(axis=0) * np.random.default_rng(0).normal(size=torque.shape)
    signals = {'position': q, 'velocity': qd, 'acceleration': qdd, 'torque': torque}
    result = identify(Recording(time=time, joints=model.joint_names, **signals), model)
    _, slow, fast = result.torque_uncertainty
    assert slow > 0.3 > fast


def test_torque_uncertainty_is_the_error_seen_on_arbitrary_motion():
    model, truth = arm(random_urdf(3, 54, types=('revolute',)))
    random = np.random.default_rng(3)
    predicted, seen = [], []
    for seed in range(10):
        recording = record(model, truth, 1500, seed=seed, noise=0.05)
        # Expected is what the recording alone tells; a prior only helps.
        result = identify(recording, model, options=IdentifyOptions(consistent='no'))
        _, _, qd, qdd = sines(3, 1500, seed=seed)
        unit = random.uniform(-1.0, 1.0, size=(3, 300, 3))
        states = (np.pi * unit[0], np.abs(qd).max() * unit[1], np.abs(qdd).max() * unit[2])
        torque = model.torque(*states, truth)
        error = model.torque(*states, result.values) - torque
        seen.append(np.linalg.norm(error, axis=0) / np.linalg.norm(torque, axis=0))
        predicted.append(result.torque_uncertainty)
    ratio = np.sqrt(np.mean(np.square(seen), axis=0) / np.mean(np.square(predicted), axis=0))
    assert ((ratio > 0.6) & (ratio < 1.6)).all()


def test_joints_that_move_together_are_found_rank_deficient():
    model, truth = arm(random_urdf(3, 46, types=('revolute',)))
    time, q, qd, qdd = sines(3, 3000)
    for values in (q, qd, qdd):  # a sine and nothing else: too little for 3 joints
        values[:] = values[:, :1]
    q[:], qd[:] = np.sin(time)[:, None], np.cos(time)[:, None]
    qdd[:] = -np.sin(time)[:, None]
    recording = Recording(
        time=time,
        joints=model.joint_names,
        position=q,
        velocity=qd,
        acceleration=qdd,
        torque=model.torque(q, qd, qdd, truth),
    )
    result = identify(recording, model)
    assert not result.success and 'rank_deficient' in codes(result)
    assert np.isnan(result.base_stddevs).any() and np.isfinite(result.values).all()
    # What the motion shows is still explained.
    assert result.identification.relative_residual < 1e-6


def test_torque_that_fits_no_model_fails_and_names_the_joint():
    model, truth = arm(random_urdf(2, 49))
    recording = record(model, truth)
    torque = np.array(recording.torque)
    torque[:, 1] = 5.0 * np.sin(7.3 * recording.time) * np.sin(1.9 * recording.time)
    result = identify(replace(recording, torque=torque), model)
    assert not result.success
    bad = [f for f in result.findings if f.code == 'relative_error_too_large']
    assert [f.joint for f in bad] == ['joint2'] and 'limit 50%' in bad[0].text
    lenient = IdentifyOptions(max_relative_error=5.0)
    found = identify(replace(recording, torque=torque), model, options=lenient).findings
    assert 'relative_error_too_large' not in {item.code for item in found}


def test_findings_of_the_recording_are_carried_and_errors_among_them_fail():
    model, truth = arm(random_urdf(2, 50))
    recording = record(model, truth)
    gap = Finding('gaps', 'two gaps')
    noted = identify(replace(recording, findings=(gap,)), model)
    assert noted.success and gap in noted.findings
    bad = Finding('zero_torque', 'torque is 0', 'joint1', 'error')
    assert not identify(replace(recording, findings=(gap, bad)), model).success


def test_ols_and_segments_are_taken_from_the_options():
    model, truth = arm(random_urdf(3, 51))
    recording = record(model, truth, noise=0.05)
    wls = identify(recording, model)
    ols = identify(recording, model, options=IdentifyOptions(estimator='ols'))
    parts = identify(recording, model, options=IdentifyOptions(segments=7))
    assert ols.estimator == 'ols' and not np.allclose(ols.base_values, wls.base_values)
    np.testing.assert_allclose(parts.base_values, wls.base_values, rtol=1e-6, atol=1e-8)


def test_progress_names_the_phases_and_can_cancel():
    model, truth = arm(random_urdf(2, 52))
    recording = record(model, truth)
    seen = []
    with show_progress(lambda phase, share: seen.append((phase, share))):
        identify(recording, model, validation=record(model, truth, seed=1))
    assert [phase for phase, share in seen if share == 1.0] == ['condense', 'evaluate', 'validate']

    def cancel(phase, share):
        if phase == 'evaluate':
            raise InterruptedError

    with pytest.raises(InterruptedError), show_progress(cancel):
        identify(recording, model)


def blas_threads():
    return {pool['num_threads'] for pool in threadpool_info() if pool['user_api'] == 'blas'}


def test_one_blas_thread_whoever_imported_numpy_first():
    model, truth = arm(random_urdf(2, 44))
    seen = set()
    with threadpool_limits(limits=2, user_api='blas'):
        if blas_threads() != {2}:
            pytest.skip('this BLAS has no second thread')
        with show_progress(lambda *_: seen.update(blas_threads())):
            identify(record(model, truth), model)
        assert blas_threads() == {2}, 'the caller gets its own number back'
    assert seen == {1}
