# SPDX-License-Identifier: Apache-2.0
"""Against Pinocchio, which computes the regressor of one sample after the other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import URDF_FOLDER, random_states, random_urdf

from robodyn_ros.models.serial.urdf import UrdfModel


def one_by_one(model, q, qd, qdd):
    """Pinocchio's regressor: the model calls it for few samples of joints in Pinocchio's order."""
    bodies = model.tree.bodies
    own = UrdfModel(
        urdf=model.urdf,
        joints=[model.joint_names[body.joint] for body in bodies],
        gravity=model.gravity,
        rotor_inertia=model.rotor_inertia,
    )
    joints = [own.joint_names.index(name) for name in model.joint_names]
    names = [item.name for item in own.parameters]
    columns = [names.index(item.name) for item in model.parameters]
    order = [body.joint for body in bodies]
    state = (q[:, order], qd[:, order], qdd[:, order])
    rows = [own.regressor(*(x[[k]] for x in state)) for k in range(len(q))]
    return np.concatenate(rows)[:, joints][:, :, columns]


def compare(model, seed, samples=80):
    joints = len(model.joints)
    states = random_states(joints, samples, seed)
    expected, limit = one_by_one(model, *states), 1e-12
    whole = model.regressor(*states)
    np.testing.assert_allclose(whole, expected, rtol=0, atol=limit * np.abs(expected).max())
    random, width = np.random.default_rng(seed), len(model.parameters)
    columns = [random.permutation(width)[: random.integers(0, width + 1)] for _ in model.joints]
    packed = model.pack_columns(*states, columns)
    for joint, own in enumerate(columns):
        part, packed = packed[:, : len(own)], packed[:, len(own) :]
        scale = limit * np.abs(expected).max()
        np.testing.assert_allclose(part, expected[:, joint, own], rtol=0, atol=scale)
    assert packed.shape == (samples, 0)


@settings(max_examples=25, derandomize=True)
@given(
    joints=st.integers(1, 9),
    seed=st.integers(0, 10**6),
    gravity=st.sampled_from([(0.0, 0.0, -9.81), (3.0, -9.0, 1.0), (0.0, 0.0, 0.0)]),
    mixed=st.booleans(),
    rotors=st.booleans(),
)
def test_any_serial_robot(joints, seed, gravity, mixed, rotors):
    xml = random_urdf(joints, seed)
    names = [f'joint{k + 1}' for k in range(joints)]
    if mixed:
        names = np.random.default_rng(seed).permutation(names).tolist()
    model = UrdfModel.from_xml(xml, joints=names, gravity=gravity, rotor_inertia=rotors)
    compare(model, seed)


@pytest.mark.parametrize('path', sorted(URDF_FOLDER.glob('*.urdf')), ids=lambda path: path.stem)
def test_our_robots_over_several_blocks(path):
    compare(UrdfModel.from_file(path), 1, samples=1100)


def test_a_robot_with_two_arms_and_a_locked_joint():
    parts = ['<link name="base"/>']
    carriers = {'a': 'base', 'b': 'a', 'c': 'a', 'd': 'c', 'e': 'base', 'f': 'b'}
    for number, (name, parent) in enumerate(carriers.items()):
        kind = 'prismatic' if number % 3 == 2 else 'revolute'
        parts.append(
            f'<joint name="to_{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{name}"/><origin xyz="0.1 0.2 -{number}" rpy="{number} 1 2"/>'
            f'<axis xyz="1 {number} 2"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
            f'</joint><link name="{name}"/>'
        )
    names = [f'to_{name}' for name in 'fedac']  # b is locked
    compare(UrdfModel.from_xml(f'<robot name="r">{"".join(parts)}</robot>', joints=names), 2)


def test_results_are_its_own_to_keep():
    model = UrdfModel.from_xml(random_urdf(3, 4))
    first, second = random_states(3, 100, 1), random_states(3, 100, 2)
    kept = model.regressor(*first)
    copy = kept.copy()
    model.regressor(*second)
    np.testing.assert_array_equal(kept, copy)
    np.testing.assert_array_equal(model.regressor(*first), copy)


def test_any_memory_layout_and_a_bad_sample_among_good_ones():
    model, state = UrdfModel.from_xml(random_urdf(3, 4)), random_states(3, 100, 1)
    expected = model.regressor(*state)
    np.testing.assert_array_equal(model.regressor(*map(np.asfortranarray, state)), expected)
    np.testing.assert_array_equal(model.regressor(*(x[::-1] for x in state)), expected[::-1])
    bad = np.array(state)
    bad[:, 40, 2] = np.nan
    found = model.regressor(*bad)
    assert np.isnan(found[40, 2]).any() and np.isfinite(found[40, :, :20]).all()
    np.testing.assert_array_equal(np.delete(found, 40, axis=0), np.delete(expected, 40, axis=0))
    np.testing.assert_array_equal(model.regressor(*state), expected)
