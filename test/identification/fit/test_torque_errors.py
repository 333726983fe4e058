# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from robots import SIX_AXIS, random_urdf
from simulation import arm, record

from robodyn_ros.identification.fit.torque_errors import (
    FitReport,
    Tally,
    evaluate,
    predict,
    rated_torque,
    reference_torque,
    relative_error,
)
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.long_work import show_progress
from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.recording.recording import Recording


@pytest.fixture(scope='module')
def case():
    model, values = arm(random_urdf(3, 1))
    recording = record(model, values, noise=0.1)
    return model, values, process(recording, model.joint_names, IdentifyOptions())


def test_errors_follow_their_definitions(case):
    model, values, signals = case
    seen = []
    with show_progress(lambda *told: seen.append(told)):
        report, predicted = evaluate(model, values, signals, source='x', phase='test')
    error = signals.measured - predicted
    expected = model.regressor(*signals.motion_at(slice(None))) @ values
    np.testing.assert_allclose(predicted, expected, atol=1e-9)
    assert report.relative_residual == pytest.approx(
        np.sqrt((error**2).sum() / (signals.measured**2).sum())
    )
    np.testing.assert_allclose(report.rms_error, np.sqrt((error**2).mean(axis=0)))
    np.testing.assert_allclose(report.rms_torque, np.sqrt((signals.measured**2).mean(axis=0)))
    assert report.source == 'x' and report.samples == len(signals) and seen == [('test', 1.0)]


def test_the_errors_of_two_recordings_are_pooled(case):
    *_, signals = case
    measured = signals.measured
    parts = [Tally.of(signals, measured + error) for error in (0.1, 0.7)]
    both = (parts[0] + parts[1]).report(signals, 'both')
    np.testing.assert_allclose(both.rms_error, np.sqrt((0.1**2 + 0.7**2) / 2.0))
    assert both.samples == 2 * len(signals)
    np.testing.assert_allclose(both.rms_torque, np.sqrt((measured**2).mean(axis=0)))


def test_what_friction_holds_while_the_robot_rests_is_no_error_of_the_model(case):
    model, values, _ = case
    recording = record(model, values, noise=0.1)
    count, period, random = 2000, recording.period, np.random.default_rng(0)

    def rest(signal, noise, extra=0.0):
        still = signal[-1] + extra + noise * random.normal(size=(count, 3))
        return np.concatenate([signal, still])

    later = recording.time[-1] + period * np.arange(1, count + 1)
    rested = Recording(
        time=np.concatenate([recording.time, later]), joints=recording.joints,
        position=rest(recording.position, 1e-7), torque=rest(recording.torque, 0.1, 40.0),
    )  # fmt: skip
    plain = Recording(
        time=recording.time, joints=recording.joints,
        position=recording.position, torque=recording.torque,
    )  # fmt: skip
    moving, both = (
        evaluate(model, values, process(each, model.joint_names, IdentifyOptions()), source='')[0]
        for each in (plain, rested)
    )
    assert both.samples < 1.1 * moving.samples
    assert both.rms_error.max() < 10.0, 'of 40 Nm at rest: the sudden stop is motion'


def test_a_joint_at_rest_has_no_friction_of_the_sign_of_its_noise():
    """Measured velocities are never 0; a command at rest is."""
    model, values = arm(random_urdf(2, 1))
    time = np.arange(2400) * 0.005
    swing = np.where(time < 6.0, np.sin(time * np.pi / 2) ** 2, 0.0)
    random = np.random.default_rng(0)
    position = np.stack([swing, 0.4 - swing], axis=1) + 2e-7 * random.normal(size=(2400, 2))
    still = np.zeros_like(position)
    recording = Recording(
        time=time,
        joints=model.joint_names,
        position=position,
        torque=model.torque(position, still, still, values),
    )
    signals = process(recording, model.joint_names, IdentifyOptions())
    rest = signals.time > 7.0
    assert (signals.velocity[rest] != 0.0).all()
    error = predict(model, values, signals)[rest] - signals.measured[rest]
    assert np.abs(error).max() < 0.05
    chattering = model.torque(*(part[rest] for part in signals.motion), values)
    assert np.abs(chattering - signals.measured[rest]).max() > 0.2


