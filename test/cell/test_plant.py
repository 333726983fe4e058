# SPDX-License-Identifier: Apache-2.0
"""The mechanics against textbook formulas and Pinocchio."""

import mujoco
import numpy as np
import pinocchio
import pytest
from cells import FRICTIONLESS, INERTIA, LENGTH, MASS, config, pendulum
from robots import SIX_AXIS, random_urdf
from scipy.linalg import expm

from robodyn_ros.cell.plant import Plant
from robodyn_ros.errors import CellError

G = 9.81
ABOUT_AXIS = INERTIA + MASS * LENGTH**2


def plant_of(urdf, **values):
    return Plant(config(urdf, **{**FRICTIONLESS, **values}))


def run(plant, torque, steps):
    rows = []
    for _ in range(steps):
        plant.step(torque)
        rows.append((plant.position.copy(), plant.velocity.copy()))
    return (np.array(column)[:, 0] for column in zip(*rows, strict=True))


def test_pendulum_has_the_period_and_keeps_the_energy_of_the_textbook():
    amplitude = 0.1
    plant = plant_of(pendulum(), rotor_inertia=0.03, initial_position=amplitude)
    h = plant.model.opt.timestep
    inertia = ABOUT_AXIS + 0.03
    position, velocity = run(plant, np.zeros(1), round(20.0 / h))
    rising = np.flatnonzero((position[:-1] < 0) & (position[1:] >= 0))
    crossing = rising + position[rising] / (position[rising] - position[rising + 1])
    period = np.diff(crossing).mean() * h
    expected = 2 * np.pi * np.sqrt(inertia / (MASS * G * LENGTH)) * (1 + amplitude**2 / 16)
    assert period == pytest.approx(expected, rel=1e-5)
    energy = inertia * velocity**2 / 2 - MASS * G * LENGTH * np.cos(position)
    swing = MASS * G * LENGTH * (1 - np.cos(amplitude))
    assert np.ptp(energy) < 0.01 * swing


@pytest.mark.parametrize('seed', range(2))
def test_acceleration_satisfies_pinocchios_inverse_dynamics(seed):
    urdf = random_urdf(4, seed)
    rotor = 0.2
    plant = plant_of(urdf, rotor_inertia=rotor, max_torque=1e3)
    model = pinocchio.buildModelFromXML(urdf)
    names = [name for name in list(model.names)[1:] if name in plant.names]
    assert tuple(names) == plant.names
    random = np.random.default_rng(seed)
    torque, q, v = random.uniform(-1, 1, size=(3, 4))
    plant.position[:] = np.clip(q, plant.axes.lower, plant.axes.upper)
    plant.velocity[:] = v
    q = plant.position.copy()
    plant.step(torque)
    full = np.concatenate(
        [
            [np.cos(angle), np.sin(angle)] if model.joints[i + 1].nq == 2 else [angle]
            for i, angle in enumerate(q)
        ]
    )
    acceleration = plant.data.qacc
    needed = pinocchio.rnea(model, model.createData(), full, v, acceleration)
    np.testing.assert_allclose(needed + rotor * acceleration, torque, atol=1e-8)


def test_inertia_is_that_of_pinocchio_with_the_rotors():
    plant = plant_of(SIX_AXIS, rotor_inertia=0.5)
    model = pinocchio.buildModelFromUrdf(str(SIX_AXIS))
    q = np.linspace(-0.5, 0.8, 6)
    expected = np.diag(pinocchio.crba(model, model.createData(), q)) + 0.5
    np.testing.assert_allclose(plant.inertia(q), expected, rtol=1e-9)


FRICTION = {
    'coulomb_friction': 4.0, 'static_friction': 5.0, 'stribeck_velocity': 0.1,
    'viscous_friction': 1.5,
}  # fmt: skip


@pytest.mark.parametrize('substeps', [1, 4])
def test_joint_sticks_below_breakaway_without_drift_and_breaks_away_above(substeps):
    still = Plant(config(pendulum('0 0 1'), substeps=substeps, **FRICTION))
    position, velocity = run(still, np.array([4.9]), 500 * substeps)
    assert abs(position[-1]) < 2e-5 and np.abs(velocity).max() < 2e-5
    moving = Plant(config(pendulum('0 0 1'), substeps=substeps, **FRICTION))
    _, velocity = run(moving, np.array([5.3]), 100 * substeps)
    assert velocity[-1] > 0.2


