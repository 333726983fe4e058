from __future__ import annotations

import numpy as np
import pytest
from robots import random_states

from robodyn_ros.errors import ModelError
from robodyn_ros.models.friction import TERMS, FrictionModel
from robodyn_ros.models.interface import Joint

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


def test_names_and_units():
    model = FrictionModel(joints=JOINTS[:2])
    assert [(item.name, item.unit, item.joint) for item in model.parameters] == [
        ('a.viscous_friction', 'Nm s/rad', 'a'),
        ('a.coulomb_friction', 'Nm', 'a'),
        ('a.torque_offset', 'Nm', 'a'),
        ('b.viscous_friction', 'N s/m', 'b'),
        ('b.coulomb_friction', 'N', 'b'),
        ('b.torque_offset', 'N', 'b'),
    ]
    assert np.isnan(model.prior()).all()


@pytest.mark.parametrize('term', TERMS)
def test_one_term_alone(term):
    model = FrictionModel(joints=JOINTS, terms=[term])
    qd = random_states(3, 4)[1]
    expected = np.einsum('ni,ij->nij', TERMS[term].column(qd), np.eye(3))
    np.testing.assert_array_equal(model.regressor(qd, qd, qd), expected)


def test_quadratic_friction_brakes_in_both_directions():
    model = FrictionModel(joints=JOINTS[:1], terms=['quadratic'])
    velocity = np.array([[-3.0], [0.0], [2.0]])
    assert model.regressor(velocity, velocity, velocity).ravel().tolist() == [-9.0, 0.0, 4.0]
    assert [item.unit for item in model.parameters] == ['Nm s^2/rad^2']


def test_terms_keep_the_order_asked_for():
    model = FrictionModel(joints=JOINTS[:1], terms=['offset', 'viscous'])
    assert [item.name for item in model.parameters] == ['a.torque_offset', 'a.viscous_friction']
    row = model.regressor(*(np.full((1, 1), 2.5),) * 3)[0, 0]
    assert row.tolist() == [1.0, 2.5]


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'joints': ()}, 'at least one joint'),
        ({'joints': JOINTS, 'terms': ()}, 'at least one term of viscous, coulomb, offset'),
        ({'joints': JOINTS, 'terms': ('dry',)}, 'no friction term "dry", there are viscous'),
        ({'joints': JOINTS, 'terms': ('offset', 'offset')}, '"offset" is named twice'),
    ],
)
def test_refuses(options, message):
    with pytest.raises(ModelError, match=message):
        FrictionModel(**options)


@pytest.mark.parametrize('shape', [(3,), (4, 2)])
def test_refuses_velocities_of_the_wrong_shape(shape):
    state = np.zeros(shape)
    with pytest.raises(ModelError, match=r'needs velocities \(N, 3\)'):
        FrictionModel(joints=JOINTS).regressor(state, state, state)