def test_the_worked_example_of_the_softmc_document():
    # Feedback 80, command 100, largest feedback 160: 20 / 160 = 12.5 %. The model commands 100
    # wherever the axis accelerates by 1; a sample at standstill does not count.
    model = build_model(
        {'kind': 'axis', 'type': 'rotary', 'dynamic_model': 1, 'joints': ['joint1']}
    )
    feedback = np.array([80.0, 100.0, -160.0, 500.0])[:, None]
    acceleration = np.array([1.0, 1.0, -1.5, 9.0])[:, None]
    speed = np.array([1.0, -1.0, 1.0, 0.001])[:, None]
    recording = Recording(
        time=np.arange(4.0),
        joints=('joint1',),
        position=np.array([0.0, 1.0, 0.0, 1.0])[:, None],
        velocity=speed,
        acceleration=acceleration,
        torque=feedback,
    )
    signals = process(recording, ('joint1',), IdentifyOptions())
    report, _ = evaluate(model, np.array([100.0]), signals, source='x')
    assert report.moving_samples.tolist() == [3]
    assert report.max_relative_torque_error[0] == pytest.approx(0.125)
    assert report.mean_relative_torque_error[0] == pytest.approx((20 + 0 + 10) / 3 / 160)


def test_the_rated_torque_is_the_effort_of_the_urdf_or_the_largest_of_the_recording():
    arm = robot_model(SIX_AXIS)
    assert rated_torque(arm, np.ones(6)).tolist() == [1100.0, 1400.0, 650.0, 110.0, 100.0, 55.0]
    scara = build_model({
        'kind': 'scara', 'dynamic_model': 1, 'joints': [f'joint{k}' for k in range(1, 5)],
        'geometry': {'L1': 0.3, 'L2': 0.25},
    })  # fmt: skip
    # joint 3 is linear: newtons are not compared with newton metres
    found = rated_torque(scara, np.array([40.0, 20.0, 90.0, 3.0]))
    assert found.tolist() == [40.0, 40.0, 90.0, 40.0]


def report(rms, error, usual):
    rms, error, usual = (np.array(each, dtype=float) for each in (rms, error, usual))
    return replace(
        FitReport.empty('run', len(rms)),
        rms_error=error, joint_relative_residual=error / rms, usual_torque=usual,
    )  # fmt: skip


def test_an_error_is_relative_to_the_rms_torque_or_a_share_of_the_rating():
    found = report([300.0, 500.0, 200.0, 4.0, 20.0, 0.5], [30.0] * 3 + [1.0] * 3, [900.0] * 6)
    arm = robot_model(SIX_AXIS)
    reference = reference_torque(found, arm)
    np.testing.assert_allclose(reference, [300.0, 500.0, 200.0, 5.5, 20.0, 2.75])
    np.testing.assert_allclose(relative_error(found, arm), found.rms_error / reference)


@pytest.mark.parametrize('largest', [10.0, 20.0])
def test_a_rating_that_no_motion_comes_near_is_a_placeholder(largest):
    """A pure noise of 10 Nm would be small beside 5 % of 1100 Nm."""
    found = report([5.0] * 5 + [0.1], [5.0] * 5 + [0.1], [largest] * 6)
    np.testing.assert_allclose(reference_torque(found, robot_model(SIX_AXIS))[0], 5.0)
    assert relative_error(found, robot_model(SIX_AXIS))[0] == pytest.approx(1.0)
    assert reference_torque(found, robot_model(SIX_AXIS))[5] == pytest.approx(0.1 * largest)