def test_friction_falls_from_static_to_coulomb_and_rises_with_speed():
    def braking(speed):
        plant = Plant(config(pendulum('0 0 1'), substeps=20, **FRICTION))
        plant.velocity[:] = speed
        plant.step(np.zeros(1))
        return -plant.data.qacc[0] * INERTIA

    for speed in (0.02, 0.05, 0.1, 0.3, 1.0):
        expected = 4.0 + np.exp(-((speed / 0.1) ** 2)) + 1.5 * speed
        assert braking(speed) == pytest.approx(expected, rel=1e-6)
        assert braking(-speed) == pytest.approx(-expected, rel=1e-6)


@pytest.mark.parametrize('substeps', [1, 4])
def test_coasting_joint_stops_without_reversal_or_chatter(substeps):
    plant = Plant(config(pendulum('0 0 1'), substeps=substeps, **FRICTION))
    plant.velocity[:] = 2.0
    _, velocity = run(plant, np.zeros(1), 200 * substeps)
    assert velocity.min() > -1e-6
    stopped = int(np.argmax(velocity < 1e-4))
    assert 0 < stopped < 100 * substeps
    assert np.abs(velocity[stopped + 2 :]).max() < 1e-6


def test_joint_limits_stop_the_joint():
    plant = plant_of(pendulum('0 0 1'))
    position, velocity = run(plant, np.array([5.0]), 4000)
    assert position.max() < 2.1 and abs(velocity[-1]) < 1e-3


def test_initial_position_is_inside_the_limits():
    shifted = pendulum().replace('lower="-2"', 'lower="1"')
    assert plant_of(shifted).initial[0] == 1.5
    with pytest.raises(CellError, match=r"'swing': initial_position 3 is outside"):
        plant_of(pendulum(), initial_position=3.0)


@pytest.mark.parametrize(
    ('urdf', 'sentence'),
    [
        ('<robot', 'the URDF cannot be read'),
        ('<sdf/>', 'expected <robot>, got <sdf>'),
        ('/absent/robot.urdf', r'robot\.urdf cannot be read'),
        ('<robot name="r"><link name="base"/></robot>', 'no moving joint'),
        (pendulum(kind='floating'), "joint 'swing' is floating"),
        (pendulum(extra='<mimic joint="x"/>'), "joint 'swing' is mimic"),
        (pendulum().replace('effort="100"', ''), "joint 'swing': neither max_torque"),
        (pendulum().replace('effort="100"', 'effort="much"'), 'is no number'),
        (pendulum().replace('<mass value="2.0"/>', '<mass value="0"/>'), 'cannot be simulated'),
    ],
)
def test_urdf_that_cannot_be_simulated_is_refused(urdf, sentence):
    with pytest.raises(CellError, match=sentence):
        plant_of(urdf)


def test_joint_that_the_robot_does_not_have_is_refused():
    with pytest.raises(CellError, match=r"has no joint 'elbow', it has \['swing'\]"):
        Plant(config(pendulum(), joints={'elbow': {}}))


