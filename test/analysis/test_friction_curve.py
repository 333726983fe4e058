# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from robots import random_urdf

from robodyn_ros.analysis.friction_curve import FrictionCurve, friction_curves
from robodyn_ros.errors import IdentificationError, MotionError
from robodyn_ros.excitation.catalog import build_motion
from robodyn_ros.excitation.motions.bidirectional import BidirectionalMotion
from robodyn_ros.models.catalog import robot_model, with_friction
from robodyn_ros.recording.recording import Recording

BODY = robot_model(random_urdf(2, 85, types=('revolute',)), friction=())
SPEEDS = (0.03, 0.06, 0.12, 0.25, 0.5, 0.75, 1.0)
PLAN = {
    'joints': BODY.joint_names,
    'start': [-0.5, 0.4],
    'target': [0.7, -0.6],
    'speeds': SPEEDS,
    'max_velocity': [1.0, 0.8],
    'max_acceleration': [5.0, 4.0],
}
SMOOTHING, VISCOUS, COULOMB = 0.05, 1.5, 4.0


@pytest.fixture(scope='module')
def measured():
    """The experiment on a robot with gravity, smooth friction, an offset and noise."""
    law = {'terms': 'smooth', 'smoothing': SMOOTHING}
    model = with_friction(BODY, law)
    values = np.append(np.nan_to_num(BODY.prior(), nan=0.2), [VISCOUS, COULOMB, 0.6] * 2)
    motion = BidirectionalMotion(**PLAN).grid(0.004)
    torque = model.torque(motion.position, motion.velocity, motion.acceleration, values)
    torque += 0.05 * np.random.default_rng(1).normal(size=torque.shape)
    return Recording(
        time=motion.time, joints=BODY.joint_names, position=motion.position, torque=torque
    )


def test_motion_is_continuous_inside_its_limits_and_comes_back_from_its_description():
    motion = BidirectionalMotion(**PLAN)
    sampled = motion.grid(0.002)
    assert np.abs(sampled.velocity).max(axis=0) == pytest.approx([1.0, 0.8])
    assert (np.abs(sampled.acceleration).max(axis=0) <= [5.0 + 1e-9, 4.0 + 1e-9]).all()
    speed = np.gradient(sampled.position, 0.002, axis=0)
    np.testing.assert_allclose(speed, sampled.velocity, atol=0.011)  # half a corner of 5 rad/s^2
    assert (np.abs(sampled.velocity) > 0.0).sum(axis=1).max() == 1  # one joint at a time
    np.testing.assert_allclose(sampled.position[[0, -1]], [PLAN['start']] * 2, atol=1e-12)
    again = build_motion(motion.describe()).grid(0.002)
    np.testing.assert_array_equal(again.position, sampled.position)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'speeds': [1.5]}, 'above 0 and at most 1, got 1.5'),
        ({'speeds': []}, 'needs a speed and a joint that moves'),
        ({'target': PLAN['start']}, 'needs a speed and a joint that moves'),
        ({'max_acceleration': [0.5, 4.0]}, "joint 'joint1' does not reach 1 between -0.5 and 0.7"),
    ],
)
def test_motion_refuses(change, message):
    with pytest.raises(MotionError, match=message):
        BidirectionalMotion(**{**PLAN, **change})


def test_friction_is_measured_without_gravity_and_offset(measured):
    curves = friction_curves(measured)
    assert [curve.joint for curve in curves] == list(BODY.joint_names)
    for curve, top in zip(curves, PLAN['max_velocity'], strict=True):
        np.testing.assert_allclose(curve.speed, top * np.array(SPEEDS), rtol=0.01)
        law = VISCOUS * curve.speed + COULOMB * np.tanh(curve.speed / SMOOTHING)
        np.testing.assert_allclose(curve.friction, law, atol=0.05)
        assert (curve.spread < 0.2).all()


