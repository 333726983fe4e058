# SPDX-License-Identifier: Apache-2.0
"""The whole cell: measurement, pushes, repeatability, tracking, stability."""

import copy
from collections import deque
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest
from cells import IDEAL, LENGTH, MASS, config, pendulum, sine
from robots import SIX_AXIS, random_urdf

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.errors import CellError, UnstableError
from robodyn_ros.robot_file import load_robot

FOLDER = Path(__file__).resolve().parents[2] / 'config' / 'robots'
CONFIGS = sorted(path for path in FOLDER.glob('*.yaml') if 'cell' in load_robot(path).content)


def hold(cell, cycles, additive=0.0):
    zero = np.zeros(len(cell.joints))
    return [cell.step(cell.plant.initial, zero + additive) for _ in range(cycles)]


def frictionless(cell):
    model = copy.copy(cell.plant.model)
    model.dof_frictionloss[:] = model.dof_damping[:] = 0.0
    return model, mujoco.MjData(model)


def needed_torque(cell, model, data, q, qd, qdd):
    """Inverse dynamics of MuJoCo and the friction law as it is documented."""
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
    mujoco.mj_inverse(model, data)
    axes = cell.axes
    dry = axes['coulomb_friction'] + (axes['static_friction'] - axes['coulomb_friction']) * np.exp(
        -((qd / axes['stribeck_velocity']) ** 2)
    )
    return data.qfrc_inverse + dry * np.sign(qd) + axes['viscous_friction'] * qd


def following_errors(cell, delay, frequency=0.5, share=0.5):
    """RMS of plant position against the drives' set-point; delay None: no additive torque."""
    cell.reset()
    model, data = frictionless(cell)
    line = deque(maxlen=1 if delay is None else delay + 1)
    errors = []
    for cycle in range(1100):
        q, qd, qdd = sine(cell, cycle * cell.period, frequency, share)
        torque = needed_torque(cell, model, data, q, qd, qdd)
        line.append(np.zeros(len(q)) if delay is None else torque)
        additive = line[0] if len(line) == line.maxlen else np.zeros(len(q))
        state = cell.step(q, additive)
        if cycle > 500:
            # set-point at the end of the cycle: 2.5 cycles behind this cycle's command
            errors.append(
                0.5 * sum(cell.drives._commands[i] for i in (1, 2)) - state.plant_position
            )
    return np.sqrt(np.mean(np.square(errors), axis=0))


def test_static_torque_is_that_of_gravity():
    cell = RobotCell(config(pendulum(), initial_position=0.7, encoder_bits=30, **IDEAL))
    state = hold(cell, 500)[-1]
    assert state.plant_torque[0] == pytest.approx(MASS * 9.81 * LENGTH * np.sin(0.7), rel=1e-4)
    np.testing.assert_array_equal(state.torque, state.plant_torque)


def test_measured_torque_has_the_noise_it_should_have():
    cell = RobotCell(config(SIX_AXIS, torque_noise=0.01))
    states = hold(cell, 4000)
    noise = np.array([state.torque - state.plant_torque for state in states])
    rated = cell.axes['rated_torque']
    np.testing.assert_allclose(noise.std(axis=0), 0.01 * rated, rtol=0.06)
    assert (np.abs(noise.mean(axis=0)) < 4 * 0.01 * rated / np.sqrt(4000)).all()


def test_same_seed_same_motion_and_other_seed_other_noise():
    def run(seed):
        cell = RobotCell(config(SIX_AXIS, seed=seed))
        steps = [cell.step(sine(cell, 0.002 * k)[0], np.zeros(6)) for k in range(200)]
        return cell, np.array([state.torque for state in steps])

    cell, first = run(3)
    np.testing.assert_array_equal(first, run(3)[1])
    assert not np.allclose(first, run(4)[1])
    cell.push('', [10, 0, 0], [0, 0, 0], 5.0)
    cell.reset()
    again = [cell.step(sine(cell, 0.002 * k)[0], np.zeros(6)).torque for k in range(200)]
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize('link', ['link6', 'link3', ''])
def test_push_is_answered_by_the_torque_jacobian_times_force(link):
    cell = RobotCell(config(SIX_AXIS, encoder_bits=30, **IDEAL))
    cell.plant.initial[:] = [0.3, 0.2, -0.4, 0.5, 0.6, 0.1]
    cell.reset()
    before = hold(cell, 400)[-1].plant_torque
    force, torque = np.array([30.0, -20.0, 10.0]), np.array([1.0, 2.0, -3.0])
    begin = cell.push(link, force, torque, 2.0)
    assert begin == pytest.approx(0.8)
    change = hold(cell, 900)[-1].plant_torque - before
    model = pinocchio.buildModelFromUrdf(str(SIX_AXIS))
    data = model.createData()
    q = cell.plant.position.copy()
    pinocchio.computeJointJacobians(model, data, q)
    joint = 3 if link == 'link3' else 6
    body = cell.plant.model.body(link or 'link6').id
    centre = cell.plant.data.xipos[body] - data.oMi[joint].translation
    frame = pinocchio.LOCAL_WORLD_ALIGNED
    jacobian = pinocchio.getJointJacobian(model, data, joint, frame)
    moment = torque + np.cross(centre, force)
    np.testing.assert_allclose(
        change, -jacobian.T @ np.concatenate([force, moment]), rtol=2e-3, atol=2e-2
    )


