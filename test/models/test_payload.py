# SPDX-License-Identifier: Apache-2.0
"""Payloads against Pinocchio: a URDF with the payload as a link of its own."""

import numpy as np
import pytest
import yaml
from closed_form_oracle import rnea, with_load
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import random_states, random_urdf

from robodyn_ros.errors import ModelError
from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.payload import Payload, PayloadModel, payload_of

MASS, CENTRE = 2.5, (0.05, -0.04, 0.12)
INERTIA = (0.02, 0.001, -0.002, 0.03, 0.003, 0.025)
LOAD = MASS, CENTRE, INERTIA
AXES = [f'joint{k}' for k in range(1, 7)]
DELTA = {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.3, 'L_BC': 0.7}


@pytest.mark.parametrize('joints', [1, 3, 6, 7])
@pytest.mark.parametrize('at', ['', 'part'])
def test_a_payload_on_a_urdf_robot_is_a_link_more(joints, at):
    xml = random_urdf(joints, 5, types=('revolute', 'prismatic'))
    frame = f'link{joints}_part' if at else ''
    arm = robot_model(xml, friction=())
    payload = payload_of(arm, MASS, center_of_mass=CENTRE, inertia=INERTIA, frame=frame)
    states = random_states(joints, 30)
    expected = rnea(with_load(xml, frame or f'link{joints}', *LOAD), *states) - rnea(xml, *states)
    assert np.abs(expected).max() > 1.0
    found = payload.model.torque(*states, payload.values)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    both = arm.torque(*states, arm.prior() + payload.added)
    np.testing.assert_allclose(both, rnea(xml, *states) + expected, rtol=0, atol=1e-9)
    assert payload.mass == MASS
    np.testing.assert_allclose(payload.center_of_mass, CENTRE)


def test_a_frame_in_the_middle_and_locked_joints():
    xml = random_urdf(4, 3, types=('revolute',))
    arm = robot_model(xml, joints=['joint1', 'joint2'], friction=())
    payload = payload_of(arm, MASS, center_of_mass=CENTRE, inertia=INERTIA, frame='link4')
    q, qd, qdd = (np.zeros((20, 4)) for _ in range(3))
    for full, part in zip((q, qd, qdd), random_states(2, 20), strict=True):
        full[:, :2] = part
    expected = (rnea(with_load(xml, 'link4', *LOAD), q, qd, qdd) - rnea(xml, q, qd, qdd))[:, :2]
    found = payload.model.torque(q[:, :2], qd[:, :2], qdd[:, :2], payload.values)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    with pytest.raises(ModelError, match=r'link .base_link. of .* is not moved by'):
        PayloadModel(arm=arm, frame='base_link')
    with pytest.raises(ModelError, match="has no link 'hand'"):
        PayloadModel(arm=arm, frame='hand')


def closed(kind, **options):
    axes = {'axis': 1, 'scara': 4, 'delta': 3, 'puma': 6}[kind]
    options = {'dynamic_model': 1, 'joints': AXES[:axes], **options}
    return build_model({'kind': kind, **options})


@pytest.mark.parametrize(
    ('arm', 'names'),
    [
        (closed('axis', type='rotary'), ['inertia']),
        (closed('axis', type='rotary', dynamic_model=3, prior={'L^2': 0.09}), ['I', 'M*g*A']),
        (
            closed('axis', type='rotary', dynamic_model=3, prior={'L^2': 0.09, 'g*L': 2.94}),
            ['mass', 'inertia'],
        ),
        (
            closed('axis', type='linear', dynamic_model=2, prior={'g*cos(alpha)': 9.81}),
            ['mass'],
        ),
        (closed('scara', geometry={'L1': 0.3, 'L2': 0.25}), ['mass', 'inertia']),
        (closed('delta', geometry=DELTA), ['mass']),
        (
            closed('delta', joints=AXES[:4], geometry={**DELTA, 'h_O': 0.1}),
            ['mass', 'inertia'],
        ),
        (
            closed(
                'puma', dynamic_model=2, geometry={'a2': 0.4, 'a3': 0, 'd2': 0, 'd3': 0, 'd4': 0.4}
            ),
            ['mass'],
        ),
    ],
)
def test_what_a_payload_is_to_each_kind(arm, names):
    model = PayloadModel(arm=arm)
    assert [item.name.removeprefix('payload.') for item in model.parameters] == names
    values = np.arange(1.0, 1.0 + len(names))
    states = [0.2 * value for value in random_states(len(arm.joints), 20)]
    arms = np.nan_to_num(arm.prior(), nan=0.7)
    expected = arm.torque(*states, arms + model.matrix @ values) - arm.torque(*states, arms)
    np.testing.assert_allclose(model.torque(*states, values), expected, rtol=0, atol=1e-9)
    again = build_model(yaml.safe_load(yaml.safe_dump(model.describe())))
    assert again.parameters == model.parameters
    np.testing.assert_array_equal(again.matrix, model.matrix)
    if model.products:
        with pytest.raises(ModelError, match=r'L.* of an axis must be known|cos\(alpha\) of an'):
            model.values_of(1.0)
    else:
        given = model.values_of(3.0, inertia=[0.2])
        assert given.tolist() == [{'mass': 3.0, 'inertia': 0.2}[name] for name in names]
        assert Payload(model, given).mass == pytest.approx(
            3.0 if 'mass' in names else np.nan, nan_ok=True
        )