def test_law_is_fitted_to_the_curve(measured):
    curve = friction_curves(measured)[0]
    found, rest = curve.fit('smooth')
    assert found['smoothing'] == pytest.approx(SMOOTHING, rel=0.15)
    assert found['viscous'] == pytest.approx(VISCOUS, rel=0.03)
    assert found['smooth_coulomb'] == pytest.approx(COULOMB, rel=0.02)
    linear, worse = curve.fit('linear')
    assert set(linear) == {'viscous', 'coulomb'}
    assert np.linalg.norm(worse) > 5.0 * np.linalg.norm(rest)
    with pytest.raises(IdentificationError, match="'cubic' is no friction law"):
        curve.fit('cubic')


def curve_of(friction, speeds=(0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)):
    speed = np.array(speeds)
    return FrictionCurve('a', speed, friction(speed), np.zeros_like(speed))


def test_bidirectional_law_is_fitted_as_the_mean_of_both_directions():
    def law(v):
        turned = np.tanh(v / 0.03)
        here = np.where(v >= 0.3, 1.0, 0.0)
        share = 0.5 * (1.0 + turned)
        return 4.0 * turned * share + here * (1.5 * share * v + 0.8 * v**2 - 0.3 * v**3)

    found, residual = curve_of(law).fit('bidirectional')
    assert set(found) == {
        'coulomb', 'viscous', 'quadratic', 'cubic', 'smoothing', 'threshold'
    }  # fmt: skip
    assert found['coulomb'] == pytest.approx(4.0, rel=0.02)
    assert 0.2 < found['threshold'] <= 0.35
    assert np.abs(residual).max() < 0.05


@pytest.mark.parametrize('top', [0.05, 20.0])
def test_shapes_are_searched_relative_to_the_speeds(top):
    curve = curve_of(
        lambda v: 2.0 * v / top + 4.0 * np.tanh(v / (0.05 * top)),
        top * np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0]),
    )
    assert curve.fit('smooth')[0]['smoothing'] == pytest.approx(0.05 * top, rel=0.05)


@pytest.mark.parametrize('law', ['smooth_power', 'bidirectional'])
def test_a_law_that_fits_with_other_shapes_and_values_alike_is_refused(law):
    """Next to no noise: each shape has values that are certain, but each has others."""
    noise = 0.005 * np.random.default_rng(1).normal(size=10)
    fast = curve_of(
        lambda v: 1.5 * v + 4.0 * np.tanh(v / 0.05) + noise, np.linspace(0.65, 1.0, 10)
    )
    with pytest.raises(IdentificationError, match='is not determined by these 10 speeds; '):
        fast.fit(law)
    values, _ = fast.fit('smooth')
    assert values['smooth_coulomb'] == pytest.approx(4.0, abs=0.3)


def test_other_motions_are_refused(measured):
    together = Recording(
        time=measured.time,
        joints=measured.joints,
        position=measured.position[:, [0, 0]],
        torque=measured.torque,
        source='both',
    )
    with pytest.raises(IdentificationError, match='both: no joint moves forth and back'):
        friction_curves(together)


def test_passes_that_share_no_range_are_no_pair():
    """Forth at full speed up to 0.5, back from 0.7 to 0.55: nothing was measured twice."""
    rate = 0.004
    steps = [(0.2, 0.5), (0.15, 0.2), (0.0, 0.0), (-0.2, -0.15)]
    counts = [round(way / speed / rate) if speed else 50 for speed, way in steps]
    velocity = np.repeat([speed for speed, _ in steps], counts)
    position = rate * np.cumsum(velocity)
    recording = Recording(
        time=rate * np.arange(len(position)), joints=('joint1',), position=position[:, None],
        velocity=velocity[:, None], torque=(5.0 * np.sign(velocity) + 30.0 * position)[:, None],
        source='apart',
    )  # fmt: skip
    with pytest.raises(IdentificationError, match='apart: no joint moves forth and back'):
        friction_curves(recording)
