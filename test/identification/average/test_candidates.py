# SPDX-License-Identifier: Apache-2.0
"""Candidates: laws that the model has all terms of, with every cut-off and weight of the prior."""

from robots import random_urdf

from robodyn_ros.identification.average.candidates import GIVEN, list_candidates
from robodyn_ros.identification.physical.semidefinite import WEAKEST, WEIGHTS
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model, robot_model, with_friction
from robodyn_ros.models.springs import SLIP_PARAMETERS

BODY = robot_model(random_urdf(2, 5, types=('revolute',)), friction=())
TERMS = ('viscous', 'offset', 'coulomb', 'load', 'spring', 'slip')
LIFT = """<robot name="lift"><link name="base"/><link name="plate"><inertial><mass value="5"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><joint name="lift"
type="prismatic"><parent link="base"/><child link="plate"/><axis xyz="0 0 1"/><limit lower="-1"
upper="1" effort="200" velocity="1"/></joint></robot>"""
LAWS = {
    'linear', 'slip', 'linear+load', 'slip+load', 'linear+spring', 'slip+load+spring'
}  # fmt: skip


def listed(terms, cutoffs=1, **shapes):
    model = with_friction(BODY, {'terms': list(terms), **shapes})
    return model, list_candidates(
        model, base_parameters(model), cutoffs, automatic=True, known=True
    )


def test_plain_least_squares_comes_first_and_everything_is_combined():
    model, found = listed(TERMS, cutoffs=3, load=BODY.prior().tolist())
    assert {each.law for each in found} == LAWS and len(found) == 3 * len(LAWS) * len(WEIGHTS)
    plain = found[0]
    assert (plain.law, plain.prior_weight, plain.cutoff) == ('linear', WEAKEST, 0)
    assert len({(each.law, each.prior_weight, each.cutoff) for each in found}) == len(found)
    base = base_parameters(model)
    names = [model.parameters[column].name for column in base.columns]
    assert {f'joint{k}.coulomb_friction' for k in (1, 2)} <= {
        name for name, kept in zip(names, plain.kept, strict=True) if kept
    }
    left_out = {name.partition('.')[2] for name, kept in zip(names, plain.kept, strict=True)
                if not kept}  # fmt: skip
    assert left_out == {'load_friction', 'spring_stiffness', *SLIP_PARAMETERS}


def test_no_law_has_terms_that_the_model_lacks():
    """No load where nothing loads the gears."""
    _, found = listed([term for term in TERMS if term != 'load'])
    assert {each.law for each in found} == {'linear', 'slip', 'linear+spring'}


def test_friction_that_was_named_is_the_only_law():
    model = robot_model(random_urdf(2, 5, types=('revolute',)))
    found = list_candidates(model, base_parameters(model), 2, automatic=False, known=True)
    assert {each.law for each in found} == {GIVEN} and len(found) == 2 * len(WEIGHTS)
    assert all(each.kept.all() for each in found)


def test_a_prior_that_is_made_up_only_decides_what_nothing_else_does():
    model = build_model({'kind': 'axis', 'type': 'rotary', 'dynamic_model': 1, 'joints': ['a']})
    found = list_candidates(model, base_parameters(model), 2, automatic=False, known=False)
    assert {each.prior_weight for each in found} == {WEAKEST}


def test_a_constant_that_gravity_hides_leaves_the_laws_as_they_are():
    """Gravity of a lift is a constant: its offset is no base value."""
    model = robot_model(LIFT, friction=TERMS[:3])
    base = base_parameters(model)
    assert 'lift.torque_offset' not in {model.parameters[column].name for column in base.columns}
    found = list_candidates(model, base, 1, automatic=True, known=True)
    assert {each.law for each in found} == {'linear'}
