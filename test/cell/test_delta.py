# SPDX-License-Identifier: Apache-2.0
"""The DELTA in the cell: its torques by an exact-rod model, its loops, and what it refuses."""

import copy
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.errors import CellError
from robodyn_ros.models.catalog import load_model
from robodyn_ros.models.closed_forms.delta_kinematics import forward_kinematics

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / 'config'
FRICTION = ('coulomb_friction', 'static_friction', 'viscous_friction')


def content(robot):
    """Plain values of a robot's cell configuration, without friction."""
    values = yaml.safe_load((CONFIG / 'robots' / f'{robot}.yaml').read_text())['cell']
    values['urdf'] = str(ROOT / 'urdf' / f'{robot}.urdf')
    values['profile'] = 'ideal'  # the tests are about the mechanism, not about its drives
    values['joints'] = {  # joints that the file repeats by an alias are one object
        name: {**joint, **dict.fromkeys(FRICTION, 0.0)} for name, joint in values['joints'].items()
    }
    return values


def true_values(model, values):
    """Parameter values of the model that follow from the cell's masses and lengths."""
    parts = values['mechanism']
    arm, rod, shaft = parts['arm'], parts['rod'], parts.get('shaft')
    rotors = [joint['rotor_inertia'] for joint in values['joints'].values()]
    known = {
        'Theta_AB': arm['inertia'] + arm['mass'] * arm['reach'] ** 2 + rotors[0],
        'g*L_AB*M_AB': 9.81 * arm['mass'] * arm['reach'],
        'M_BC': 2 * rod['mass'],
        'Theta_BC': 2 * rod['inertia'],
        'M_P': parts['platform']['mass'],
    }
    if shaft:
        mass, top, bottom = (shaft[key] for key in ('mass', 'reach_top', 'reach_bottom'))
        known |= {
            'M_T': mass,
            'M_T*L_TO': mass * top,
            'M_T*L_TP': mass * bottom,
            '(M_T*(L_TO^2+L_TP^2)+2*Theta_T)': mass * (top**2 + bottom**2) + 2 * shaft['inertia'],
            'Theta_Tphi': shaft['spin_inertia'],
            'J4': rotors[3],
        }
    assert set(known) == {item.name for item in model.parameters}
    return np.array([known[item.name] for item in model.parameters])


def moved(cell, cycles, every=5):
    """States (q, qd, qdd, torque) in some substeps while the cell follows quick sines."""
    plant = cell.plant
    states, copied = [], mujoco.MjData(plant.model)
    step = plant.step

    def noted(torque):
        mujoco.mj_copyData(copied, plant.model, plant.data)
        copied.qfrc_applied[plant._driven] = torque
        mujoco.mj_forward(plant.model, copied)
        parts = (copied.qpos, copied.qvel, copied.qacc)
        states.append((*(part[plant._driven].copy() for part in parts), torque.copy()))
        step(torque)

    size = np.array([0.8, 0.8, 0.8, 5.0])[: len(cell.joints)]
    rate = 2 * np.pi * np.array([0.4, 0.5, 0.57, 0.45])[: len(cell.joints)]
    centre = np.array([0.35, 0.35, 0.35, 0.0])[: len(cell.joints)]
    for cycle in range(cycles):
        time = cycle * cell.period
        begin = 1 - np.exp(-((2 * time) ** 3))
        plant.step = noted if cycle > cycles // 3 and cycle % every == 0 else step
        cell.step(begin * (centre + size * np.sin(rate * time)), np.zeros(len(cell.joints)))
    plant.step = step
    return [np.array(rows) for rows in zip(*states, strict=True)]


