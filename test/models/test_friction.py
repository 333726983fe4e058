# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
import yaml
from robots import UR10, random_states

from robodyn_ros.errors import ModelError
from robodyn_ros.identification.factors.condense import acting_columns
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model, model_hash, robot_model, with_friction
from robodyn_ros.models.friction import FrictionModel, body_of
from robodyn_ros.models.friction_terms import TERMS
from robodyn_ros.models.interface import Joint, SumModel

JOINTS = (Joint('a'), Joint('b', 'prismatic'), Joint('c', 'continuous'))


def test_torque_is_the_sum_of_the_terms():
    model = FrictionModel(joints=JOINTS)
    q, qd, qdd = random_states(3, 50)
    qd[0] = 0.0
    values = np.random.default_rng(0).normal(size=(3, 3))
    expected = values[:, 0] * qd + values[:, 1] * np.sign(qd) + values[:, 2]
    torque = model.torque(q, qd, qdd, values.ravel())
    np.testing.assert_allclose(torque, expected, atol=1e-15)
    np.testing.assert_array_equal(torque[0], values[:, 2])


@pytest.mark.parametrize('term', [name for name, term in TERMS.items() if term.brakes])
def test_braking_terms_never_drive(term):
    coefficients = {'smoothing': 0.1}
    model = FrictionModel(joints=JOINTS[:1], terms=[term], coefficients=coefficients)
    speed = np.linspace(-2.0, 2.0, 401)[:, None]
    factor = model.regressor_under_load(speed, 2.0)[:, 0, 0]
    assert (factor * speed[:, 0] >= 0.0).all() and np.abs(factor).max() > 0.1
    # One-sided terms act in one direction, the others in both.
    one_sided = term.endswith(('_forward', '_backward'))
    assert np.isclose(np.abs(factor[0]), np.abs(factor[-1]), rtol=1e-6) != one_sided


def test_bidirectional_law_is_the_documents():
    """Eq. 9 to 11 of document double_encoder, written out."""
    speed = np.linspace(-1.5, 1.5, 301)
    eps, threshold = 0.05, 0.2
    c1, c2, v1, v2, v12, v22, v13, v23 = np.random.default_rng(1).uniform(1.0, 2.0, 8)
    expected = np.zeros_like(speed)
    for k, v in enumerate(speed):
        t = np.tanh(v / eps)
        if v >= 0.0:
            coulomb = c1 * t * (t + 1.0) / 2.0
            viscous = v1 * (t + 1.0) / 2.0 * v + v12 * v**2 + v13 * v**3
        else:
            coulomb = c2 * t * (1.0 - t) / 2.0
            viscous = v2 * (1.0 - t) / 2.0 * v - v22 * v**2 + v23 * v**3
        expected[k] = coulomb + (viscous if abs(v) >= threshold else 0.0)
    model = FrictionModel(
        joints=JOINTS[:1],
        terms='bidirectional',
        coefficients={'smoothing': eps, 'threshold': threshold},
    )
    state = speed[:, None]
    torque = model.torque(state, state, state, np.array([c1, c2, v1, v2, v12, v22, v13, v23]))
    np.testing.assert_allclose(torque[:, 0], expected, atol=1e-12)
    assert [item.name for item in model.parameters][::2] == [
        f'a.{name}_friction_forward' for name in ('coulomb', 'viscous', 'quadratic', 'cubic')
    ]


def test_other_shapes():
    speed = np.array([[-4.0], [0.5], [1.0], [8.0]])
    coefficients = {'smoothing': 0.5, 'breakaway_speed': 2.0, 'reach': 2.0, 'exponent': 0.5}
    for term, expected in (
        ('smooth_coulomb', np.tanh(speed[:, 0] / 0.5)),
        ('breakaway', [-np.exp(-4.0), np.exp(-1 / 16), np.exp(-0.25), np.exp(-16.0)]),
        ('root', [-2.0, np.sqrt(0.5), 1.0, np.sqrt(8.0)]),
        ('asymmetry', [4.0, 0.5, 1.0, 8.0]),
        ('quadratic', [-4.0 - 4.0 * 2.0, 0.25, 1.0, 4.0 + 4.0 * 6.0]),  # a tangent beyond 2
    ):
        model = FrictionModel(joints=JOINTS[:1], terms=[term], coefficients=coefficients)
        np.testing.assert_allclose(model.regressor(speed, speed, speed)[:, 0, 0], expected)
        assert term != 'quadratic' or model.parameters[0].unit == 'Nm s^2/rad^2'
    cube = FrictionModel(joints=JOINTS[:1], terms='power').regressor(speed, speed, speed)[:, 0, 3]
    np.testing.assert_allclose(cube, np.cbrt(speed[:, 0]))


