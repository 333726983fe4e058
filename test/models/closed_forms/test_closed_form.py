# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from robodyn_ros.errors import ModelError
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.closed_forms.closed_form import (
    GeometryKey,
    article,
    build_joints,
    check_choice,
    check_geometry,
    check_mapping,
    closed_form_part,
    components,
    functions,
    number,
)
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Joint, SumModel

KEYS = {'L': GeometryKey(lowest=0.0), 'side': GeometryKey('1', choices=(-1.0, 1.0), default=1.0)}
SCARA = {
    'kind': 'scara',
    'dynamic_model': 1,
    'joints': ['a', 'b', 'c'],
    'geometry': {'L1': 0.3, 'L2': 0.25},
}


def test_one_sample_is_floats_and_many_are_arrays():
    states = np.arange(6.0).reshape(2, 3)
    assert components(states[:1]) == [0.0, 1.0, 2.0]
    assert functions(components(states[:1])[0]) is math
    many = components(states)
    np.testing.assert_array_equal(many[1], [1.0, 4.0])
    assert functions(many[0]) is np
    broken = components(np.array([[np.nan, 1.0]]))  # math.sin would raise
    assert functions(broken[0]) is np and np.isnan(np.sin(broken[0])).all()


def test_the_closed_form_part_and_its_place():
    plain, rubbing = build_model(SCARA), build_model({**SCARA, 'friction': ['viscous']})
    part, place = closed_form_part(plain)
    assert part is plain and place == slice(0, 8)
    part, place = closed_form_part(rubbing)
    assert [p.name for p in rubbing.parameters[place]] == [p.name for p in part.parameters]
    assert closed_form_part(SumModel(parts=rubbing.parts[::-1]))[1] == slice(3, 11)
    assert closed_form_part(FrictionModel(joints=[Joint('a')])) is None


def test_values_and_names_lead_back_to_each_other():
    model = build_model(SCARA)
    values = np.linspace(1.0, 2.0, len(model.parameters))
    np.testing.assert_allclose(model.values_of(model.compute_named(values)), values)
    with pytest.raises(ModelError, match='has 8 named parameters here, got 3 values'):
        model.values_of(np.ones(3))


def test_numbers_of_models():
    assert check_choice('axis', 2, (1, 2)) == 2
    for wrong in (3, True, '1', 1.0):
        with pytest.raises(ModelError, match='an axis has no dynamic model'):
            check_choice('axis', wrong, (1, 2))


def test_joints():
    types = ('revolute', 'revolute', 'prismatic')
    assert [j.type for j in build_joints('scara', ['a', 'b'], types, least=2)] == [*types[:2]]
    for names, message in (
        ('ab', 'must be a list of names'),
        (['a'], 'a scara has 2 or 3 joints, got 1'),
        (['a', 'a'], 'must have different names'),
    ):
        with pytest.raises(ModelError, match=message):
            build_joints('scara', names, types, least=2)


def test_geometries():
    assert check_geometry('delta', {'L': 2}, KEYS) == {'L': 2.0, 'side': 1.0}
    for given, message in (
        ({}, r'needs "L" \[m\]'),
        ({'L': 1, 'M': 1}, 'has no "M", it has: L, side'),
        ({'L': 0.0}, 'must be above 0 m, got 0'),
        ({'L': 1, 'side': 0.5}, 'is -1 or 1, got 0.5'),
        ({'L': 'x'}, 'must be a finite number'),
        ([1], 'must be a mapping'),
    ):
        with pytest.raises(ModelError, match=message):
            check_geometry('delta', given, KEYS)


def test_numbers_and_words():
    assert number(3, 'it') == 3.0
    for wrong in (True, 'x', float('inf'), None):
        with pytest.raises(ModelError, match='it must be a finite number'):
            number(wrong, 'it')
    assert (article('axis'), article('puma')) == ('an axis', 'a puma')
    with pytest.raises(ModelError, match='must be a mapping'):
        check_mapping({1: 2.0}, 'the prior')
