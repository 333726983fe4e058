# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from control_arm import small_arm
from robots import random_states

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.models.catalog import build_model, with_friction
from robodyn_ros.models.friction_terms import LAWS, TERMS


def test_friction_is_a_line_inside_the_window_and_the_law_outside() -> None:
    model, values = small_arm()
    torque = ModelTorque(model, values, velocity_window=0.1)
    speed = np.linspace(-0.3, 0.3, 601)
    friction = torque.friction(np.stack([speed, speed], axis=1))[:, 0]
    law = 2.0 * speed + 3.0 * np.sign(speed)
    outside = np.abs(speed) >= 0.1 - 1e-12
    np.testing.assert_allclose(friction[outside], law[outside], atol=1e-12)
    np.testing.assert_allclose(friction[~outside], speed[~outside] / 0.1 * 3.2, atol=1e-12)
    # Continuous: no step larger than the slope of the line allows.
    assert np.abs(np.diff(friction)).max() < 0.001 * 32.0 * 1.01
    np.testing.assert_allclose(torque.friction_step, 3.2)
    np.testing.assert_allclose(ModelTorque(model, values).friction_step, 3.0)


def test_load_dependent_friction_is_the_model_and_continuous_around_standstill() -> None:
    body = small_arm()[0].parts[0]
    friction = {'terms': ['viscous', 'coulomb', 'load'], 'load': np.nan_to_num(body.prior())}
    model = with_friction(body, {**friction, 'load': friction['load'].tolist()})
    values = np.concatenate([np.nan_to_num(body.prior(), nan=0.5), [2.0, 3.0, 0.1] * 2])
    q, qd, qdd = random_states(2, 2000)
    expected = model.torque(q, qd, qdd, values)
    torque = ModelTorque(model, values, velocity_window=0.1)
    fast = (np.abs(qd) >= 0.1).all(axis=1)
    assert fast.sum() > 1000
    np.testing.assert_allclose(torque.torque(q, qd, qdd)[fast], expected[fast], atol=1e-10)
    without = ModelTorque(model, values)
    np.testing.assert_allclose(without.torque(q, qd, qdd), expected, atol=1e-10)
    # Through zero the load's part runs on a line as all friction does, and is zero at rest.
    speed = np.linspace(-0.2, 0.2, 401)
    at, still = np.repeat(q[:1], 401, axis=0), np.zeros((401, 2))
    load = torque.load(at, still, still)
    np.testing.assert_allclose(load, np.abs(body.torque(at, still, still, friction['load'])))
    friction_torque = torque.friction(np.stack([speed, speed], axis=1), load)
    np.testing.assert_allclose(friction_torque[200], 0.0, atol=1e-12)
    step = torque.friction_step + torque.friction_step_per_load * load[0]
    assert np.abs(np.diff(friction_torque, axis=0)).max() < 0.001 * step.max() / 0.1 * 1.01
    np.testing.assert_allclose(step, 3.2 + 0.1 * load[0])
    before = torque.load(q, qd, qdd)
    torque.exclude_gravity([True, False])
    np.testing.assert_array_equal(torque.load(q, qd, qdd), before)


def test_smooth_law_has_the_static_friction_of_its_plateau() -> None:
    body = small_arm()[0].parts[0]
    model = with_friction(body, {'terms': 'smooth', 'smoothing': 0.05})
    values = np.concatenate([np.nan_to_num(body.prior()), [0.0, 3.0, 0.5] * 2])
    for window in (0.0, 0.01):
        torque = ModelTorque(model, values, velocity_window=window)
        np.testing.assert_allclose(torque.friction_step, 3.0, rtol=0.01)


@pytest.mark.parametrize(
    ('change', 'text'),
    [
        (lambda v: v[:-1], 'finite parameter values'),
        (lambda v: np.append(v[:-1], np.nan), 'finite parameter values'),
    ],
)
def test_refuses_values_that_do_not_fit(change: object, text: str) -> None:
    model, values = small_arm()
    with pytest.raises(ControlError, match=text):
        ModelTorque(model, change(values))  # type: ignore[operator]


@pytest.mark.parametrize(
    'description',
    [
        {
            'kind': 'delta',
            'dynamic_model': 1,
            'joints': ['a', 'b', 'c'],
            'geometry': {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.3, 'L_BC': 0.7},
            'platform_force': {'R_ext': 0.05, 'Fr_max': 5.0},
        },
        {
            'kind': 'scara',
            'dynamic_model': 1,
            'joints': ['a', 'b', 'c', 'd'],
            'geometry': {'L1': 0.3, 'L2': 0.25},
        },
        {'kind': 'puma', 'dynamic_model': 1, 'joints': [f'j{k}' for k in range(6)]},
        {'kind': 'axis', 'type': 'rotary', 'dynamic_model': 3, 'joints': ['a']},
    ],
    ids=lambda item: str(item['kind']),
)
def test_every_kind_of_model_gives_the_torque_it_was_validated_with(description: dict) -> None:
    model = build_model({**description, 'friction': ['viscous', 'coulomb']})
    random = np.random.default_rng(3)
    values = random.uniform(0.5, 2.0, len(model.parameters))
    for k, item in enumerate(model.parameters):
        values[k] = 1000.0 if item.name == 'C_r' else values[k]
    q, qd, qdd = random.uniform(-0.8, 0.8, (3, 20, len(model.joints)))
    expected = model.torque(q, qd, qdd, values)
    torque = ModelTorque(model, values)
    np.testing.assert_allclose(torque.torque(q, qd, qdd), expected, rtol=1e-12, atol=1e-12)
    one = [torque.torque(*sample) for sample in zip(q, qd, qdd, strict=True)]
    np.testing.assert_allclose(one, expected, rtol=1e-12, atol=1e-12)


