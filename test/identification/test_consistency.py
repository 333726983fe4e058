import numpy as np
import pinocchio as pin
import pytest
from robots import random_urdf
from simulation import arm

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.consistency import (
    bodies_of,
    consistent,
    is_consistent,
    nearest,
    pseudo_inertia,
)
from robodyn_ros.models.base_parameters import base_parameters


def test_pseudo_inertia_is_pinocchios():
    inertia = pin.Inertia.Random()
    expected = inertia.toPseudoInertia().toMatrix()
    np.testing.assert_allclose(pseudo_inertia(inertia.toDynamicParameters()), expected, atol=1e-12)


def test_bodies_and_rotors_are_found_by_name():
    model, values = arm(random_urdf(3, 0))
    bodies = bodies_of(model)
    assert [name for name, _ in bodies.links] == ['link1', 'link2', 'link3']
    assert model.parameters[bodies.links[1][1][9]].name == 'link2.Izz'
    assert [model.parameters[k].name for k in bodies.rotors] == [
        f'joint{k}.rotor_inertia' for k in (1, 2, 3)
    ]
    assert is_consistent(model, values)
    values[bodies.rotors[0]] = -1e-6
    assert not is_consistent(model, values)


@pytest.mark.parametrize('joints', [1, 3, 6, 9])
def test_consistent_robot_is_found_where_one_exists(joints):
    model, truth = arm(random_urdf(joints, 5))
    base = base_parameters(model)
    # A bad prior: other masses, no rotors, and links nobody can build.
    random = np.random.default_rng(joints)
    prior = np.nan_to_num(model.prior()) * random.uniform(-0.5, 2.0, size=len(truth))
    values = consistent(model, base.grouping, base.values(truth), prior)
    assert is_consistent(model, values)
    expected = base.values(truth)
    np.testing.assert_allclose(
        base.values(values), expected, rtol=0, atol=1e-9 * np.abs(expected).max()
    )


def test_good_prior_is_kept():
    model, truth = arm(random_urdf(4, 6))
    base = base_parameters(model)
    values = consistent(model, base.grouping, base.values(truth), truth)
    np.testing.assert_allclose(values, truth, atol=1e-5)


def test_impossible_base_values_are_refused():
    model, truth = arm(random_urdf(3, 7, types=('revolute',)))
    base = base_parameters(model)
    wrong = np.array(truth)
    wrong[[item.name for item in model.parameters].index('link3.Izz')] -= 20.0
    wrong[-12] = 0.0
    with pytest.raises(IdentificationError, match='no physically consistent robot'):
        consistent(model, base.grouping, base.values(wrong), truth)


def test_nearest_has_the_base_values_and_no_shorter_way_to_the_prior():
    model, truth = arm(random_urdf(5, 8))
    base = base_parameters(model)
    random = np.random.default_rng(0)
    prior = truth + random.normal(size=len(truth))
    values = nearest(model, base.grouping, base.values(truth), prior)
    np.testing.assert_allclose(base.values(values), base.values(truth), atol=1e-9)
    assert np.linalg.norm(values - prior) > 0.0
    np.testing.assert_allclose(nearest(model, base.grouping, base.values(truth), truth), truth)


def test_rotor_at_exactly_zero_is_possible():
    model, truth = arm(random_urdf(3, 9))
    truth[list(bodies_of(model).rotors)] = 0.0
    base = base_parameters(model)
    noisy = base.values(truth) - 1e-12
    assert is_consistent(model, consistent(model, base.grouping, noisy, truth))
