# SPDX-License-Identifier: Apache-2.0
import ast
import operator

import numpy as np
import pytest
from closed_form_oracle import (
    PUMA_LENGTHS,
    PumaArm,
    assert_behaves,
    assert_equal_torque,
    oracle,
    values_of,
)
from robots import random_states

from robodyn_ros.errors import ModelError
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.closed_forms.puma import FOLLOWING, NAMES, PumaGravityModel, PumaModel

JOINTS = [f'joint{k}' for k in range(1, 7)]
ONE = {'kind': 'puma', 'dynamic_model': 1, 'joints': JOINTS}
TWO = {**ONE, 'dynamic_model': 2}


@pytest.mark.parametrize('seed', range(4))
def test_is_the_urdf_of_its_bodies(seed):
    arm, model = PumaArm(seed), PumaModel(joints=JOINTS)
    states = random_states(6, 40, seed)
    torque = model.torque(*states, values_of(model, arm.values()))
    assert_equal_torque(torque, arm.torque(*states))


@pytest.mark.parametrize('seed', range(4))
def test_with_known_kinematics_26_columns_give_the_same_torque(seed):
    arm = PumaArm(seed)
    model = PumaModel(joints=JOINTS, geometry=arm.lengths, gravity=arm.g)
    known = arm.values()
    values = values_of(model, {k: v for k, v in known.items() if k not in FOLLOWING})
    assert len(values) == 26
    states = random_states(6, 40, seed)
    assert_equal_torque(model.torque(*states, values), arm.torque(*states))
    assert dict(zip(NAMES, model.compute_named(values), strict=True)) == pytest.approx(known)


def test_constants_are_the_published_ones():
    arm, published = PumaArm.published()
    values = arm.values()
    assert {name: values[name] for name in published} == pytest.approx(published, abs=1e-12)
    states = random_states(6, 40)
    model = PumaModel(joints=JOINTS)
    torque = model.torque(*states, values_of(model, values))
    assert_equal_torque(torque, arm.torque(*states))


def test_coriolis_and_centrifugal_terms_are_the_published_ones():
    # The list gives each term as a formula in I1..I23; here they multiply velocities only.
    lines = [line.split(' = ') for line in oracle('armstrong_B_C.txt').splitlines()[1:] if line]
    random = np.random.default_rng(3)
    q, qd = random.uniform(-3, 3, (2, 20, 6))
    values = dict(zip(NAMES, [*random.uniform(-1, 1, 23), *[0.0] * 11], strict=True))
    names = {**values, **{f'q{k + 1}': q[:, k] for k in range(6)}}
    expected = np.zeros_like(q)
    for name, formula in lines:
        i, *pair = (int(digit) - 1 for digit in name[1:])
        j, k = pair if name[0] == 'b' else pair * 2
        expected[:, i] += evaluate(ast.parse(formula, mode='eval').body, names) * (
            qd[:, j] * qd[:, k]
        )
    model = PumaModel(joints=JOINTS)
    assert len(lines) == 65 + 19  # products of two velocities, and squares
    torque = model.torque(q, qd, 0 * q, values_of(model, values))
    assert_equal_torque(torque, expected)


def evaluate(node, names):
    """Value of an arithmetic formula."""
    operators = {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.Pow: operator.pow,
    }
    if isinstance(node, ast.BinOp):
        return operators[type(node.op)](evaluate(node.left, names), evaluate(node.right, names))
    if isinstance(node, ast.UnaryOp):
        assert isinstance(node.op, ast.USub)
        return -evaluate(node.operand, names)
    if isinstance(node, ast.Call):
        return {'sin': np.sin, 'cos': np.cos}[node.func.id](evaluate(node.args[0], names))
    return names[node.id] if isinstance(node, ast.Name) else node.value


def test_of_34_parameters_32_combinations_show_and_24_with_known_kinematics():
    base = base_parameters(PumaModel(joints=JOINTS))
    assert base.rank == 32
    assert [text for text in base.expressions if ' ' in text] == ['I1 + Im1', 'I2 + Im2']
    known = base_parameters(PumaModel(joints=JOINTS, geometry=PUMA_LENGTHS))
    assert known.rank == 24
    assert known.condition_number < 5
    assert [text for text in known.expressions if ' ' in text] == ['I1 + Im1', 'I2 + Im2']


@pytest.mark.parametrize('seed', range(3))
def test_the_semi_static_model_is_the_robot_at_rest(seed):
    arm = PumaArm(seed)
    a2, a3, _, _, d4 = arm.lengths.values()
    m, r, g = arm.m, arm.r, arm.g
    values = g * np.array(
        [
            m[1] * r[1, 0] + a2 * m[2:].sum(),
            a3 * m[3:].sum(),
            -m[2] * r[2, 1] + m[3] * (r[3, 2] + d4) + d4 * (m[4] + m[5]),
            m[5] * r[5, 2],
            m[1] * r[1, 1],
        ]
    )
    q, rest = random_states(6, 40, seed)[0], np.zeros((40, 6))
    five = PumaGravityModel(joints=JOINTS, fifth_term=True, geometry=arm.lengths, gravity=g)
    expected = arm.torque(q, rest, rest)
    assert_equal_torque(five.torque(q, rest, rest, values), expected)
    assert five.semi_static and not PumaModel.semi_static
    four = PumaGravityModel(joints=JOINTS)
    missing = expected - four.torque(q, rest, rest, values[:4])
    assert_equal_torque(missing, values[4] * np.sin(q[:, 1:2]) * np.eye(6)[1])
    loaded = values + five.payload_matrix(values) @ [2.0, 0.3]
    expected = arm.torque(q, rest, rest, payload=2.0)
    assert_equal_torque(five.torque(q, rest, rest, loaded), expected)


@pytest.mark.parametrize(
    'description',
    [
        ONE,
        {**ONE, 'geometry': PUMA_LENGTHS, 'gravity': 9.8, 'prior': {'I1': 1.5}},
        TWO,
        {**TWO, 'fifth_term': True, 'geometry': PUMA_LENGTHS, 'prior': {'g*m2*l2y': 1.0}},
    ],
)
def test_behaves_as_every_model(description):
    assert_behaves(build_model(description), description)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'dynamic_model': 3}, 'a puma has no dynamic model 3, it has: 1, 2'),
        ({'joints': JOINTS[:5]}, 'a puma has 6 joints, got 5'),
        ({'geometry': {**PUMA_LENGTHS, 'a2': 0}}, '"a2" in the geometry of a puma must not be 0'),
        ({'fifth_term': True}, 'dynamic model 1 of a puma has no "fifth_term"'),
        ({'fifth_term': 1, 'dynamic_model': 2}, 'fifth_term must be true or false, got 1'),
        ({'friction': 7}, 'friction must be a text or a mapping .* or a list, got 7'),
    ],
)
def test_refuses_with_one_sentence(change, message):
    with pytest.raises(ModelError, match=message):
        build_model({**ONE, **change})


def test_a_payload_is_refused_with_the_reason():
    model = PumaModel(joints=JOINTS)
    with pytest.raises(ModelError, match='dynamic model 1 of a puma cannot carry a pay'):
        model.payload_matrix(np.zeros(34))
    with pytest.raises(ModelError, match='2 of a puma needs a geometry to carry a payload'):
        PumaGravityModel(joints=JOINTS).payload_matrix(np.zeros(4))
