# SPDX-License-Identifier: Apache-2.0
"""Interpolation, encoders, loops and limits of the drives."""

import numpy as np
import pytest
from cells import IDEAL, config, pendulum

from robodyn_ros.cell.drives import SimulatedDrives
from robodyn_ros.cell.plant import Plant
from robodyn_ros.cell.robot_cell import RobotCell

PERIOD = 0.002


def drives_of(inertia=1.0, delay=3, substeps=4, **values):
    axes = Plant(config(pendulum(), **{**IDEAL, **values})).axes
    return SimulatedDrives(
        axes=axes, inertia=np.array([inertia]), period=PERIOD, substeps=substeps, delay=delay
    )


def setpoints(drives, commands):
    rows = []
    for command in commands:
        drives.command(np.array([command]), np.zeros(1))
        rows.append(drives.setpoints[:, 0].copy())
    return np.array(rows)


@pytest.mark.parametrize('delay', [1, 3, 5])
def test_a_single_command_acts_symmetrically_about_the_cycle_delay_later(delay):
    drives = drives_of(delay=delay, substeps=4)
    commands = np.zeros(12)
    commands[2] = 1.0
    rows = setpoints(drives, commands)
    curve = np.append(rows.ravel(), 0.0)
    centre = (2 + delay) * 4 + 2
    np.testing.assert_allclose(curve[centre - 7 : centre], curve[centre + 7 : centre : -1])
    assert curve[centre] == 0.75 and np.argmax(curve) == centre
    assert not rows[: 2 + delay - 1].any() and not rows[2 + delay + 2 :].any()


def test_a_ramp_is_followed_exactly_three_cycles_and_a_half_behind():
    drives = drives_of(delay=3)
    speed = 0.7
    rows = setpoints(drives, speed * PERIOD * np.arange(20))
    time = PERIOD * (np.arange(20)[:, None] + np.arange(4) / 4)
    np.testing.assert_allclose(rows[6:], speed * (time[6:] - 3.5 * PERIOD), atol=1e-12)


@pytest.mark.parametrize(
    ('values', 'step'),
    [
        ({'encoder_bits': 12, 'encoder_side': 'joint'}, 2 * np.pi / 4096),
        ({'encoder_bits': 12, 'gear_ratio': 50}, 2 * np.pi / 4096 / 50),
        ({'encoder_resolution': 0.01}, 0.01),
    ],
)
def test_encoder_sees_whole_increments(values, step):
    drives = drives_of(**values)
    positions = np.random.default_rng(1).uniform(-2, 2, size=(200, 1))
    seen = np.array([drives.encode(row) for row in positions])
    np.testing.assert_allclose(seen / step, np.rint(seen / step), atol=1e-6)
    error = np.abs(seen - positions)
    assert 0.4 * step < error.max() <= 0.5 * step * (1 + 1e-9)


def test_velocity_estimate_settles_on_the_velocity():
    drives = drives_of(velocity_filter=100.0)
    estimates = []
    for k in range(100):
        drives.measure(np.array([0.3 * k * PERIOD / 4]))
        estimates.append(drives.velocity[0])
    after_one_time_constant = round(4 / PERIOD / (2 * np.pi * 100))
    assert estimates[after_one_time_constant] == pytest.approx(0.3 * (1 - np.exp(-1)), rel=0.1)
    assert estimates[-1] == pytest.approx(0.3, abs=1e-3)


def test_torque_is_the_sum_of_the_loops_and_the_offset():
    drives = drives_of(inertia=1.0, integral_time=0.02)
    drives.command(np.zeros(1), np.array([7.0]))
    drives.measure(np.array([-1e-4]))
    velocity_error = drives.position_gain * 1e-4 - drives.velocity
    expected = drives.velocity_gain * velocity_error * (1 + PERIOD / 4 / 0.02) + 7.0
    np.testing.assert_allclose(drives.torque(), expected, rtol=1e-3)


def test_torque_is_limited_and_the_integral_does_not_wind_up():
    drives = drives_of(max_torque=10.0)
    for _ in range(2000):
        drives.command(np.full(1, 0.5), np.array([50.0]))
        assert drives.torque()[0] == 10.0
    drives.reset(np.zeros(1))
    for _ in range(2000):
        drives.command(np.full(1, 0.5), np.zeros(1))
        drives.torque()
    drives.command(np.full(1, 0.5), np.zeros(1))
    drives.measure(np.full(1, 0.6))
    drives.velocity[:] = 0.0
    assert drives.torque()[0] == -10.0


def test_velocity_loop_has_its_bandwidth(bandwidth=30.0):
    """Velocity over its set-point is -3 dB at the bandwidth, of the motor that carries a link."""
    only = {'position_bandwidth': 1e-6, 'integral_time': 1e6, 'velocity_filter': 1e5}
    cell = RobotCell(
        config(
            pendulum('0 0 1'), velocity_bandwidth=bandwidth, encoder_bits=40, substeps=40,
            **{**IDEAL, **only},
        )
    )  # fmt: skip
    commanded, reached = [], []
    for cycle in range(1000):
        cell.step([0.001 * np.sin(2 * np.pi * bandwidth * PERIOD * cycle)], [0.0])
        commanded.append(0.5 * (cell.drives._commands[1] + cell.drives._commands[2])[0])
        reached.append(cell.plant.position[0])
    wave = np.exp(-2j * np.pi * bandwidth * PERIOD * np.arange(500))
    # the B-spline passes this share of a sine that is sampled at its knots
    share = np.sinc(bandwidth * PERIOD) ** 3 / np.cos(np.pi * bandwidth * PERIOD)
    ratio = abs(wave @ reached[500:]) / abs(wave @ commanded[500:]) / share
    assert ratio == pytest.approx(np.sqrt(0.5), rel=0.02)
