# SPDX-License-Identifier: Apache-2.0
"""Facts, one sentence and a table of what a search found."""

import json
from dataclasses import replace

import numpy as np
import pytest
from published import robot, table1, table3, table3_states

from robodyn_ros.excitation.design.criteria import Criterion, Options
from robodyn_ros.excitation.design.optimize import Optimised
from robodyn_ros.excitation.limits.bounds import compute_shares
from robodyn_ros.excitation.options import make_design
from robodyn_ros.excitation.summary import convert_value, summary

MODEL, MOTION = robot('puma'), table3()
LIMITS = replace(table1(), effort=np.full(6, 80.0))
DESIGN = make_design({'torque_limits': True, 'torque_margin': 0.2}, MODEL, LIMITS)


@pytest.fixture(scope='module')
def result():
    states = table3_states()
    criterion = Criterion(MODEL)
    return Optimised(
        MOTION, criterion.value(*states), {**criterion.figures(*states), 'endless': np.inf},
        compute_shares(MOTION, table1()), 12.3, 20, False, 'scaled down',
    )  # fmt: skip


@pytest.mark.parametrize('name', ['cond', 'det', 'block', 'block_by_condition'])
def test_what_a_search_minimises_is_shown_as_people_know_it(name):
    states = table3_states()
    criterion = Criterion(MODEL, Options(name))
    word, figure = convert_value(name, criterion.value(*states))
    assert figure == pytest.approx(criterion.figures(*states)[word])


@pytest.mark.parametrize('penalised', [308.5, 2704.5, np.inf])
def test_a_motion_that_breaks_its_limits_has_a_figure_while_it_is_searched(penalised):
    assert convert_value('cond', penalised) == ('condition_number', np.inf)
    assert convert_value('det', penalised) == ('log10_det', -penalised)


def test_facts_are_plain_and_whole(result):
    facts = summary(result, DESIGN)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts['value'] == facts['figures']['condition_number'] == pytest.approx(136.6, abs=0.1)
    assert facts['figures']['endless'] is None and facts['seconds'] == 12.3
    kinds = ('position', 'velocity', 'acceleration', 'torque')
    assert [tuple(entry)[1:] for entry in facts['joints']] == [kinds] * 6
    grid = MOTION.grid(0.01)
    torque = MODEL.torque(grid.position, grid.velocity, grid.acceleration, MODEL.prior())
    share = np.abs(torque[:, 1]).max() / (0.8 * 80.0)
    assert facts['joints'][1]['torque'] == pytest.approx(share)
    no_torque = summary(result, make_design({}, MODEL, table1()))
    assert 'torque' not in no_torque['joints'][0]
