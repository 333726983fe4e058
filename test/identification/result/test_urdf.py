# SPDX-License-Identifier: Apache-2.0
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
from robots import UR10, URDF_FOLDER, random_states, random_urdf
from simulation import arm, record

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.identification.physical.completion import complete
from robodyn_ros.identification.physical.semidefinite import Data, Problem, plain_prior
from robodyn_ros.identification.result.urdf import update_urdf
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import robot_model, with_friction
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Joint
from robodyn_ros.models.serial.urdf import rigid_part

SERIAL = sorted(p for p in URDF_FOLDER.glob('*.urdf') if not p.stem.startswith('delta'))


def pinocchio_torque(xml, q, qd, qdd):
    model = pin.buildModelFromXML(xml)
    data = model.createData()
    result = np.empty_like(q)
    for row in range(len(q)):
        state = pin.neutral(model)
        for joint in range(1, model.njoints):
            item, value = model.joints[joint], q[row, joint - 1]
            turns = [np.cos(value), np.sin(value)] if item.nq == 2 else [value]
            state[item.idx_q : item.idx_q + item.nq] = turns
        result[row] = pin.rnea(model, data, state, qd[row], qdd[row])
    return result


def rigid_torque(model, values, states):
    """Torque of the links alone: rotors and friction are not in a URDF."""
    links = np.array(values)
    for index, item in enumerate(model.parameters):
        if item.name.endswith(('rotor_inertia', 'friction', 'torque_offset')):
            links[index] = 0.0
    return model.regressor(*states) @ links


@pytest.mark.parametrize('joints', [1, 6])
def test_pinocchio_computes_the_identified_torque_from_the_file(joints, tmp_path):
    model, truth = arm(random_urdf(joints, 11))
    base = base_parameters(model)
    values = complete(
        model, base, base.values(truth), np.eye(base.rank), 0.5 * np.nan_to_num(model.prior())
    ).values
    (tmp_path / 'robot.urdf').write_text(update_urdf(model, values), 'utf-8')
    xml = (tmp_path / 'robot.urdf').read_text()
    states = random_states(joints, 20)
    expected = rigid_torque(model, values, states)
    np.testing.assert_allclose(pinocchio_torque(xml, *states), expected, rtol=0, atol=1e-8)
    assert [path.name for path in tmp_path.iterdir()] == ['robot.urdf']


def test_friction_is_written_where_it_is_not_negative():
    model, truth = arm(random_urdf(2, 3))
    names = [item.name for item in model.parameters]
    truth[names.index('joint2.coulomb_friction')] = -0.1
    robot = ET.fromstring(update_urdf(model, truth))
    dynamics = {j.get('name'): j.find('dynamics') for j in robot.findall('joint')}
    viscous = truth[names.index('joint1.viscous_friction')]
    assert float(dynamics['joint1'].get('damping')) == viscous
    assert dynamics['joint2'] is None


def test_impossible_robots_and_models_without_urdf_are_refused(tmp_path):
    model, truth = arm(random_urdf(2, 3))
    truth[0] = -1.0
    with pytest.raises(IdentificationError, match='not physically consistent'):
        update_urdf(model, truth)
    friction = FrictionModel(joints=[Joint('a')])
    with pytest.raises(IdentificationError, match='only a model of a URDF'):
        update_urdf(friction, np.ones(3))
    assert rigid_part(friction) is None and not list(tmp_path.iterdir())


@pytest.mark.parametrize('path', SERIAL, ids=lambda path: path.stem)
def test_every_robot_of_ours_from_noise_to_a_urdf_that_can_exist(path):
    """Figures: torques to 1e-8, mass matrix positive definite (bench: in 10 000 poses)."""
    model, truth = arm(path)
    base = base_parameters(model)
    run = record(model, truth, 250, noise=0.3, size=0.3)
    used = np.ones(run.torque.shape, dtype=bool)
    motion = (run.position, run.velocity, run.acceleration)
    factors = condense(model, motion, run.torque, used, base.columns).factors
    problem = Problem.of(model, base, plain_prior(model))
    sigma = estimate(factors, base.rank).sigma
    values = problem.solve(Data.of(factors, base.rank, sigma), 0.0)
    xml = update_urdf(model, values)
    states = random_states(len(model.joints), 30)
    expected = rigid_torque(model, values, states)
    np.testing.assert_allclose(pinocchio_torque(xml, *states), expected, rtol=0, atol=1e-8)
    plain = pin.buildModelFromXML(xml)
    assert plain.nq == len(model.joints)
    for q in random_states(len(model.joints), 100, seed=1)[0]:
        upper = np.triu(pin.crba(plain, plain.createData(), q))
        assert np.linalg.eigvalsh(upper + np.triu(upper, 1).T).min() > 0.0
    for body in plain.inertias[1:]:
        first, second, third = np.linalg.eigvalsh(body.inertia)
        assert body.mass > 0.0 and first > 0.0 and first + second > third


def test_any_friction_law_becomes_the_nearest_linear_one():
    body = robot_model(UR10, friction=())
    law = {'terms': ['smooth', 'quadratic', 'load'], 'smoothing': 0.02, 'reach': 2.0}
    model = with_friction(body, {**law, 'load': body.prior().tolist()})
    own = np.tile([1.5, 4.0, 0.7, -0.3, 0.1], (6, 1))  # viscous, Coulomb, offset, quadratic, load
    own[1, :4] = [-1.0, 4.0, 0.2, 0.0]  # falls with the velocity: no damping can do that
    own[2, :4] = [0.0, 0.0, 0.2, 2.0]  # a line through it starts below zero
    values = np.concatenate([np.nan_to_num(body.prior()), own.ravel()])
    joints = ET.fromstring(update_urdf(model, values)).findall('joint')
    found = {joint.get('name'): joint.find('dynamics') for joint in joints}
    speed = np.linspace(0.02, 2.0, 100)
    slope, step = np.polyfit(speed, 1.5 * speed + 4.0 * np.tanh(speed / 0.02) - 0.3 * speed**2, 1)
    first, second, third = (found[name] for name in model.joint_names[:3])
    np.testing.assert_allclose(float(first.get('damping')), slope, rtol=1e-6)
    np.testing.assert_allclose(float(first.get('friction')), step, rtol=1e-6)
    assert float(third.get('friction')) == 0.0
    damping = 2.0 * np.sum(speed**3) / np.sum(speed**2)
    assert float(third.get('damping')) == pytest.approx(damping)
    assert float(second.get('damping')) == 0.0 and 2.9 < float(second.get('friction')) < 3.1


def test_slips_are_part_of_the_law_that_a_line_is_fitted_to():
    """Without them it would start below zero."""
    body = robot_model(UR10, friction=())
    law = {'terms': ['quadratic', 'viscous', 'slip'], 'reach': 2.0}
    model = with_friction(body, law)
    values = np.nan_to_num(model.prior())
    for place, item in enumerate(model.parameters):
        if item.name.endswith(('quadratic_friction', 'medium_slip_friction')):
            values[place] = 2.0
    joint = ET.fromstring(update_urdf(model, values)).find('joint[@name="elbow_joint"]/dynamics')
    speed = np.linspace(0.0, 2.0, 101)[1:]
    slope, start = np.polyfit(speed, 2.0 * speed**2 + 2.0, 1)
    assert float(joint.get('damping')) == pytest.approx(slope) and start > 0.0
    assert float(joint.get('friction')) == pytest.approx(start)