def test_load_friction_is_proportional_to_the_torque_of_the_body():
    body = robot_model(UR10, friction=())
    friction = {'terms': ['viscous', 'smooth_coulomb', 'load'], 'smoothing': 0.05}
    model = with_friction(body, {**friction, 'load': body.prior().tolist()})
    q, qd, qdd = random_states(6, 40)
    values = np.concatenate([np.zeros(len(body.parameters)), np.tile([0.0, 0.0, 0.1], 6)])
    expected = 0.1 * np.abs(body.torque(q, qd, qdd, body.prior())) * np.tanh(qd / 0.05)
    np.testing.assert_allclose(model.torque(q, qd, qdd, values), expected, atol=1e-10)
    assert body_of(model) is body and body_of(SumModel(parts=[model])) is body
    with pytest.raises(ModelError, match='friction alone has no body'):
        body_of(model.parts[1])
    again = build_model(yaml.safe_load(yaml.safe_dump(model.describe())))
    assert model_hash(again) == model_hash(model)
    np.testing.assert_array_equal(
        again.torque(q, qd, qdd, values), model.torque(q, qd, qdd, values)
    )


def test_packed_columns_and_torque_are_those_of_the_regressor():
    body = robot_model(UR10, friction=())
    friction = {'terms': ['viscous', 'smooth_coulomb', 'load'], 'smoothing': 0.05}
    model = with_friction(body, {**friction, 'load': body.prior().tolist()})
    states, random = random_states(6, 40), np.random.default_rng(1)
    whole = model.regressor(*states)
    columns = [np.sort(random.permutation(whole.shape[2])[:40]) for _ in range(6)]
    expected = np.concatenate([whole[:, joint, own] for joint, own in enumerate(columns)], axis=1)
    np.testing.assert_array_equal(model.pack_columns(*states, columns), expected)
    values = random.normal(size=18)
    part = model.parts[1]
    np.testing.assert_allclose(
        part.torque(*states, values), part.regressor(*states) @ values, atol=1e-10
    )


def test_random_states_show_what_acts_at_low_velocities_only():
    coefficients = {'breakaway_speed': 0.003, 'smoothing': 0.001}
    model = FrictionModel(
        joints=JOINTS,
        terms=['viscous', 'coulomb', 'breakaway', 'smooth_coulomb'],
        coefficients=coefficients,
    )
    found = base_parameters(model)
    assert found.rank == 12
    assert [len(own) for own in acting_columns(model, found.columns)] == [4, 4, 4]


@pytest.mark.parametrize(
    ('terms', 'coefficients', 'is_open'),
    [
        ('auto', {}, True),
        (['auto'], {}, True),
        ('smooth', {}, True),
        ('smooth', {'smoothing': 0.1}, False),
        (['linear', 'load'], {}, True),
        ('power', {}, False),
    ],
)
def test_open_models_wait_for_an_identification(terms, coefficients, is_open):
    model = FrictionModel(joints=JOINTS, terms=terms, coefficients=coefficients)
    assert model.open == is_open
    again = build_model(model.describe())
    assert again.open == is_open and again.describe() == model.describe()
    assert np.isfinite(model.regressor(*random_states(3, 20))).all()


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'joints': ()}, 'at least one joint'),
        ({'joints': JOINTS, 'terms': ()}, 'at least one term of viscous, coulomb, offset'),
        ({'joints': JOINTS, 'terms': ('dry',)}, 'no friction term "dry", there are viscous'),
        ({'joints': JOINTS, 'terms': ('offset', 'offset')}, '"offset" is named twice'),
        ({'joints': JOINTS, 'terms': ('linear', 'coulomb')}, '"coulomb" is named twice'),
        ({'joints': JOINTS, 'terms': ('auto', 'load')}, '"auto" selects all terms'),
        (
            {'joints': JOINTS, 'coefficients': {'width': 1.0}},
            'no coefficient "width", it has: smoothing',
        ),
        (
            {'joints': JOINTS, 'coefficients': {'reach': 0.0}},
            '"reach" of friction must be above 0',
        ),
        ({'joints': JOINTS, 'coefficients': {'reach': [1.0, 2.0]}}, 'must be one number or 3'),
    ],
)
def test_refuses(options, message):
    with pytest.raises(ModelError, match=message):
        FrictionModel(**options)


@pytest.mark.parametrize(
    ('friction', 'message'),
    [
        ({'terms': 'linear', 'wide': 1.0}, "friction: unknown entry 'wide', expected some of"),
        ({'terms': ['linear', 'load'], 'load': [1.0]}, 'must be 66 finite numbers'),
    ],
)
def test_refuses_descriptions(friction, message):
    with pytest.raises(ModelError, match=message):
        robot_model(UR10, friction=friction)


def test_refuses_a_load_without_a_robot():
    description = FrictionModel(joints=JOINTS, terms=['load']).describe()
    with pytest.raises(ModelError, match='must follow its robot in a sum'):
        build_model({**description, 'load': [1.0]})


@pytest.mark.parametrize('shape', [(3,), (4, 2)])
def test_refuses_velocities_of_the_wrong_shape(shape):
    state = np.zeros(shape)
    with pytest.raises(ModelError, match=r'needs velocities \(N, 3\)'):
        FrictionModel(joints=JOINTS).regressor(state, state, state)
