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


@pytest.mark.parametrize('joints', [1, 4, 9])
def test_noise_free_base_parameters_are_recovered(joints):
    model, truth = arm(random_urdf(joints, 40 + joints))
    result = identify(record(model, truth, 1500), model)
    expected = base_values(model, truth)
    assert result.success, result.findings
    error = np.linalg.norm(result.base_values - expected) / np.linalg.norm(expected)
    assert error < 1e-7
    assert result.identification.relative_residual < 1e-9
    assert result.physically_consistent


def test_noisy_identification_holds_on_another_motion():
    model, truth = arm(random_urdf(6, 60, types=('revolute',)))
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
    assert all('idle: constant torque' in joint.reasons for joint in idle)
    assert result.identification.joint_relative_residual[2] < 0.01


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


def test_the_estimator_is_taken_from_the_options():
    model, truth = arm(random_urdf(3, 51))
    recording = record(model, truth, noise=0.05)
    wls = identify(recording, model)
    ols = identify(recording, model, options=IdentifyOptions(estimator='ols'))
    assert ols.estimator == 'ols' and not np.allclose(ols.base_values, wls.base_values)


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
