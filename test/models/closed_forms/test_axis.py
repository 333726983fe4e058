# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from closed_form_oracle import assert_behaves, assert_equal_torque, body, rnea, urdf, values_of
from robots import random_states

from robodyn_ros.errors import ModelError
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.closed_forms.axis import AxisModel

G = 9.80665
ROTARY = {1: ['I'], 2: ['I', 'L^2'], 3: ['I', 'L^2', 'M*g*A', 'g*L']}
LINEAR = {1: ['M'], 2: ['M', 'M*g*cos(alpha)', 'g*cos(alpha)']}
EVERY = [('rotary', k) for k in ROTARY] + [('linear', k) for k in LINEAR]


def axis(type, number, **options):
    return AxisModel(type=type, joints=['a'], dynamic_model=number, **options)


class Crank:
    """An arm with its centre of mass A along x or z, and a payload at L, both as real bodies."""

    def __init__(self, number, seed, payload):
        random = np.random.default_rng(seed)
        self.mass, self.reach, self.length = random.uniform(0.2, 2.0, 3)
        self.inertia, own = random.uniform(0.01, 0.1, (2, 3))
        if number == 1:  # both turn about their centres
            self.reach = self.length = 0.0
        self.payload = payload * random.uniform(0.5, 3.0)
        self.own = payload * own
        # Model 3 turns about y, upright at zero; the others turn about the vertical.
        self.direction = np.eye(3)[2 if number == 3 else 0]
        self.about = 1 if number == 3 else 2

    def values(self):
        return {
            'I': self.inertia[self.about] + self.mass * self.reach**2,
            'L^2': self.length**2,
            'M*g*A': self.mass * G * self.reach,
            'g*L': G * self.length,
        }

    def torque(self, q, qd, qdd):
        mass = self.mass + self.payload
        centre = (self.mass * self.reach + self.payload * self.length) / mass
        tensor = np.diag(self.inertia + self.own)
        across = np.eye(3) - np.outer(self.direction, self.direction)
        for part, place in ((self.mass, self.reach), (self.payload, self.length)):
            tensor += part * (place - centre) ** 2 * across
        arm = body(
            'revolute', [0, 0, 0], np.eye(3)[self.about], mass, centre * self.direction, tensor
        )
        return rnea(urdf([arm]), q, qd, qdd, gravity=G)


@pytest.mark.parametrize('payload', [0, 1])
@pytest.mark.parametrize('number', ROTARY)
@pytest.mark.parametrize('seed', range(3))
def test_rotary_axes_are_cranks(number, seed, payload):
    crank = Crank(number, seed, payload)
    inertia = crank.own[crank.about]
    model = axis('rotary', number, payload_mass=crank.payload, payload_inertia=inertia)
    known = {name: crank.values()[name] for name in ROTARY[number]}
    if payload:
        known['I_payload'] = inertia
    states = random_states(1, 30, seed)
    torque = model.torque(*states, values_of(model, known))
    assert_equal_torque(torque, crank.torque(*states))
    # The same payload, put on later.
    bare = axis('rotary', number)
    values = values_of(bare, {name: known[name] for name in ROTARY[number]})
    loaded = values + bare.payload_matrix(values) @ [crank.payload, inertia]
    assert_equal_torque(bare.torque(*states, loaded), crank.torque(*states))
    np.testing.assert_array_equal(model.compute_named(values_of(model, known)), values)


@pytest.mark.parametrize('payload', [0.0, 3.0])
@pytest.mark.parametrize(('number', 'alpha'), [(1, np.pi / 2), (2, 0.0), (2, 0.7)])
def test_linear_axes_are_slides(number, alpha, payload):
    mass = 4.2
    direction = [np.sin(alpha), 0.0, np.cos(alpha)]
    slide = body('prismatic', [0, 0, 0], direction, mass + payload, [0.1, 0, 0], [1, 1, 1])
    states = random_states(1, 30)
    expected = rnea(urdf([slide]), *states, gravity=G)
    lift = G * np.cos(alpha)
    known = dict(zip(LINEAR[number], [mass, mass * lift, lift], strict=False))
    if payload:
        known['M_payload'] = payload
    model = axis('linear', number, payload_mass=payload)
    assert_equal_torque(model.torque(*states, values_of(model, known)), expected)
    bare = axis('linear', number)
    values = values_of(bare, {name: known[name] for name in LINEAR[number]})
    loaded = values + bare.payload_matrix(values) @ [payload, 0.0]
    assert_equal_torque(bare.torque(*states, loaded), expected)


@pytest.mark.parametrize(('type', 'number'), EVERY)
def test_behaves_as_every_model(type, number):
    options = {'payload_mass': 2.0, 'prior': {'I' if type == 'rotary' else 'M': 0.3}}
    description = {'kind': 'axis', 'type': type, 'joints': ['a'], 'dynamic_model': number}
    assert_behaves(axis(type, number), description)
    assert_behaves(axis(type, number, **options), {**description, **options})


def test_what_a_motion_without_and_with_payload_can_show():
    assert base_parameters(axis('rotary', 3)).expressions == ('I', 'M*g*A')
    loaded = axis('rotary', 3, payload_mass=2.0, payload_inertia=0.1)
    base = base_parameters(loaded)
    assert base.expressions == ('I + 2*L^2 + I_payload', 'M*g*A + 2*g*L')
    assert loaded.prior()[-1] == 0.1
    assert np.isnan(loaded.prior()[:-1]).all()
    lift = base_parameters(axis('linear', 2, payload_mass=3.0))
    assert lift.expressions == ('M + M_payload', 'M*g*cos(alpha) + 3*g*cos(alpha)')


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'type': 'spiral'}, "type must be one of rotary, linear, got 'spiral'"),
        ({'dynamic_model': 4}, 'a rotary axis has no dynamic model 4, it has: 1, 2, 3'),
        ({'type': 'linear', 'dynamic_model': 3}, 'linear axis has no dynamic model 3, it has: 1,'),
        ({'joints': ['a', 'b']}, r"an axis has 1 joint, got 2: \['a', 'b'\]"),
        ({'payload_mass': -1}, 'payload_mass must be a finite number >= 0.0, got -1'),
        ({'type': 'linear', 'dynamic_model': 1, 'payload_inertia': 1.0}, 'has no payload_inertia'),
        ({'prior': {'J': 1.0}}, 'an axis has no parameter "J", it has:'),
        ({'prior': {'I': 'big'}}, r'prior\[...\] must be a finite number'),
    ],
)
def test_refuses_with_one_sentence(change, message):
    good = {'kind': 'axis', 'type': 'rotary', 'dynamic_model': 1, 'joints': ['a']}
    with pytest.raises(ModelError, match=message):
        build_model({**good, **change})
    with pytest.raises(ModelError, match="a model of kind axis: entry 'type' is missing"):
        build_model({name: value for name, value in good.items() if name != 'type'})
