# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from closed_form_oracle import body, rnea, urdf

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.signals.moving_samples import (
    options_for,
    speed_findings,
    thresholds,
)
from robodyn_ros.models.catalog import build_model
from robodyn_ros.recording.recording import Recording

JOINTS = ('a', 'b')
AXES = [f'joint{k}' for k in range(1, 7)]
PUMA = {'kind': 'puma', 'dynamic_model': 2, 'joints': AXES, 'friction': ['viscous', 'coulomb']}
FREQUENCIES = 0.02 * np.array([1.56, 1, 1.31, 1.47, 1.21, 1.17])
START = np.radians([-100, -170, 100, -60, -60, -100])
TARGET = np.radians([100, -40, 235, 60, 60, 100])

MASSES = [20.0, 17.4, 4.8, 0.82, 0.34, 0.09]
CENTRES = [
    (0, 0, 0),
    (0.068, 0, -0.016),
    (0, -0.07, 0.014),
    (0, 0, -0.019),
    (0, 0, 0),
    (0, 0, 0.2),
]
A2, A3, D2, D3, D4 = 0.4318, -0.0203, 0.2435, -0.0934, 0.4331
VISCOUS = np.array([30.0, 25.0, 12.0, 3.0, 2.0, 1.0])
COULOMB = np.array([8.0, 9.0, 5.0, 1.5, 1.2, 0.8])


def velocity(samples=400):
    time = np.linspace(0.0, 2 * np.pi, samples)
    return np.column_stack([2.0 * np.cos(time), 0.4 * np.cos(3 * time)])


def test_a_share_holds_for_the_errors_and_standstill_for_the_fit():
    found = thresholds(JOINTS, velocity(), IdentifyOptions(velocity_share=0.3))
    speed = np.abs(velocity()) / [2.0, 0.4]
    np.testing.assert_array_equal(found.moving, speed >= 0.3)
    np.testing.assert_array_equal(found.used, speed >= 0.001)
    np.testing.assert_allclose(found.lower, [0.6, 0.12], rtol=1e-3)
    assert np.isinf(found.upper).all()


@pytest.mark.parametrize('given', [0.3, (0.3, 0.3), [0.5, 0.1]])
def test_absolute_thresholds_hold_for_fit_and_errors(given):
    found = thresholds(JOINTS, velocity(), IdentifyOptions(velocity_threshold=given))
    limits = np.broadcast_to(given, 2)
    np.testing.assert_array_equal(found.lower, limits)
    np.testing.assert_array_equal(found.moving, np.abs(velocity()) >= limits)
    np.testing.assert_array_equal(found.used, found.moving)


def test_a_sample_counts_between_its_own_lower_and_everybodys_upper_threshold():
    options = IdentifyOptions(velocity_threshold=0.1, upper_velocity_threshold=(1.0, 0.3))
    found = thresholds(JOINTS, velocity(), options)
    speed = np.abs(velocity())
    slow = (speed[:, 0] <= 1.0) & (speed[:, 1] <= 0.3)
    np.testing.assert_array_equal(found.used, (speed >= 0.1) & slow[:, None])
    np.testing.assert_array_equal(found.moving, found.used)
    assert 0 < found.used.sum() < (speed >= 0.1).sum()


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'velocity_threshold': (0.1, 0.1, 0.1)}, 'one for each of the 2 joints, got 3'),
        (
            {'velocity_threshold': 0.5, 'upper_velocity_threshold': (1.0, 0.3)},
            'threshold of joint b, 0.5, must be below its upper one, 0.3',
        ),
        ({'velocity_threshold': 0.001, 'upper_velocity_threshold': 0.002}, 'needs a slow motion'),
    ],
)
def test_thresholds_that_cannot_be_are_refused(options, message):
    with pytest.raises(IdentificationError, match=message):
        thresholds(JOINTS, velocity(), IdentifyOptions(**options))


