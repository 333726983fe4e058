# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of closed-form models: URDFs of given bodies, RNEA, checks."""

import json

import numpy as np
import pinocchio as pin
import pytest
import yaml
from robots import DATA, random_states

from robodyn_ros.errors import ModelError
from robodyn_ros.models.catalog import build_model, model_hash
from robodyn_ros.models.closed_forms.puma import NAMES


def body(kind, origin, axis, mass, centre, inertia, *, rpy=(0, 0, 0)):
    """One joint and the link it carries; inertia about the centre: three, or a full tensor."""
    tensor = np.asarray(inertia, dtype=float)
    tensor = np.diag(tensor) if tensor.ndim == 1 else tensor
    return kind, origin, rpy, axis, mass, centre, tensor


def urdf(bodies):
    """URDF of a chain; joints are named joint1, ..."""
    text = '<link name="link0"/>'
    for number, (kind, origin, rpy, axis, mass, centre, tensor) in enumerate(bodies, start=1):
        xx, xy, xz, yy, yz, zz = (repr(float(v)) for v in tensor[np.triu_indices(3)])
        text += (
            f'<link name="link{number}"><inertial><origin xyz="{_text(centre)}"/>'
            f'<mass value="{float(mass)!r}"/><inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" '
            f'iyy="{yy}" iyz="{yz}" izz="{zz}"/></inertial></link>'
            f'<joint name="joint{number}" type="{kind}"><parent link="link{number - 1}"/>'
            f'<child link="link{number}"/><origin xyz="{_text(origin)}" rpy="{_text(rpy)}"/>'
            f'<axis xyz="{_text(axis)}"/><limit lower="-9" upper="9" effort="9" velocity="9"/>'
            f'</joint>'
        )
    return f'<robot name="chain">{text}</robot>'


def with_load(xml, parent, mass, centre, inertia):
    """The URDF with a payload fixed to a link; inertia as (xx, xy, xz, yy, yz, zz)."""
    xx, xy, xz, yy, yz, zz = inertia
    return xml.replace(
        '</robot>',
        f'<joint name="grip" type="fixed"><parent link="{parent}"/><child link="load"/></joint>'
        f'<link name="load"><inertial><origin xyz="{_text(centre)}"/><mass value="{mass}"/>'
        f'<inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/>'
        f'</inertial></link></robot>',
    )


def rnea(xml, q, qd, qdd, *, gravity=9.81, rotors=0.0):
    """Torques (N, n) by Pinocchio's own reading of the URDF; rotors add inertia times qdd."""
    model = pin.buildModelFromXML(xml)
    model.gravity.linear = np.array([0.0, 0.0, -gravity])
    data = model.createData()
    torque = [pin.rnea(model, data, *state) for state in zip(q, qd, qdd, strict=True)]
    return np.array(torque) + qdd * np.asarray(rotors)


def values_of(model, known):
    """Parameter values of the model from a mapping by name; nothing missing, nothing over."""
    names = [item.name for item in model.parameters]
    assert set(known) == set(names)
    return np.array([known[name] for name in names])


def assert_equal_torque(torque, expected, tolerance=1e-9):
    """Compare with a tolerance in [Nm] or [N]; the torques must not be trivial."""
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(torque, expected, rtol=0, atol=tolerance)


def assert_behaves(model, description):
    """Round trip through YAML, shapes, blocks, layouts, and the sentence for a wrong shape."""
    assert build_model(description).describe() == model.describe()
    again = build_model(yaml.safe_load(yaml.safe_dump(model.describe())))
    assert again.joints == model.joints
    assert again.parameters == model.parameters
    assert model_hash(again) == model_hash(model)
    np.testing.assert_array_equal(again.prior(), model.prior())
    count, width = len(model.joints), len(model.parameters)
    state = [0.1 * value for value in random_states(count, 7)]
    regressor = model.regressor(*state)
    assert regressor.shape == (7, count, width)
    np.testing.assert_array_equal(again.regressor(*state), regressor)
    single = [model.regressor(*(x[k : k + 1] for x in state)) for k in range(7)]
    np.testing.assert_allclose(np.concatenate(single), regressor, rtol=0, atol=1e-12)
    turned = model.regressor(*(np.asfortranarray(x) for x in state))
    np.testing.assert_allclose(turned, regressor, rtol=0, atol=1e-12)
    assert model.regressor(*(x[:0] for x in state)).shape == (0, count, width)
    values = np.linspace(0.5, 1.5, width)
    np.testing.assert_allclose(model.torque(*state, values), regressor @ values, atol=1e-12)
    with np.errstate(invalid='ignore'):
        for bad in (np.nan, np.inf):  # as of many samples, so of one
            gone = model.regressor(*(np.full((1, count), bad) for _ in state))
            assert not np.isfinite(gone).all()
    with pytest.raises(ModelError, match=rf'with {count} joints needs q, qd, qdd of shape'):
        model.regressor(state[0][:, 1:], *state[1:])
    with pytest.raises(ModelError, match='parameters, got values of shape'):
        model.torque(*state, values[1:])


def _text(values):
    return ' '.join(repr(float(value)) for value in values)


PUMA_LENGTHS = {'a2': 0.4318, 'a3': -0.0203, 'd2': 0.2435, 'd3': -0.0934, 'd4': 0.4331}


def oracle(name):
    """Text of a file of published figures."""
    path = DATA.parent / 'oracles' / name
    if not path.is_file():
        pytest.skip(f'no oracle {path}')
    return path.read_text(encoding='utf-8')