def two_mass(motor, link, k, d, time):
    """Exact answer of motor and link to a step of torque, from rest: angles, shape (N, 2)."""
    inertia, spring = np.diag([motor, link]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    system = np.zeros((5, 5))
    system[:2, 2:4] = np.eye(2)
    system[2:4, :2] = -np.linalg.solve(inertia, k * spring)
    system[2:4, 2:4] = -np.linalg.solve(inertia, d * spring)
    system[2, 4] = 1.0 / motor
    step, state, rows = expm(system * time[1]), np.array([0.0, 0.0, 0.0, 0.0, 1.0]), []
    for _ in time:
        rows.append(state[:2])
        state = step @ state
    return np.array(rows)


@pytest.mark.parametrize(('motor', 'kind'), [(0.3, 'revolute'), (1.0, 'prismatic')])
def test_elastic_joint_answers_a_step_like_two_masses(motor, kind):
    axis, link = ('0 0 1', INERTIA) if kind == 'revolute' else ('1 0 0', MASS)
    name = 'deflection' if kind == 'revolute' else 'linear_deflection'
    values = {name: 2e-2, 'rated_torque': 40.0, 'rotor_inertia': motor, 'damping_ratio': 0.1}
    plant = plant_of(pendulum(axis, kind), substeps=20, gravity=[0, 0, 0], **values)
    k, reduced = 40.0 / 2e-2, motor * link / (motor + link)
    time = plant.model.opt.timestep * np.arange(1500)
    wanted = two_mass(motor, link, k, 0.2 * np.sqrt(k * reduced), time)
    seen = np.zeros((len(time), 2))
    for row in range(len(time)):
        seen[row] = plant.motor_position[0], plant.position[0]
        plant.step(np.ones(1))
    bend, exact = np.ptp(seen, axis=1), np.ptp(wanted, axis=1)
    np.testing.assert_allclose(bend, exact, atol=0.01 * exact.max())
    np.testing.assert_allclose(seen, wanted, atol=0.003 * wanted.max())


def test_elastic_joint_resonates_at_the_frequency_of_the_textbook():
    motor, values = 0.1, {'deflection': 1e-2, 'rated_torque': 60.0, 'damping_ratio': 0.0}
    plant = plant_of(pendulum('0 0 1'), rotor_inertia=motor, **values)
    plant.data.qvel[:] = [0.2, -0.2]  # the motor moves, the link does not
    rows = []
    for _ in range(4000):
        plant.step(np.zeros(1))
        rows.append(plant.motor_velocity[0])
    spectrum = np.abs(np.fft.rfft(np.hanning(4000) * (rows - np.mean(rows)), 400000))
    found = np.fft.rfftfreq(400000, plant.model.opt.timestep)[np.argmax(spectrum)]
    expected = np.sqrt(6000.0 * (1.0 / motor + 1.0 / INERTIA)) / (2.0 * np.pi)
    assert expected == pytest.approx(67.5, abs=0.1)
    assert found == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize('deflection', [1e-2, 1e-3, 1e-5])
def test_elastic_robots_without_losses_keep_their_energy(deflection, seed=0):
    """At any stiffness: the fastest resonance of a gear may be above the rate of the steps."""
    urdf = random_urdf(5, seed)
    values = {'deflection': deflection, 'linear_deflection': deflection, 'damping_ratio': 0.0}
    plant = plant_of(urdf, max_torque=200.0, rotor_inertia=0.5, gravity=[0, 0, 0], **values)
    plant.model.jnt_limited[:] = 0
    plant.model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    plant.data.qvel[:] = np.random.default_rng(seed).uniform(-0.3, 0.3, 10)
    energy = []
    for _ in range(8000):
        plant.step(np.zeros(5))
        energy.append(plant.data.energy.sum())
    first, last = np.mean(energy[:2000]), np.mean(energy[-2000:])
    assert last == pytest.approx(first, rel=0.05)


def test_gears_bend_by_the_deflection_at_the_rated_torque():
    values = {'rated_torque': 30.0, 'deflection': 2e-3, 'rotor_inertia': 0.1}
    plant = plant_of(pendulum(), max_torque=60.0, initial_position=0.5, **values)
    for _ in range(4000):
        torque = 500.0 * (0.5 - plant.motor_position) - 15.0 * plant.motor_velocity
        plant.step(torque)
    load = MASS * G * LENGTH * np.sin(plant.position[0])
    bend = plant.motor_position[0] - plant.position[0]
    assert bend == pytest.approx(load / 30.0 * 2e-3, rel=1e-4)


@pytest.mark.parametrize(('side', 'share'), [('motor', 0.0), ('joint', 1.0)])
def test_encoders_are_on_their_side_of_the_gear(side, share):
    plant = plant_of(pendulum(), deflection=1e-2, encoder_side=side, rotor_inertia=0.2)
    for _ in range(50):
        plant.step(np.array([20.0]))
    bend = plant.position - plant.motor_position
    assert abs(bend[0]) > 1e-3
    expected = plant.motor_position + share * bend
    np.testing.assert_allclose(plant.encoder_position(), expected, atol=1e-12)


def test_a_rotor_that_is_not_given_is_as_large_as_the_link():
    plant = plant_of(pendulum('0 0 1'), deflection=1e-3)
    np.testing.assert_allclose(plant.inertia(np.zeros(1)), 2.0 * INERTIA, rtol=1e-6)
