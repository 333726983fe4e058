# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from control_arm import small_arm
from healthy_arm import with_thresholds
from scipy.signal import butter, lfilter

from robodyn_ros.analysis.collision_thresholds import propose_thresholds
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.models.catalog import with_friction
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording

MODEL, VALUES = small_arm()
TORQUE = ModelTorque(MODEL, VALUES)
PERIOD = 0.002
SETTINGS = CollisionSettings(
    joints=MODEL.joint_names, max_torque_error=1.0, low_velocity=0.1, low_velocity_hold=0.05
)


def recording(noise: float = 0.3, error: float = 1.0, seconds: float = 4.0) -> Recording:
    """A healthy motion of an arm whose torque is not quite the model's."""
    time = 10.0 + np.arange(round(seconds / PERIOD)) * PERIOD
    rate = np.array([3.0, 4.0])
    phase = rate * time[:, None]
    q, qd, qdd = 0.5 * np.sin(phase), 0.5 * rate * np.cos(phase), -0.5 * rate**2 * np.sin(phase)
    torque = MODEL.torque(q, qd, qdd, VALUES) + error * np.cos(3.7 * phase)
    torque += noise * np.random.default_rng(0).normal(size=torque.shape)
    return Recording(time, MODEL.joint_names, q, torque, qd)


def torque_error(data: Recording) -> tuple[Array, Array]:
    """Torque error and filtered velocity by scipy, all samples at once."""
    assert data.velocity is not None
    b, a = butter(2, SETTINGS.filter_cutoff, fs=1.0 / PERIOD)

    def low_pass(signal: Array) -> Array:
        # Settled on the first sample, as the detector begins.
        return np.asarray(lfilter(b, a, signal - signal[0], axis=0) + signal[0])

    q, qd = low_pass(data.position), low_pass(data.velocity)
    slope = b[0] * 2.0 / PERIOD * np.array([1.0, 0.0, -1.0])
    qdd = lfilter(slope, a, data.velocity - data.velocity[0], axis=0)
    rest = low_pass(data.torque - TORQUE.friction(data.velocity))
    tef = SETTINGS.torque_error_filter
    error = lfilter([tef], [1.0, tef - 1.0], TORQUE.body(q, qd, qdd) - rest, axis=0)
    return np.asarray(error), qd


def test_thresholds_are_factors_times_the_largest_error() -> None:
    data = recording()
    error, velocity = torque_error(data)
    settled = slice(round(SETTINGS.settle_time / PERIOD), None)
    proposal = propose_thresholds(data, TORQUE, SETTINGS, contact_factor=1.5, collision_factor=2.0)
    assert proposal.samples == len(error[settled])
    for joint in range(2):
        # Moving: hardly any of the extra torque of the last standstill is left.
        slowness = np.clip(2.0 - np.abs(velocity[:, joint]) / 0.1, 0.0, 1.0)
        hold = np.array([
            max(slowness[max(0, k - back)] - back * PERIOD / 0.05 for back in range(26))
            for k in range(len(slowness))
        ])  # fmt: skip
        size, slow = np.abs(error[settled, joint]), hold[settled]
        moving = size[slow <= 0.3].max()
        # Around standstill: at least Coulomb friction, 3 Nm, at full extra torque.
        still = max(3.0, (size[slow > 0.3] / slow[slow > 0.3]).max())
        np.testing.assert_allclose(proposal.largest_slow_error[joint], still, rtol=1e-6)
        np.testing.assert_allclose(
            proposal.low_velocity_torque[joint], 2.0 * max(0.0, still - moving), rtol=1e-6
        )
        np.testing.assert_allclose(proposal.largest_error[joint], moving, rtol=1e-6)
        np.testing.assert_allclose(proposal.max_torque_error[joint], 2.0 * moving, rtol=1e-6)
        np.testing.assert_allclose(proposal.contact_threshold[joint], 1.5 * moving, rtol=1e-6)


def test_the_recording_itself_gives_no_contact_and_coulomb_friction_is_allowed_for() -> None:
    proposal = propose_thresholds(recording(), TORQUE, SETTINGS)
    detector = TorqueErrorDetector(torque=TORQUE, settings=with_thresholds(SETTINGS, proposal))
    data = recording()
    assert data.velocity is not None
    for row in zip(data.time, data.position, data.velocity, data.torque, strict=True):
        detector.update(*row)
        assert detector.level.max() <= 1, detector.message
    # Coulomb friction of the arm: 3 Nm.
    still = proposal.max_torque_error + proposal.low_velocity_torque
    assert (still >= 1.6 * 3.0 - 1e-9).all()


def test_joined_thresholds_are_those_of_both_recordings_in_one() -> None:
    calm, rough = recording(), recording()
    rough = replace(rough, torque=1.5 * rough.torque)
    gap = calm.time[-1] + 10.0 * SETTINGS.stale_timeout  # the detector settles again
    signals = ('position', 'velocity', 'torque')
    one = replace(
        calm, time=np.concatenate([calm.time, rough.time + gap]),
        **{name: np.vstack([getattr(calm, name), getattr(rough, name)]) for name in signals},
    )  # fmt: skip
    first, second, expected = (
        propose_thresholds(data, TORQUE, SETTINGS) for data in (calm, rough, one)
    )
    for joined in (first.join(second), second.join(first)):
        for field in fields(expected):
            np.testing.assert_array_equal(
                getattr(joined, field.name), getattr(expected, field.name), field.name
            )


def test_friction_by_load_is_allowed_for_at_its_largest_in_the_positions_recorded() -> None:
    body = MODEL.parts[0]  # type: ignore[attr-defined]
    prior = np.nan_to_num(body.prior())
    model = with_friction(body, {'terms': ['coulomb', 'load'], 'load': prior.tolist()})
    torque = ModelTorque(model, np.concatenate([prior, [3.0, 0.1] * 2]))
    data, still = recording(0.0, 0.0), np.zeros((2000, 2))
    load = np.abs(body.torque(data.position, still, still, prior)).max(axis=0)
    proposal = propose_thresholds(data, torque, replace(SETTINGS, low_velocity=1e-9))
    np.testing.assert_allclose(proposal.largest_slow_error, 3.0 + 0.1 * load, rtol=1e-3)


def test_least_keeps_a_perfect_model_from_a_hair_trigger() -> None:
    proposal = propose_thresholds(recording(0.0, 0.0), TORQUE, SETTINGS, least=[5.0, 2.0])
    np.testing.assert_allclose(proposal.max_torque_error, [5.0, 2.0])
    assert (proposal.contact_threshold < proposal.max_torque_error).all()
    # 1.6 times Coulomb friction, 4.8 Nm, is allowed at standstill anyway by the first threshold.
    np.testing.assert_allclose(proposal.low_velocity_torque, [0.0, 2.8], rtol=1e-3)


def test_refusals() -> None:
    data = recording(seconds=0.05)
    with pytest.raises(ControlError, match='has no settled sample'):
        propose_thresholds(data, TORQUE, SETTINGS)
    with pytest.raises(ControlError, match='1 <= contact_factor <= collision_factor, got 2'):
        propose_thresholds(data, TORQUE, SETTINGS, contact_factor=2.0, collision_factor=1.5)
    other = Recording(data.time, ('a', 'b'), data.position, data.torque, data.velocity)
    with pytest.raises(ControlError, match='has no joint joint1'):
        propose_thresholds(other, TORQUE, SETTINGS)
