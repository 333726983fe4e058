# SPDX-License-Identifier: Apache-2.0
"""Random motions of the local identification bench keep their limits, and depend on the seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.ns16_motions import (
    BOX,
    CENTRE,
    FLOOR,
    SHARE,
    joint_moves,
    line_moves,
    ns16_model,
    sine_sum,
    spaces,
)
from robodyn_ros.excitation.design.problem import Design, DesignProblem
from robodyn_ros.excitation.limits.constraints import SpaceLimit, frame_points

MODEL = ns16_model()
WIDE, LOCAL = spaces()


def random(seed=3):
    return np.random.default_rng(seed)


@pytest.mark.parametrize('space', [WIDE, LOCAL])
def test_joint_moves_keep_limits_and_space(space):
    motion = joint_moves(MODEL, space, random(), 4)
    grid = motion.grid(1e-3)
    urdf = MODEL.parts[0].urdf
    speeds = np.array([joint.velocity for joint in urdf.joints if joint.type != 'fixed'])
    assert (np.abs(grid.velocity) <= SHARE * speeds).all()
    tool = frame_points(MODEL, ('tool0',))(grid.position)[:, 0]
    assert (tool[:, 2] >= FLOOR).all()
    inside = ((tool >= BOX[0]) & (tool <= BOX[1])).all()
    assert inside == (space is LOCAL)


def test_lines_are_straight_and_stay_in_the_box():
    motion = line_moves(MODEL, LOCAL, random(0), 2)
    places = frame_points(MODEL, ('tool0', 'link6'))(motion.grid(0.02).position)
    assert ((places[:, 0] >= BOX[0]) & (places[:, 0] <= BOX[1])).all()
    way = places[:, 1] - places[0, 1]
    along = way[-1] / np.linalg.norm(way[-1])
    aside = way - np.outer(way @ along, along)
    assert np.linalg.norm(way[-1]) > 0.05
    assert np.abs(aside).max() < 1e-6


def test_sines_keep_the_workspace_and_the_seed_makes_the_motion():
    design = Design(
        MODEL, WIDE.limits, motion='sines', duration=6.0, harmonics=2, rules=(WIDE.rule,)
    )
    problem = DesignProblem(design)
    first, again, other = (sine_sum(problem, random(seed)) for seed in (1, 1, 2))
    assert WIDE.keeps(MODEL, first)
    assert first.describe() == again.describe() != other.describe()


def test_a_motion_that_leaves_its_space_is_seen():
    motion = joint_moves(MODEL, WIDE, random(), 4)
    assert WIDE.keeps(MODEL, motion)
    assert not LOCAL.keeps(MODEL, motion)
    high = replace(WIDE, rule=SpaceLimit(('tool0',), lower=(-np.inf, -np.inf, 3.0)))
    assert high.excess(MODEL, motion) > 0.5
    assert not high.keeps(MODEL, motion)
    assert (LOCAL.limits.lower < CENTRE).all()
