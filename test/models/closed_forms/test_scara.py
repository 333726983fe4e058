# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from closed_form_oracle import assert_behaves, assert_equal_torque, body, rnea, urdf, values_of
from robots import random_states

from robodyn_ros.errors import ModelError
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.closed_forms.scara import ScaraModel

NAMES = ['(L1^2*M2+I1)', '(A2^2*M2+I2)', 'J2', 'L1*A2*M2', 'M3', 'g*M3', 'I4', 'J4']
LENGTHS = {'L1': 0.35, 'L2': 0.25}
FOUR = {
    'kind': 'scara',
    'dynamic_model': 1,
    'joints': ['one', 'two', 'lift', 'turn'],
    'geometry': {**LENGTHS, 's4': -1.0, 'z_sense': -1.0},
}
SENSES = [(3, 1, 1), (3, 1, -1), (4, 1, 1), (4, 1, -1), (4, -1, 1), (4, -1, -1)]


def scara(axes, s4=1, z=1, **options):
    geometry = {**LENGTHS, 's4': s4, 'z_sense': z}
    return ScaraModel(joints=FOUR['joints'][:axes], geometry=geometry, **options)


class Robot:
    """Random bodies, their URDF, and the document's parameters written down from them."""

    def __init__(self, axes, s4, z, seed, payload=(0.0, 0.0)):
        random = np.random.default_rng(seed)
        self.m1, self.m2, self.m3, self.m4 = random.uniform(0.5, 5.0, 4)
        self.c1, self.c2 = random.uniform(0.05, 0.3, 2)
        inertia = random.uniform(0.01, 0.2, 4)
        self.inertia, self.rotors = inertia, random.uniform(0.0, 0.3, 4) * [1, 1, 0, 1]
        self.rotors = self.rotors[:axes]
        self.axes, self.s4, self.z = axes, s4, z
        # With three axes the payload sits on the quill itself.
        self.loads = np.zeros((4, 2))
        self.loads[axes - 1] = payload

    def torque(self, q, qd, qdd):
        sphere = np.repeat(self.inertia + self.loads[:, 1], 3).reshape(4, 3)
        mass = np.array([self.m1, self.m2, self.m3, self.m4]) + self.loads[:, 0]
        arms = [LENGTHS['L1'], 0, 0], [LENGTHS['L2'], 0, 0]
        bodies = [
            body('revolute', [0, 0, 0.2], [0, 0, 1], mass[0], [self.c1, 0, 0], sphere[0]),
            body('revolute', arms[0], [0, 0, 1], mass[1], [self.c2, 0, 0.1], sphere[1]),
            body('prismatic', arms[1], [0, 0, self.z], mass[2], [0, 0, 0.05], sphere[2]),
            body('revolute', [0, 0, -0.1], [0, 0, self.s4], mass[3], [0, 0, 0], sphere[3]),
        ]
        return rnea(urdf(bodies[: self.axes]), q, qd, qdd, rotors=self.rotors)

    def values(self):
        four = self.axes == 4
        moved = self.m3 + four * self.m4
        return {
            '(L1^2*M2+I1)': LENGTHS['L1'] ** 2 * self.m2
            + self.m1 * self.c1**2
            + self.inertia[0]
            + self.rotors[0],
            # The quill of axis 3 turns with arm 2.
            '(A2^2*M2+I2)': self.c2**2 * self.m2 + self.inertia[1] + self.inertia[2],
            'J2': self.rotors[1],
            'L1*A2*M2': LENGTHS['L1'] * self.c2 * self.m2,
            'M3': moved,
            'g*M3': 9.81 * moved,
            'I4': four * self.inertia[3],
            'J4': self.rotors[3] if four else 0.0,
        }


@pytest.mark.parametrize(('axes', 's4', 'z'), SENSES)
@pytest.mark.parametrize('seed', range(3))
def test_is_the_urdf_of_its_bodies(axes, s4, z, seed):
    robot, model = Robot(axes, s4, z, seed), scara(axes, s4, z)
    states = random_states(axes, 50, seed)
    torque = model.torque(*states, values_of(model, robot.values()))
    assert_equal_torque(torque, robot.torque(*states))


@pytest.mark.parametrize(('axes', 's4', 'z'), SENSES)
def test_a_payload_adds_to_three_parameters(axes, s4, z):
    payload = (2.5, 0.07)
    model, loaded = scara(axes, s4, z), Robot(axes, s4, z, 5, payload)
    values = values_of(model, loaded.values())
    states = random_states(axes, 50)
    torque = model.torque(*states, values + model.payload_matrix(values) @ payload)
    assert_equal_torque(torque, loaded.torque(*states))


def test_four_axes_show_all_eight_parameters_three_axes_six_combinations():
    base = base_parameters(scara(4))
    assert base.rank == 8
    assert base.condition_number < 50
    three = base_parameters(scara(3))
    assert three.expressions == (NAMES[0], '(A2^2*M2+I2) + I4', *NAMES[2:6])


def test_names_units_and_joints_are_those_of_the_document():
    model = scara(4)
    assert [item.name for item in model.parameters] == NAMES
    units = [*['kg m^2'] * 4, 'kg', 'N', *['kg m^2'] * 2]
    assert [item.unit for item in model.parameters] == units
    assert [axis.type[0] for axis in model.joints] == ['r', 'r', 'p', 'r']
    assert model.parameters[5].joint == 'lift'
    assert model.parameters[7].joint == 'turn'


def test_behaves_as_every_model():
    assert_behaves(build_model(FOUR), FOUR)
    three = {**FOUR, 'joints': ['a', 'b', 'c'], 'geometry': LENGTHS, 'prior': {'M3': 1.5}}
    assert_behaves(scara_of(three), three)
    assert scara_of(three).prior()[4] == 1.5
    assert len(build_model({**FOUR, 'friction': ['viscous', 'coulomb']}).parameters) == 8 + 8


def scara_of(description):
    return ScaraModel(**{key: value for key, value in description.items() if key != 'kind'})


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'joints': ['a', 'b', 'c', 'd', 'e']}, 'a scara has 3 or 4 joints, got 5'),
        ({'dynamic_model': 2}, 'a scara has no dynamic model 2, it has: 1'),
        ({'geometry': {**LENGTHS, 's4': 0.5}}, '"s4" .* is 1 or -1, got 0.5'),
        ({'prior': {'M4': 1}}, 'a scara has no parameter "M4"'),
    ],
)
def test_refuses_with_one_sentence(change, message):
    with pytest.raises(ModelError, match=message):
        build_model({**FOUR, **change})
