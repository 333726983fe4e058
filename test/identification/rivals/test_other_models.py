# SPDX-License-Identifier: Apache-2.0
import re

import numpy as np
import pytest
from robots import random_urdf

from robodyn_ros.findings import code_of, finding
from robodyn_ros.identification.rivals.other_models import (
    reason,
    variants,
)
from robodyn_ros.models.catalog import build_model, robot_model

AXIS = {'kind': 'axis', 'type': 'rotary', 'joints': ['j'], 'friction': ['viscous']}


def axis(number):
    return build_model({**AXIS, 'dynamic_model': number})


def text_of(variant):
    return finding(variant.key, evidence='(evidence)', **variant.values).text


def test_variants_keep_all_else():
    others = list(variants(axis(1)))
    assert [text_of(other).partition('model ')[2] for other in others] == [
        '2 of axis. (evidence)',
        '3 of axis. (evidence)',
    ]
    for other in others:
        body, friction = other.model.parts
        assert body.joint_names == ('j',) and friction.describe()['terms'] == ['viscous']
    robot = robot_model(random_urdf(2, 52))
    tried = list(variants(robot))
    turned = [each.model for each in tried if 'mounted' in text_of(each)]
    assert {code_of(each.key) for each in tried} == {'wrong_dynamic_model'}
    directions = np.array([model.parts[0].gravity for model in turned])
    assert len(turned) == 5  # all but the one it has
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 9.81)
    for each, direction in zip(tried, directions, strict=True):
        told = re.search(r'(along|against) its (.) axis', text_of(each)) or [0, 'along', 'z']
        sign = 1.0 if told[1] == 'along' else -1.0
        assert direction['xyz'.index(told[2])] == sign * 9.81, text_of(each)
    below = robot_model(random_urdf(2, 52), gravity=(0.0, 0.0, 9.81))
    (upright,) = [each for each in variants(below) if 'mounted upright' in text_of(each)]
    np.testing.assert_allclose(upright.model.parts[0].gravity, [0.0, 0.0, -9.81])
    tilted = robot_model(random_urdf(2, 52), gravity=(0.0, -7.0, -7.0))
    assert sum('mounted' in text_of(each) for each in variants(tilted)) == 6
    assert [model.joint_names for model in turned] == [robot.joint_names] * 5


def test_the_semi_static_puma_may_have_a_fifth_term():
    names = [f'joint{number}' for number in range(1, 7)]
    puma = build_model({'kind': 'puma', 'dynamic_model': 2, 'joints': names})
    first, fifth = variants(puma)
    severities = [
        finding(each.key, evidence='', **each.values).severity for each in (first, fifth)
    ]
    assert severities == ['error', 'warning']
    assert len(fifth.model.parameters) == len(puma.parameters) + 1


INCH, POUND, KILOGRAM = 0.0254, 4.4482, 9.80665
"""In [m], and their weights in [N]."""
UNITS = {
    'mNm': 1e-3,
    'kNm': 1e3,
    'Ncm': 1e-2,
    'lbf in': POUND * INCH,
    'lbf ft': POUND * 12.0 * INCH,
    'ozf in': POUND / 16.0 * INCH,
    'kgf m': KILOGRAM,
    'kgf cm': KILOGRAM * 0.01,
}


@pytest.mark.parametrize('unit', UNITS)
def test_a_torque_in_another_unit_is_named(unit):
    for off in (0.95, 1.05):  # the prior is not exact
        assert f' {unit}' in reason(off / UNITS[unit])
    assert f' {unit}' not in reason(1.08 / UNITS[unit])


def test_reasons():
    assert '2 pi' in reason(0.5) and '2 pi' in reason(2.0)
    assert 'peak current was taken' in reason(1.414) and 'taken for peak' in reason(0.707)
    assert 'gear of ratio 80 is missing' in reason(1 / 80)
    assert 'gear of ratio 50 was counted twice' in reason(50.0)
    assert reason(3.3) == ''