COEFFICIENTS = {'smoothing': 0.2, 'breakaway_speed': 0.3, 'threshold': 0.1, 'reach': 1.0}
ONE_BY_ONE = {**{name: (name,) for name in TERMS}, **LAWS, 'all': tuple(TERMS)}


@pytest.mark.parametrize('law', ONE_BY_ONE)
@pytest.mark.parametrize('window', [0.0, 0.05])
def test_one_sample_is_what_it_is_among_many_and_in_the_model(law: str, window: float) -> None:
    """Every friction law, through standstill and beyond the window; load-dependent ones too."""
    terms = ONE_BY_ONE[law]
    body = small_arm()[0].parts[0]
    prior = np.nan_to_num(body.prior())
    needed = {name for term in terms for name in (*TERMS[term].needs, *TERMS[term].uses)}
    coefficients = {name: COEFFICIENTS[name] for name in needed & set(COEFFICIENTS)}
    load = {'load': prior.tolist()} if 'load' in terms else {}
    model = with_friction(body, {'terms': list(terms), **coefficients, **load})
    random = np.random.default_rng(4)
    values = np.concatenate([prior, random.uniform(0.5, 2.0, 2 * len(terms))])
    q, qd, qdd = random_states(2, 60)
    qd[:20] *= 0.01
    qd[0] = 0.0
    torque = ModelTorque(model, values, velocity_window=window)
    among = torque.torque(q, qd, qdd)
    outside = (np.abs(qd) >= window).all(axis=1)
    expected = (model.regressor(q, qd, qdd) @ values)[outside]
    np.testing.assert_allclose(among[outside], expected, rtol=1e-12, atol=1e-12)
    alone = [torque.torque(*sample) for sample in zip(q, qd, qdd, strict=True)]
    np.testing.assert_allclose(alone, among, rtol=1e-12, atol=1e-12)


def test_refuses_a_window_that_is_negative_or_not_finite() -> None:
    model, values = small_arm()
    for bad in (-0.1, np.nan, np.inf):
        with pytest.raises(ControlError, match=r'velocity_window of joint .* must be at least 0'):
            ModelTorque(model, values, velocity_window=[0.1, bad])
    with pytest.raises(ControlError, match='one value for each of the 2 joints, got 3'):
        ModelTorque(model, values, velocity_window=np.ones(3))


def test_other_values_hold_from_the_next_call_on_and_bad_ones_change_nothing() -> None:
    model, values = small_arm()
    q, qd, qdd = random_states(2, 100)
    qd[:50] *= 0.01
    torque = ModelTorque(model, values, velocity_window=0.05)
    other = values * np.linspace(1.0, 2.0, len(values))
    fresh = ModelTorque(model, other, velocity_window=0.05)
    before = torque.torque(q, qd, qdd)
    kept = torque.torque(q[0], qd[0], qdd[0])
    with pytest.raises(ControlError, match='finite parameter values'):
        torque.set_values(np.full(len(values), np.nan))
    np.testing.assert_array_equal(torque.torque(q, qd, qdd), before)
    own = values.copy()
    torque.set_values(own)
    own[:] = 0.0  # the caller's array is not kept
    np.testing.assert_array_equal(torque.torque(q, qd, qdd), before)
    torque.set_values(other)
    np.testing.assert_array_equal(torque.torque(q, qd, qdd), fresh.torque(q, qd, qdd))
    assert np.abs(before - torque.torque(q, qd, qdd)).max() > 1.0
    np.testing.assert_allclose(kept, before[0], rtol=1e-12, err_msg='a result is its own array')
    alone = torque.torque(q[0], qd[0], qdd[0])
    np.testing.assert_allclose(alone, fresh.torque(q, qd, qdd)[0], rtol=1e-12)
    model.torque(q, qd, qdd, values)  # others may use the model with other values meanwhile
    np.testing.assert_array_equal(torque.torque(q[0], qd[0], qdd[0]), alone)


@pytest.mark.parametrize('where', [[True, True], [False, True], [False, False]])
def test_joints_without_gravity_have_the_torque_of_a_model_without(where: list[bool]) -> None:
    model, values = small_arm()
    description = model.describe()
    description['parts'][0]['gravity'] = [0.0, 0.0, 0.0]  # type: ignore[index]
    weightless = ModelTorque(build_model(description), values)
    states = random_states(2, 50)
    torque = ModelTorque(model, values)
    complete = torque.torque(*states)
    torque.exclude_gravity(where)
    expected = np.where(where, weightless.torque(*states), complete)
    np.testing.assert_allclose(torque.torque(*states), expected, atol=1e-9)
    np.testing.assert_array_equal(torque.complete(*states), complete)
    assert (np.abs(complete - weightless.torque(*states)).max(axis=0) > 1.0).all()
    alone = [torque.torque(*sample) for sample in zip(*states, strict=True)]
    np.testing.assert_allclose(alone, torque.torque(*states), rtol=1e-12, atol=1e-12)


def test_slips_that_slide_are_static_friction() -> None:
    body = small_arm()[0].parts[0]
    model = with_friction(body, ['viscous', 'coulomb', 'slip'])
    torque = ModelTorque(model, np.zeros(len(model.parameters)))
    values = [1.0 + ('joint2' in item.name) for item in model.parameters]
    torque.set_values(values)
    np.testing.assert_allclose(torque.friction_step, [4.0, 8.0])  # Coulomb and three slips
