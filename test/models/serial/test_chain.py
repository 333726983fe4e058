# SPDX-License-Identifier: Apache-2.0
"""Exact derivatives of the rigid-body regressor, against differences of Pinocchio's."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import random_states, random_urdf

from robodyn_ros.models.serial.chain import LinkTree
from robodyn_ros.models.serial.urdf import UrdfModel


def assert_gradient(model, states, seed=0):
    """Derivatives of sum(weights * regressor) agree with five-point differences."""
    weights = np.random.default_rng(seed).normal(size=(len(states[0]), *shape_of(model)))
    slopes = LinkTree(model).gradient(weights, *states)
    scale = max(np.abs(slope).max() for slope in slopes)
    h = 1e-3
    for quantity, joint in np.ndindex(3, len(model.joints)):
        sums = []
        for step in (-2 * h, -h, h, 2 * h):
            moved = [value.copy() for value in states]
            moved[quantity][:, joint] += step
            sums.append((model.regressor(*moved) * weights).sum(axis=(1, 2)))
        expected = (sums[0] - 8 * sums[1] + 8 * sums[2] - sums[3]) / (12 * h)
        error = np.abs(slopes[quantity][:, joint] - expected).max()
        assert error < 1e-8 * scale, (quantity, joint)


def shape_of(model):
    return len(model.joints), 10 * len(model.joints)


@settings(max_examples=25)
@given(st.integers(1, 8), st.integers(0, 10**6))
def test_derivatives_of_random_robots(joints, seed):
    model = UrdfModel.from_xml(random_urdf(joints, seed), rotor_inertia=False)
    assert_gradient(model, random_states(joints, 5, seed), seed)


def test_two_arms_on_one_base():
    arm = '<joint name="{0}1" type="revolute"><parent link="{1}"/><child link="{0}a"/>{2}</joint>'
    text = (
        '<axis xyz="0 1 0"/><origin xyz="0.1 0.2 {}" rpy="0.5 0 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    )
    link = (
        '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" '
        'iyy="1" iyz="0" izz="1"/></inertial></link>'
    )
    xml = '<robot name="two">' + ''.join(link.format(n) for n in ('base', 'xa', 'ya', 'za'))
    xml += arm.format('x', 'base', text.format(0.3)) + arm.format('y', 'xa', text.format(0.4))
    xml += arm.format('z', 'xa', text.format(-0.2)) + '</robot>'
    assert_gradient(UrdfModel.from_xml(xml, rotor_inertia=False), random_states(3, 6))


@pytest.mark.parametrize('seed', range(3))
def test_places_of_links_are_pinocchios(seed):
    xml = random_urdf(5, seed)
    model = UrdfModel.from_xml(xml)
    links = [joint.child for joint in model.urdf.joints] + [model.urdf.root]
    other = pin.buildModelFromXML(model.urdf.xml)
    data = other.createData()
    q = random_states(5, 4, seed)[0]
    places = LinkTree(model).places(q, links)
    for row, position in enumerate(q):
        values = []
        for joint, angle in zip(other.joints[1:], position, strict=True):
            values += [np.cos(angle), np.sin(angle)] if joint.nq == 2 else [angle]
        pin.framesForwardKinematics(other, data, np.array(values))
        for column, name in enumerate(links):
            expected = data.oMf[other.getFrameId(name)].translation
            np.testing.assert_allclose(places[row, column], expected, atol=1e-12)
