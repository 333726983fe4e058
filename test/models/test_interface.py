# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from robots import random_states, random_urdf

from robodyn_ros.errors import ModelError
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import (
    BLOCK_SIZE,
    Array,
    DynamicModel,
    Joint,
    Parameter,
    SumModel,
    sample_blocks,
)
from robodyn_ros.models.serial.urdf import UrdfModel


class Spring(DynamicModel):
    """tau = k * q of each joint, with one common k."""

    def __init__(self, *, joints: tuple[Joint, ...], name: str = 'k') -> None:
        self.joints = joints
        self.parameters = (Parameter(name=name, unit='Nm/rad'),)
        self.largest_block = 0

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        self.largest_block = max(self.largest_block, len(q))
        return q[:, :, None]

    def describe(self) -> dict[str, object]:
        return {'kind': 'spring'}


JOINTS = (Joint('a'), Joint('b', 'prismatic'))


@pytest.mark.parametrize('samples', [0, 1, BLOCK_SIZE, BLOCK_SIZE + 1, 3 * BLOCK_SIZE - 1])
def test_blocks_cover_every_sample_once(samples):
    seen = [index for block in sample_blocks(samples) for index in range(samples)[block]]
    assert seen == list(range(samples))
    assert all(b.stop - b.start <= BLOCK_SIZE for b in sample_blocks(samples))


def test_one_sample_after_the_other_keeps_the_values_it_began_with():
    values = np.array([2.5])
    at = Spring(joints=JOINTS).torque_function(values)
    values[:] = 0.0
    state = np.array([1.0, -2.0])
    np.testing.assert_array_equal(at(state, state, state), [2.5, -5.0])
    spring, state = Spring(joints=JOINTS), np.zeros((1, 2))
    for use in (spring.torque_function, lambda values: spring.torque(state, state, state, values)):
        with pytest.raises(ModelError, match=r'has 1 parameters, got values of shape \(2,\)'):
            use(np.ones(2))


def test_sum_adds_torques_and_joins_columns():
    total = SumModel(parts=[Spring(joints=JOINTS), Spring(joints=JOINTS, name='k2')])
    q = np.random.default_rng(1).normal(size=(5, 2))
    assert [item.name for item in total.parameters] == ['k', 'k2']
    assert total.joint_names == ('a', 'b')
    np.testing.assert_allclose(total.torque(q, q, q, np.array([2.0, 0.5])), 2.5 * q, rtol=1e-15)
    assert np.isnan(total.prior()).tolist() == [True, True]
    assert total.describe() == {'kind': 'sum', 'parts': [{'kind': 'spring'}] * 2}


@pytest.mark.parametrize('samples', [0, 7, 200])
@pytest.mark.parametrize('columns', [[3, 25, 0, 22], [1], []])
def test_selected_columns_are_those_of_the_regressor(samples, columns):
    body = UrdfModel.from_xml(random_urdf(2, 5))
    friction = FrictionModel(joints=body.joints, terms=('coulomb', 'viscous'))
    model, states = SumModel(parts=[body, friction]), random_states(2, samples)
    expected = model.regressor(*states)[:, :, columns]
    found = model.select_columns(*states, np.array(columns, dtype=np.intp))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ('parts', 'text'),
    [
        ([], 'at least one part'),
        (
            [Spring(joints=JOINTS), Spring(joints=JOINTS[::-1], name='x')],
            'same joints in the same',
        ),
        ([Spring(joints=JOINTS), Spring(joints=JOINTS)], r"\['k'\] occur twice"),
    ],
)
def test_sum_refuses(parts, text):
    with pytest.raises(ModelError, match=text):
        SumModel(parts=parts)


def test_a_sum_is_defined_where_all_its_parts_are():
    class Narrow(Spring):
        def position_limits(self) -> Array:
            return np.array([[-1.0, 0.5], [-9.0, 9.0]])

    model = SumModel(parts=[Spring(joints=JOINTS), Narrow(joints=JOINTS, name='l')])
    np.testing.assert_array_equal(model.position_limits(), [[-1.0, 0.5], [-np.pi, np.pi]])
    shares = np.array([[-1.0, -1.0], [0.0, 0.5], [1.0, 1.0]])
    expected = [[-1.0, -np.pi], [-0.25, np.pi / 2], [0.5, np.pi]]
    np.testing.assert_array_equal(model.positions(shares), expected)
