# SPDX-License-Identifier: Apache-2.0
"""Rules besides the joints' limits: torque, space, and where a model is defined."""

import numpy as np
import pytest
from motions import JOINTS
from robots import SIX_AXIS, random_states

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.constraints import (
    ModelRule,
    SpaceLimit,
    TorqueLimit,
    check_rest,
    first_broken,
)
from robodyn_ros.excitation.trajectory import Motion
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.serial.chain import LinkTree
from robodyn_ros.models.serial.urdf import UrdfModel

MODEL = UrdfModel.from_file(SIX_AXIS)
SCARA = build_model(
    {
        'kind': 'scara',
        'dynamic_model': 1,
        'joints': list(JOINTS),
        'geometry': {'L1': 0.35, 'L2': 0.25},
    }
)


def motion(states):
    """A motion that stays a while in every state, so that nothing rises between its samples."""
    time = np.repeat(0.1 * np.arange(len(states[0])), 5)
    return Motion(time, *(np.repeat(value, 5, axis=0) for value in states))


def assert_penalty_derivatives(rule, states):
    random = np.random.default_rng(0)
    ways = [random.normal(size=value.shape) for value in states]
    value, slopes = rule.penalty(states)
    assert value > 0.0
    sums = [
        rule.penalty(tuple(v + h * w for v, w in zip(states, ways, strict=True)))[0]
        for h in (1e-6, -1e-6)
    ]
    found = sum((slope * way).sum() for slope, way in zip(slopes, ways, strict=True))
    assert found == pytest.approx((sums[0] - sums[1]) / 2e-6, rel=1e-4)


def test_torque_is_the_prior_models():
    states = random_states(6, 20)
    torque = MODEL.torque(*states, MODEL.prior())
    peak = np.abs(torque).max(axis=0)
    values = tuple(MODEL.prior())
    kept = TorqueLimit(values, tuple(peak * 1.03)).rule(MODEL)
    assert kept.excess(motion(states)).size == 0.0
    assert kept.penalty(states)[0] == 0.0
    tight = peak * 1.03
    tight[3] = peak[3] / 1.5
    broken = TorqueLimit(values, tuple(tight)).rule(MODEL)
    excess = broken.excess(motion(states))
    row = int(np.abs(torque[:, 3]).argmax())
    assert excess.size == pytest.approx(0.5)
    assert f"joint 'joint4' needs {peak[3]:.4g} Nm at t = {0.1 * row:.3f}" in excess.sentence
    assert_penalty_derivatives(broken, states)


def test_frames_stay_in_a_box_and_above_the_floor():
    states = random_states(6, 20)
    links = [MODEL.urdf.joints[-1].child, MODEL.urdf.joints[2].child]
    places = LinkTree(MODEL).places(states[0], links)
    low, high = places.min(axis=(0, 1)), places.max(axis=(0, 1))
    rule = SpaceLimit(tuple(links), tuple(low - 0.01), tuple(high + 0.01)).rule(MODEL)
    assert rule.excess(motion(states)).size == 0.0 and rule.penalty(states)[0] == 0.0
    floor = (-np.inf, -np.inf, float(low[2] + 0.2))
    rule = SpaceLimit(tuple(links), floor).rule(MODEL)
    excess = rule.excess(motion(states))
    assert excess.size == pytest.approx(0.2)
    assert f'at z = {low[2]:.4g} m' in excess.sentence
    assert_penalty_derivatives(rule, states)
    twice = tuple(np.tile(values, (2, 1)) for values in states)
    assert rule.penalty(twice)[0] == pytest.approx(rule.penalty(states)[0])


def test_what_happens_between_samples_counts():
    """A sine whose peak lies between two samples."""
    time = 0.1 * np.arange(30)
    q, qd, qdd = np.zeros((3, 30, 6))
    phase = time[:, None] - 0.65
    q[:, 1:2] = 0.4 * np.cos(2.0 * phase)
    qdd[:, 1:2] = -1.6 * np.cos(2.0 * phase)
    samples = Motion(time, q, qd, qdd)
    link = MODEL.urdf.joints[-1].child
    fine = np.zeros((2001, 6))
    fine[:, 1] = 0.4 * np.cos(np.linspace(-0.1, 0.1, 2001))
    points = LinkTree(MODEL).places(fine, [link])[:, 0]
    low, high = points.min(axis=0) - 1.0, points.max(axis=0) + 1.0
    sampled = LinkTree(MODEL).places(q, [link])[:, 0]
    axis = int(np.argmax(points.max(axis=0) - sampled.max(axis=0)))
    high[axis] = 0.5 * (points.max(axis=0) + sampled.max(axis=0))[axis]
    low[axis] = -9.0
    lower = np.minimum(low, sampled.min(axis=0) - 1.0)
    rule = SpaceLimit((link,), tuple(lower), tuple(high)).rule(MODEL)
    assert (sampled <= high).all() and rule.excess(samples).size > 0.0


def test_rules_are_checked_in_their_order_and_at_rest():
    tight = TorqueLimit(tuple(MODEL.prior()), (0.1,) * 6).rule(MODEL)
    box = SpaceLimit((MODEL.urdf.joints[-1].child,), upper=(9.0, 9.0, -9.0)).rule(MODEL)
    states = random_states(6, 5)
    assert 'torque limit' in first_broken([ModelRule(MODEL), tight, box], motion(states)).sentence
    with pytest.raises(MotionError, match=r'even at rest a limit is broken: frame .* allowed is'):
        check_rest([box, tight], np.zeros(6))
    with pytest.raises(MotionError, match=r'from \[0.5, 0.0, .*choose another .* with --position'):
        check_rest([box], np.array([0.5, 0, 0, 0, 0, 0]))


@pytest.mark.parametrize(
    ('make', 'words'),
    [
        (lambda: TorqueLimit((np.nan,) * 66, (1.0,) * 6).rule(MODEL), 'base_link|link1.m has no'),
        (lambda: TorqueLimit(tuple(MODEL.prior()), (1.0,) * 5).rule(MODEL), '6 numbers above 0'),
        (
            lambda: TorqueLimit((0.0,), (1.0,), SCARA.describe()).rule(MODEL),
            'the prior model has the joints',
        ),
        (lambda: SpaceLimit(('hand',)).rule(MODEL), "has no link 'hand'"),
        (lambda: SpaceLimit(('hand',)).rule(SCARA), "only the frame 'tool'"),
        (lambda: SpaceLimit(('tool',), (1.0, 0, 0), (0.0, 1, 1)).rule(SCARA), 'a box needs'),
    ],
)
def test_refuses_with_a_sentence(make, words):
    with pytest.raises(MotionError, match=words):
        make()


def test_a_model_must_be_defined_along_a_motion():
    lengths = {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.3, 'L_BC': 0.4}
    delta = {'kind': 'delta', 'dynamic_model': 1, 'joints': list('abc'), 'geometry': lengths}
    rule = ModelRule(build_model(delta))
    still = np.zeros((1, 3))
    check_rest([rule], np.full(3, np.pi))
    excess = rule.excess(Motion(np.zeros(1), still, still, still))
    assert excess.size == 1.0 and excess.sentence.startswith('the model is not defined there')
    with pytest.raises(MotionError, match='even at rest a limit is broken: the model is not'):
        check_rest([rule], np.zeros(3))