def test_only_a_semi_static_model_gets_two_thresholds_by_itself():
    plain = IdentifyOptions()
    assert options_for(build_model({**PUMA, 'dynamic_model': 1}), plain) is plain
    two = options_for(build_model(PUMA), plain)
    assert (two.upper_velocity_threshold, two.velocity_share) == (0.5, 0.1)
    own = options_for(build_model(PUMA), IdentifyOptions(upper_velocity_threshold=0.2))
    assert own.upper_velocity_threshold == 0.2


def test_a_joint_that_is_mostly_too_fast_is_named():
    found = thresholds(JOINTS, velocity(), IdentifyOptions(upper_velocity_threshold=1.0))
    (finding,) = speed_findings(JOINTS, velocity(), found)
    assert finding.joint == 'a' and finding.code == 'too_fast_for_semi_static'


def slow_arm(time, phase=0.0, frequencies=FREQUENCIES):
    """Positions and torques of a PUMA with friction by RNEA, on the document's slow program."""
    half = np.pi / 2
    frames = [(0, 0, 0), (-half, 0, D2), (0, A2, D3), (half, A3, D4), (-half, 0, 0), (half, 0, 0)]
    bodies = [
        body(
            'revolute',
            [a, -d * np.sin(alpha), d * np.cos(alpha)],
            [0, 0, 1],
            mass,
            centre,
            [0.05, 0.06, 0.04],
            rpy=(alpha, 0, 0),
        )
        for (alpha, a, d), mass, centre in zip(frames, MASSES, CENTRES, strict=True)
    ]
    omega, reach = 2 * np.pi * frequencies, (TARGET - START) / 2
    turn = np.outer(time, omega) - half + phase
    q = (START + TARGET) / 2 + reach * np.sin(turn)
    qd, qdd = reach * omega * np.cos(turn), -reach * omega**2 * np.sin(turn)
    torque = rnea(urdf(bodies), q, qd, qdd, rotors=[1.1, 4.7, 0.9, 0.2, 0.2, 0.2])
    return (q, qd, qdd), torque + VISCOUS * qd + COULOMB * np.sign(qd)


def test_less_than_a_slow_cycle_shows_gravity_and_friction_of_a_puma():
    random = np.random.default_rng(0)
    time = np.arange(0.0, 45.0, 0.005)  # the slowest joint takes 50 s for a cycle
    (q, _, _), torque = slow_arm(time)
    noisy = torque + 0.02 * torque.std(axis=0) * random.normal(size=torque.shape)
    position = q + 2e-5 * random.normal(size=q.shape)
    recording = Recording(time=time, joints=tuple(AXES), position=position, torque=noisy)
    model = build_model(PUMA)
    result = identify(recording, model, options=IdentifyOptions(filter_cutoff=20.0))
    assert result.success, result.findings
    weight = MASSES[1] * CENTRES[1][0] + A2 * sum(MASSES[2:])
    wrist = -MASSES[2] * CENTRES[2][1] + MASSES[3] * (CENTRES[3][2] + D4) + D4 * sum(MASSES[4:])
    truth = 9.81 * np.array([weight, A3 * sum(MASSES[3:]), wrist, MASSES[5] * CENTRES[5][2]])
    np.testing.assert_allclose(result.values[:4], truth, atol=0.01 * truth.max())
    np.testing.assert_allclose(result.values[4::2], VISCOUS, rtol=0.15)
    np.testing.assert_allclose(result.values[5::2], COULOMB, rtol=0.05)
    fit = result.identification
    assert (fit.upper_velocity_threshold == 0.5).all()
    fastest = 2 * np.pi * FREQUENCIES * (TARGET - START) / 2
    np.testing.assert_allclose(fit.velocity_threshold, 0.1 * fastest, rtol=0.02)
    motion, torque = slow_arm(time, phase=1.0, frequencies=FREQUENCIES[::-1])
    error = model.torque(*motion, result.values) - torque
    share = np.linalg.norm(error, axis=0) / np.linalg.norm(torque, axis=0)
    assert share.max() < 0.03