ARM = robot_model(random_urdf(2, 5, types=('revolute',)))


@settings(max_examples=50)
@given(
    st.floats(0.0, 50.0, exclude_min=True),
    st.tuples(*[st.floats(-0.5, 0.5)] * 3),
    st.lists(st.tuples(*[st.floats(-0.3, 0.3)] * 3), min_size=1, max_size=4),
)
def test_any_cloud_of_points_is_accepted_and_keeps_its_mass(mass, centre, points):
    cloud = np.array(points) - np.mean(points, axis=0)
    tensor = sum(np.dot(r, r) * np.eye(3) - np.outer(r, r) for r in cloud)
    xx, xy, xz, yy, yz, zz = tensor[np.triu_indices(3)]
    payload = payload_of(ARM, mass, center_of_mass=centre, inertia=[xx, xy, xz, yy, yz, zz])
    assert payload.mass == mass
    np.testing.assert_allclose(payload.values[1:4], mass * np.array(centre))


@pytest.mark.parametrize(
    ('options', 'sentence'),
    [
        ({'mass': -1.0}, 'mass must not be negative, got -1 kg'),
        ({'mass': np.nan}, 'mass must be finite'),
        ({'mass': 1.0, 'center_of_mass': [0.0, np.inf, 0.0]}, 'centre must be finite'),
        ({'mass': 1.0, 'center_of_mass': [0.0]}, 'centre of mass needs 3 numbers, got 1'),
        ({'mass': 1.0, 'inertia': [0.1]}, 'inertia needs 6 numbers, got 1'),
        ({'mass': 1.0, 'inertia': [1.0, 0, 0, 1.0, 0, 3.0]}, 'principal moments must not be'),
        ({'mass': 0.0, 'inertia': [1.0, 0, 0, 1.0, 0, 1.0]}, 'no body of 0 kg has an inertia'),
    ],
)
def test_payloads_that_no_body_has_are_refused(options, sentence):
    with pytest.raises(ModelError, match=sentence):
        payload_of(ARM, **options)


def test_models_that_cannot_carry_one_say_so():
    with pytest.raises(ModelError, match='dynamic model 1 of a puma cannot carry'):
        PayloadModel(arm=closed('puma'))
    with pytest.raises(ModelError, match='needs a geometry to carry a payload'):
        PayloadModel(arm=closed('puma', dynamic_model=2))
    with pytest.raises(ModelError, match='kind friction cannot carry a payload'):
        PayloadModel(arm=FrictionModel(joints=ARM.joints))
    scara = closed('scara', geometry={'L1': 0.3, 'L2': 0.25})
    with pytest.raises(ModelError, match="at the last axis and has no frame 'tool'"):
        PayloadModel(arm=scara, frame='tool')
    with pytest.raises(ModelError, match='is fixed to its last axis'):
        payload_of(scara, 1.0, center_of_mass=[0.1, 0, 0])
    with pytest.raises(ModelError, match='one number, not negative'):
        payload_of(scara, 1.0, inertia=[1.0] * 6)


def test_a_change_of_the_payload_is_added_and_leaves_no_negative_mass():
    model = PayloadModel(arm=robot_model(random_urdf(3, 1)))
    ten = [2.0, 0.2, 0.0, 0.4, *(6 * [0.0])]
    change = Payload(model, np.array(ten))
    assert change.on(None).mass == 2.0
    both = change.on(payload_of(model.arm, 2.0, center_of_mass=(0.3, 0.0, 0.0)))
    assert both.mass == 4.0
    np.testing.assert_allclose(both.center_of_mass, [0.2, 0.0, 0.1])
    assert Payload(model, -1.1 * np.array(ten)).on(change).mass == 0.0