def test_push_lasts_as_long_as_it_should():
    cell = RobotCell(config(pendulum(), **IDEAL))
    cell.push('arm', [1, 0, 0], [0, 0, 0], 0.01)
    cell.push('arm', [1, 0, 0], [0, 0, 0], 0.02)
    seen = []
    for _ in range(12):
        hold(cell, 1)
        seen.append(cell.plant.data.xfrc_applied[2, 0])
    assert seen == [2.0] * 5 + [1.0] * 5 + [0.0] * 2


def test_exact_additive_torque_delayed_by_three_cycles_cuts_the_following_error():
    cell = RobotCell(CellConfig.from_yaml(FOLDER / 'six_axis.yaml', profile='ideal'))
    without = following_errors(cell, None)
    assert (following_errors(cell, 3) < 0.05 * without).all()
    pooled = {d: np.linalg.norm(following_errors(cell, d, 0.8, 0.25)) for d in (2, 3, 4)}
    assert pooled[3] < 0.5 * min(pooled[2], pooled[4])


@pytest.mark.parametrize('path', CONFIGS, ids=lambda path: path.stem)
def test_every_robot_of_ours_follows_a_motion_and_comes_to_rest(path):
    cell = RobotCell(CellConfig.from_yaml(path, profile='ideal'))
    zero = np.zeros(len(cell.joints))
    errors, torques = [], []
    for cycle in range(1500):
        q = sine(cell, cycle * cell.period)[0]
        state = cell.step(q, zero)
        setpoint = 0.5 * (cell.drives._commands[1] + cell.drives._commands[2])
        errors.append(setpoint - state.plant_position)
        torques.append(state.plant_torque)
    assert np.abs(errors).max() < 2e-3
    assert (np.abs(torques).max(axis=0) < 0.95 * cell.axes['max_torque']).all()
    # the reference stops dead; the drives must calm down
    states = [cell.step(q, zero) for _ in range(750)]
    speeds = np.abs([state.plant_velocity for state in states[-50:]])
    # A drive that creeps over the edge of an encoder count kicks by 1e-4 rad/s, then rests again.
    assert speeds.max() < 3e-4 and np.median(speeds, axis=0).max() < 5e-6
    torques = np.array([state.plant_torque for state in states[-50:]])
    assert (np.ptp(torques, axis=0) < 0.01 * cell.axes['rated_torque']).all()


@pytest.mark.parametrize('profile', ['ideal', 'industrial', 'cobot'])
@pytest.mark.parametrize('seed', range(2))
def test_a_robot_without_any_tuning_is_stable(seed, profile):
    cell = RobotCell(
        config(
            random_urdf(5, seed), profile=profile, max_torque=2000.0, coulomb_friction=1.0,
            gravity=[0, 0, -3],
        )
    )  # fmt: skip
    zero = np.zeros(5)
    start = cell.plant.initial
    for cycle in range(400):
        state = cell.step(start + 0.05 * min(cycle / 200, 1.0), zero)
    late = cell.late
    states = [cell.step(start + 0.05, zero) for _ in range(600)]
    assert np.abs([state.plant_velocity for state in states[-20:]]).max() < 1e-3
    assert np.abs(states[-1].plant_position - start - 0.05).max() < 1e-3
    assert state.time == pytest.approx(0.8 + late, abs=1e-9)


@pytest.mark.parametrize(
    ('command', 'additive', 'sentence'),
    [
        ([0.0, 0.0], [0.0], r'position command needs 1 values.*got \(2,\)'),
        ([0.0], [], r'additive torque needs 1 values.*got \(0,\)'),
        ([np.nan], [0.0], "position command of joint 'swing' is nan"),
        ([0.0], [np.inf], "additive torque of joint 'swing' is inf"),
    ],
)
def test_commands_that_cannot_be_followed_are_refused(command, additive, sentence):
    with pytest.raises(CellError, match=sentence):
        RobotCell(config(pendulum())).step(command, additive)


def test_pushes_that_make_no_sense_are_refused():
    cell = RobotCell(config(pendulum()))
    for arguments, sentence in (
        (('hand', [0] * 3, [0] * 3, 1.0), r"no link 'hand', the robot has \['base', 'arm'\]"),
        (('', [np.nan, 0, 0], [0] * 3, 1.0), '3 numbers'),
        (('', [0] * 2, [0] * 3, 1.0), '3 numbers'),
        (('', [0] * 3, [0] * 3, 0.0), 'duration above 0 s, got 0'),
    ):
        with pytest.raises(CellError, match=sentence):
            cell.push(*arguments)


def test_an_unstable_cell_says_so_is_reset_and_leaves_no_file(tmp_path, monkeypatch):
    """MuJoCo appends its warnings to a file in the current folder by default."""
    monkeypatch.chdir(tmp_path)
    cell = RobotCell(config(pendulum(), max_torque=1e15))
    before = cell.state
    hold(cell, 5)
    with pytest.raises(UnstableError, match=r'became unstable, by MuJoCo: .* huge value in QACC'):
        hold(cell, 20, additive=1e14)
    assert not list(tmp_path.iterdir())
    assert (cell.state.time, cell.state.plant_position[0]) == (0.0, before.plant_position[0])
    assert all(np.isfinite(state.plant_velocity).all() for state in hold(cell, 50))