@pytest.mark.parametrize(('robot', 'share'), [('delta3', 1e-4), ('delta', 1e-3)])
def test_torque_of_the_plant_is_that_of_the_exact_rod_model(robot, share):
    values = content(robot)
    cell = RobotCell(CellConfig.from_mapping(values))
    model = load_model(CONFIG / 'robots' / f'{robot}.yaml').parts[0]
    q, qd, qdd, torque = moved(cell, 1200)
    assert (np.abs(qd).max(axis=0) > 1.5).all()
    error = torque - model.torque(q, qd, qdd, true_values(model, values))
    rms = np.sqrt(np.mean(torque**2, axis=0))
    assert (np.sqrt(np.mean(error**2, axis=0)) < share * rms).all()
    assert np.abs(cell.plant.data.efc_pos[: cell.plant.data.ne]).max() < 2e-6
    # a mass that the model does not know of is seen at once
    other = true_values(model, values) * 1.01
    assert not np.allclose(model.torque(q, qd, qdd, other), torque, atol=2e-3)


@pytest.mark.parametrize('robot', ['delta3', 'delta'])
def test_platform_is_where_the_model_has_it_and_does_not_turn(robot):
    values = content(robot)
    initial = [0.9, -0.4, 0.2, 2.0]
    for joint, position in zip(values['joints'].values(), initial, strict=False):
        joint['initial_position'] = position
    cell = RobotCell(CellConfig.from_mapping(values))
    body = cell.plant.data.body('platform')
    model = load_model(CONFIG / 'robots' / f'{robot}.yaml').parts[0]
    expected = forward_kinematics(model.geometry, cell.plant.position[None, :3])[0]
    np.testing.assert_allclose(body.xpos, expected, atol=1e-12)
    np.testing.assert_allclose(body.xmat, np.eye(3).ravel(), atol=1e-12)
    np.testing.assert_array_equal(cell.plant.position, initial[: len(cell.joints)])


def changed(robot, path, value):
    """Content with one entry of the mechanism replaced; None takes it away."""
    values = copy.deepcopy(content(robot))
    place = values['mechanism']
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return values


@pytest.mark.parametrize(
    ('path', 'value', 'sentence'),
    [
        (('kind',), 'hexapod', "cell: there is no mechanism kind 'hexapod', there are: delta"),
        (('kind',), None, 'cell: there is no mechanism kind None, there are: delta'),
        (('geometry',), None, 'geometry must give R_b, r_p, L_AB, L_BC, half_width, h_O'),
        (('geometry', 'L_BC'), None, 'cell: mechanism delta: geometry needs L_BC'),
        (('geometry', 'h_O'), None, 'cell: mechanism delta: geometry needs h_O'),
        (('geometry', 'L_AB'), -0.3, 'geometry: L_AB must be above 0, got -0.3'),
        (('geometry', 'L_AB'), 'long', "geometry: L_AB must be a number, got 'long'"),
        (('geometry', 'L_DE'), 0.3, "geometry has no 'L_DE', it has: R_b, r_p, L_AB"),
        (('rod', 'mass'), 0.0, 'rod: mass must be above 0, got 0'),
        (('platform', 'mass'), float('nan'), 'platform: mass must be a number, got nan'),
        (('arms',), {}, "unknown entry 'arms', expected some of geometry, arm, rod, platform"),
        (('shaft',), 7, 'shaft must give mass, inertia, spin_inertia'),
        (('geometry', 'L_BC'), 0.3, 'the mechanism cannot be closed at the joint positions 0, 0'),
    ],
)
def test_mechanism_that_cannot_be_built_is_refused(path, value, sentence):
    with pytest.raises(CellError, match=re.escape(sentence)):
        RobotCell(CellConfig.from_mapping(changed('delta', path, value)))


def test_joints_that_are_not_a_deltas_are_refused():
    values = content('delta')
    urdf = str(ROOT / 'urdf' / 'scara.urdf')
    sentence = f"{urdf}: joint 'joint3' of a delta must be rotary"
    with pytest.raises(CellError, match=re.escape(sentence)):
        RobotCell(CellConfig.from_mapping({**values, 'urdf': urdf}))
    three = content('delta3')
    with pytest.raises(CellError, match='a delta without a shaft has 3 joints, got 4'):
        RobotCell(CellConfig.from_mapping({**values, 'mechanism': three['mechanism']}))
    with pytest.raises(CellError, match='mechanism: expected names with values, got 7'):
        CellConfig.from_mapping({**values, 'mechanism': 7})