class PumaArm:
    """A robot under Armstrong's assumptions: lengths, masses, centres of mass, inertias, rotors.

    Inertias are about the centres of mass, diagonal; those of link 6 about x and y are equal.
    """

    def __init__(self, seed=None):
        random = np.random.default_rng(seed)
        self.lengths = {
            key: value * random.uniform(0.8, 1.2) for key, value in PUMA_LENGTHS.items()
        }
        self.m = random.uniform(0.5, 10.0, 6)
        free = [[0, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0], [0, 0, 1]]
        self.r = np.array(free) * random.uniform(-0.3, 0.3, (6, 3))
        self.J = random.uniform(0.05, 0.09, (6, 3))
        self.J[5, 1] = self.J[5, 0]
        self.Im = random.uniform(0.1, 3.0, 6)
        self.g = 9.81

    @classmethod
    def published(cls):
        constants = json.loads(oracle('puma_constants.json'))
        arm, data = cls(0), constants['AKB']
        arm.lengths = {key: data[key] for key in PUMA_LENGTHS}
        arm.m, arm.r, arm.J, arm.Im = (np.array(data[key]) for key in ('m', 'r', 'J', 'Im'))
        arm.g = data['G']
        return arm, {**constants['I'], **constants['g']}

    def torque(self, q, qd, qdd, *, payload=0.0):
        a2, a3, d2, d3, d4 = self.lengths.values()
        half = np.pi / 2
        frames = [(0, 0, 0), (-half, 0, d2), (0, a2, d3), (half, a3, d4), (-half, 0, 0)]
        bodies = []
        for k, (alpha, a, d) in enumerate([*frames, (half, 0, 0)]):
            # Modified Denavit-Hartenberg: turn about x, then shift along the new z.
            place = [a, -d * np.sin(alpha), d * np.cos(alpha)]
            mass, centre, tensor = self.m[k], self.r[k], self.J[k]
            bodies.append(
                body('revolute', place, [0, 0, 1], mass, centre, tensor, rpy=(alpha, 0, 0))
            )
        if payload:  # at the centre of the wrist; link 5 has its centre of mass there
            bodies[4] = (*bodies[4][:4], self.m[4] + payload, *bodies[4][5:])
        return rnea(urdf(bodies), q, qd, qdd, gravity=self.g, rotors=self.Im)

    def values(self):
        """The document's I1..I23, misprints corrected, Armstrong's g1..g5, and the rotors."""
        a2, a3, d2, d3, d4 = self.lengths.values()
        m1, m2, m3, m4, m5, m6 = self.m
        (_, y1, _), (x2, y2, z2), (_, y3, z3), (_, _, z4), _, (_, _, z6) = self.r
        J1, J2, J3, J4, J5, J6 = self.J
        d, wrist, arm = d2 + d3, m4 + m5 + m6, m3 + m4 + m5 + m6
        X, Y, Z = 0, 1, 2
        inertias = [
            J1[Z] + m1 * y1**2 + m2 * d2**2 + wrist * a3**2 + m2 * z2**2 + arm * d**2 + J2[X]
            + J3[Y] + 2 * m2 * d2 * z2 + m2 * y2**2 + m3 * z3**2 + 2 * m3 * d * z3
            + J4[Z] + J5[Y] + J6[Z],
            J2[Z] + m2 * (x2**2 + y2**2) + arm * a2**2,
            -J2[X] + J2[Y] + arm * a2**2 + m2 * x2**2 - m2 * y2**2,
            m2 * x2 * (d2 + z2) + m3 * a2 * z3 + arm * a2 * d,
            -m3 * a2 * y3 + wrist * a2 * d4 + m4 * a2 * z4,
            J3[Z] + m3 * y3**2 + wrist * a3**2 + m4 * (d4 + z4) ** 2 + J4[Y] + m5 * d4**2
            + J5[Z] + m6 * d4**2 + m6 * z6**2 + J6[X],
            m3 * y3**2 + J3[X] - J3[Y] + m4 * z4**2 + 2 * m4 * d4 * z4
            + wrist * (d4**2 - a3**2) + J4[Y] - J4[Z] + J5[Z] - J5[Y] + m6 * z6**2 - J6[Z] + J6[X],
            -m4 * d * (d4 + z4) - (m5 + m6) * d * d4 + m3 * y3 * z3 + m3 * d * y3,
            m2 * y2 * (d2 + z2),
            2 * m4 * a3 * z4 + 2 * wrist * a3 * d4,
            -2 * m2 * x2 * y2,
            wrist * a2 * a3,
            wrist * a3 * d,
            J4[Z] + J5[Y] + J6[Z],
            m6 * d4 * z6,
            m6 * a2 * z6,
            J5[Z] + J6[X] + m6 * z6**2,
            m6 * d * z6,
            J4[Y] - J4[X] + J5[Z] - J5[Y] + m6 * z6**2 + J6[X] - J6[Z],
            J5[Y] - J5[X] - m6 * z6**2 + J6[Z] - J6[X],
            J4[X] - J4[Y] + J5[X] - J5[Z],
            m6 * a3 * z6,
            J6[Z],
        ]  # fmt: skip
        gravity = [
            -(arm * a2 + m2 * x2),
            m3 * y3 - wrist * d4 - m4 * z4,
            m2 * y2,
            -wrist * a3,
            -m6 * z6,
        ]
        values = [*inertias, *self.Im, *(self.g * np.array(gravity))]
        return dict(zip(NAMES, values, strict=True))
