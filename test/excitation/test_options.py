# SPDX-License-Identifier: Apache-2.0
"""Options of a design: put together as asked, defaults for the rest, one sentence for nonsense."""

from dataclasses import replace

import numpy as np
import pytest
from published import PUMA, robot, table1, urdf

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.self_collision import SelfCollisionLimit
from robodyn_ros.excitation.design.problem import Design
from robodyn_ros.excitation.limits.bounds import Margins
from robodyn_ros.excitation.limits.constraints import SpaceLimit, TorqueLimit
from robodyn_ros.excitation.options import OPTIONS, make_design
from robodyn_ros.models.catalog import build_model, with_friction

MODEL = robot('puma')
LIMITS = replace(table1(), effort=np.full(6, 80.0))


def test_nothing_asked_for_is_the_default_design():
    # a robot needs cycles and a margin, a comparison of searches does not
    margins = Margins(position=0.05)
    assert make_design({}, MODEL, LIMITS) == Design(MODEL, LIMITS, margins=margins, cycles=3.0)
    plain = {'cycles': 0.0, 'position_margin': 0.0}
    assert make_design(plain, MODEL, LIMITS) == Design(MODEL, LIMITS)
    assert all(
        option.text and option.kind in (str, int, float, bool) for option in OPTIONS.values()
    )
    for option in OPTIONS.values():
        assert option.default is None or type(option.default) is option.kind


def test_every_option_gets_where_it_belongs(tmp_path):
    file = tmp_path / 'puma.urdf'
    ball = '<collision><geometry><sphere radius="0.01"/></geometry></collision></link>'
    file.write_text(urdf(PUMA).replace('</link>', ball))
    values = {
        'criterion': 'block', 'motion': 'sines', 'duration': 7.0, 'harmonics': 3, 'samples': 50,
        'position': [0.1] * 6, 'normalised_share': 0.25, 'nominal_torques': [1, 2, 4, 4, 4, 4],
        'normalise_torques': 'divide', 'position_margin': 0.1, 'velocity_margin': 0.2,
        'acceleration_margin': 0.3, 'torque_margin': 0.5, 'conservative': True,
        'torque_limits': True, 'frames': ['link6', 'link5'], 'box': [-1, -1, -1, 1, 1, 1],
        'floor': -0.5, 'self_collision': True, 'clearance': 0.01, 'fly_by': 0.2, 'rise': 0.1,
    }  # fmt: skip
    design = make_design(values, MODEL, LIMITS, urdf=str(file))
    names = ('motion', 'duration', 'harmonics', 'samples', 'position', 'conservative', 'fly_by')
    for name in (*names, 'rise'):
        assert getattr(design, name) == values[name]
    assert design.criterion.name == 'block' and design.criterion.normalised_share == 0.25
    assert design.criterion.torque_weights == (4.0, 2.0, 1.0, 1.0, 1.0, 1.0)
    margins = design.margins
    assert (margins.position, margins.velocity, margins.acceleration) == (0.1, 0.2, 0.3)
    torque, space, collision = design.rules
    assert isinstance(torque, TorqueLimit) and torque.values == tuple(MODEL.prior())
    np.testing.assert_allclose(torque.limits, 0.5 * LIMITS.effort)
    assert space == SpaceLimit(('link6', 'link5'), (-1, -1, -0.5), (1, 1, 1))
    assert collision == SelfCollisionLimit(str(file), clearance=0.01)


@pytest.mark.parametrize(
    ('values', 'words'),
    [
        ({'color': 1}, "no option 'color', there are: criterion, "),
        (
            {'criterion': 'best'},
            "criterion must be one of cond, block, block_by_condition, det, got 'best'",
        ),
        ({'duration': -1.0}, 'duration must be from 0.001 to 10000, got -1.0'),
        ({'samples': 10**8}, 'samples must be from 1 to 100000'),
        ({'floor': np.nan}, 'floor must be from'),
        ({'box': 5.0}, 'box must be a list, got 5.0'),
        ({'frames': [1]}, 'frames must be a list of names'),
        ({'rise': np.inf}, 'rise must be finite numbers, got inf'),
        ({'position': [10**400]}, 'position must be finite numbers'),
        ({'torque_margin': 1.0}, 'the torque margin must be in'),
    ],
)
def test_what_cannot_be_used(values, words):
    with pytest.raises(MotionError, match=words):
        make_design(values, MODEL, LIMITS)


def test_torque_limits_without_values_or_limits_are_refused():
    unknown = build_model({'kind': 'puma', 'dynamic_model': 1, 'joints': list(LIMITS.joints)})
    with pytest.raises(MotionError, match=r'need a model with a-priori values, and .+ has none'):
        make_design({'torque_limits': True}, unknown, LIMITS)
    endless = replace(LIMITS, effort=np.full(6, np.inf))
    with pytest.raises(MotionError, match='no joint has one'):
        make_design({'torque_limits': True}, MODEL, endless)
    rubbing = with_friction(MODEL, ['viscous', 'bidirectional'])  # friction may be unknown
    (limit,) = make_design({'torque_limits': True}, rubbing, LIMITS).rules
    assert isinstance(limit, TorqueLimit) and np.isfinite(limit.values).all()
