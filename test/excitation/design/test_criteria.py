# SPDX-License-Identifier: Apache-2.0
"""Criteria of motions: the published figures, other ways of computing them, derivatives."""

import numpy as np
import pytest
from published import robot, table1, table3_states
from robots import random_states as states_of

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.design.criteria import (
    Criterion,
    Options,
    random_states,
    torque_weights,
)
from robodyn_ros.models.base_parameters import condition_number
from robodyn_ros.models.catalog import with_friction

LIMITS = table1()


@pytest.mark.parametrize(
    ('name', 'raw', 'normalised', 'determinant'),
    [('puma', 136.6, 14.2, 90.8), ('ur5', 140.9, 11.3, 92.7)],
)
def test_published_motion_has_the_known_figures(name, raw, normalised, determinant):
    criterion = Criterion(robot(name))
    assert len(criterion.columns) == 36
    states = table3_states()
    figures = criterion.figures(*states)
    assert figures['condition_number'] == pytest.approx(raw, abs=0.05)
    assert figures['normalised_condition_number'] == pytest.approx(normalised, abs=0.05)
    assert figures['log10_det'] == pytest.approx(determinant, abs=0.05)
    assert 10.0 ** criterion.value(*states) == pytest.approx(figures['condition_number'])
    matrix = criterion.matrix(*states)
    assert figures['normalised_condition_number'] == pytest.approx(condition_number(matrix))
    _, expected = np.linalg.slogdet(matrix.T @ matrix)
    determinant = Criterion(robot(name), Options('det')).value(*states)
    assert -determinant == pytest.approx(expected / np.log(10.0), abs=1e-9)


OPTIONS = {
    'cond': Options('cond'),
    'beside': Options('cond', normalised_share=0.3),
    'weighted': Options('cond', torque_weights=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),
    'det': Options('det', torque_weights=(1.0, 0.5, 0.25, 0.1, 0.1, 0.1)),
    'block': Options('block'),
    'block_by_condition': Options('block_by_condition'),
}


@pytest.mark.parametrize('sharpness', [6.0, np.inf])
@pytest.mark.parametrize('name', OPTIONS)
def test_derivatives_agree_with_differences(name, sharpness):
    criterion = Criterion(with_friction(robot('ur5'), 'linear'), OPTIONS[name])
    states = table3_states()
    random = np.random.default_rng(1)
    ways = [random.normal(size=value.shape) for value in states]
    ways[1][np.abs(states[1]) < 1e-3] = 0.0  # not across the jumps of Coulomb friction
    _, slopes = criterion.smooth(*states, sharpness)
    sums = []
    for step in (1e-6, -1e-6):
        moved = [value + step * way for value, way in zip(states, ways, strict=True)]
        sums.append(criterion.smooth(*moved, sharpness)[0])
    expected = (sums[0] - sums[1]) / 2e-6
    found = sum((slope * way).sum() for slope, way in zip(slopes, ways, strict=True))
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize('name', ['block', 'block_by_condition'])
def test_block_objective_is_equation_14(name):
    model = robot('puma')
    reference = random_states(model, velocity=LIMITS.velocity, acceleration=LIMITS.acceleration)
    criterion = Criterion(model, Options(name), reference=reference)
    assert sum(criterion.block_weights.values()) == pytest.approx(1.0)
    q, qd, qdd = table3_states()
    rest = np.zeros(q.shape)
    still = model.regressor(q, rest, rest)
    parts = {
        'acceleration': model.regressor(q, rest, qdd) - still,
        'velocity': model.regressor(q, qd, rest) - still,
        'position': still,
    }
    # the three add up to the regressor: nothing is lost, nothing counts twice
    np.testing.assert_allclose(sum(parts.values()), model.regressor(q, qd, qdd), atol=1e-12)
    expected = np.linalg.cond(model.regressor(q, qd, qdd).reshape(1200, -1)[:, criterion.columns])
    for block, part in parts.items():
        chosen = part.reshape(1200, -1)[:, criterion.columns[criterion.block_columns[block]]]
        assert np.linalg.matrix_rank(chosen) == len(criterion.block_columns[block])
        expected += criterion.block_weights[block] * np.linalg.cond(chosen)
    assert 10.0 ** criterion.value(q, qd, qdd) == pytest.approx(expected, rel=1e-9)
    figures = criterion.figures(q, qd, qdd)
    assert figures['block_objective'] == pytest.approx(expected, rel=1e-9)


def test_rows_weigh_as_the_torques_ask():
    nominal = [545.0, 955.0, 488.0, 50.8, 55.3, 35.0]
    multiply = np.array(torque_weights(nominal, 'multiply'))
    np.testing.assert_allclose(multiply, np.array(nominal) / 955.0)
    np.testing.assert_allclose(np.array(torque_weights(nominal, 'divide')), 1.0 / multiply)
    assert set(torque_weights(nominal, 'none')) == {1.0}
    states = states_of(6, 30)
    plain = Criterion(robot('ur5'), Options('det'))
    heavy = Criterion(robot('ur5'), Options('det', tuple(multiply)))
    whole = plain.matrix(*states).reshape(30, 6, 36) * multiply[:, None]
    np.testing.assert_allclose(heavy.matrix(*states).reshape(30, 6, 36), whole)


@pytest.mark.parametrize(
    ('options', 'words'),
    [
        (Options('trace'), "there is no criterion 'trace'"),
        (Options('cond', normalised_share=1.0), 'blind to the scale of a motion'),
        (Options('cond', torque_weights=(1.0, 2.0)), 'must be 6 numbers above 0'),
        (Options('cond', torque_weights=(0.0,) * 6), 'must be 6 numbers above 0'),
    ],
)
def test_refuses_with_a_sentence(options, words):
    with pytest.raises(MotionError, match=words):
        Criterion(robot('ur5'), options)
