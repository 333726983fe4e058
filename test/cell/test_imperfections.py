# SPDX-License-Identifier: Apache-2.0
"""Ripple, current steps, warming friction and unsteady cycles of the drives."""

import numpy as np
import pytest
from cells import IDEAL, config, pendulum

from robodyn_ros.cell.imperfections import Imperfections
from robodyn_ros.cell.plant import Plant
from robodyn_ros.cell.robot_cell import RobotCell

PERIOD = 0.002


def imperfections_of(urdf=None, jitter=0.0, seed=0, **values):
    axes = Plant(config(urdf or pendulum(), **{**IDEAL, **values})).axes
    return Imperfections(axes, period=PERIOD, jitter=jitter, seed=seed)


@pytest.mark.parametrize(
    ('kind', 'values', 'period'),
    [
        ('revolute', {'gear_ratio': 50, 'ripple_order': 6}, 2 * np.pi / 50 / 6),
        ('prismatic', {'lead': 0.01, 'ripple_order': 4}, 0.01 / 4),
    ],
)
def test_ripple_is_a_sine_of_the_motor_with_its_amplitude_and_period(kind, values, period):
    urdf = pendulum(kind=kind)
    drive = imperfections_of(urdf, torque_ripple=0.03, rated_torque=20.0, **values)
    position = np.linspace(0.0, 3.0 * period, 3001)
    torque = np.array([drive.ripple(np.array([q]))[0] for q in position])
    assert np.abs(torque).max() == pytest.approx(0.6, rel=1e-5)
    spectrum = np.abs(np.fft.rfft(torque[:-1]))
    assert np.argmax(spectrum) == 3 and spectrum[3] == pytest.approx(0.6 * 1500, rel=1e-6)


def test_measured_torque_has_whole_steps():
    drive = imperfections_of(torque_resolution=0.001, rated_torque=50.0)
    torque = np.random.default_rng(0).uniform(-60.0, 60.0, (2000, 1))
    seen = np.array([drive.quantise_torque(row) for row in torque])
    np.testing.assert_allclose(seen / 0.05, np.rint(seen / 0.05), atol=1e-9)
    error = np.abs(seen - torque)
    assert 0.0249 < error.max() <= 0.025 + 1e-12
    same = imperfections_of(torque_resolution=0.0)
    np.testing.assert_array_equal(same.quantise_torque(torque[0]), torque[0])


def test_friction_falls_by_the_share_with_its_time_constant_and_returns_at_rest():
    drive = imperfections_of(warming=0.2, warming_time=4.0, stribeck_velocity=0.1)
    warm = [drive.friction(np.array([-0.5]))[0] for _ in range(round(40.0 / PERIOD))]
    assert warm[round(4.0 / PERIOD) - 1] == pytest.approx(1.0 - 0.2 * (1.0 - np.exp(-1.0)))
    assert warm[-1] == pytest.approx(0.8, abs=1e-4)
    cold = [drive.friction(np.array([0.05]))[0] for _ in range(round(4.0 / PERIOD))]
    assert cold[-1] == pytest.approx(1.0 - 0.2 * np.exp(-1.0), abs=1e-4)


def test_cycles_jitter_by_the_share_and_do_not_drift():
    drive = imperfections_of(jitter=0.05)
    late = np.array([drive.late() for _ in range(20000)])
    assert late.std() == pytest.approx(0.05, rel=0.03)
    assert abs(late.mean()) < 0.002 and np.abs(late).max() <= 0.15 + 1e-12
    assert np.corrcoef(late[1:], late[:-1])[0, 1] == pytest.approx(0.0, abs=0.03)
    assert imperfections_of().late() == 0.0


def cycles(jitter, **values):
    """Times of samples and of the plant from the first sample on, and positions of a pendulum."""
    cell = RobotCell(config(pendulum(), cycle_jitter=jitter, encoder_bits=40, **IDEAL, **values))
    first = cell.late
    rows = []
    for _ in range(1, 400):
        state = cell.step([0.0], [0.0])
        rows.append((state.time - first, cell.plant.data.time, state.position[0]))
    return np.array(rows).T


def test_plant_and_stamps_have_the_same_unsteady_cycles_with_the_exact_mean_period():
    stamps, plant, _ = cycles(0.05)
    np.testing.assert_allclose(stamps, plant, atol=1e-9)
    lengths = np.diff(stamps)
    # the difference of two independent instants
    assert lengths.std() == pytest.approx(np.sqrt(2.0) * 0.05 * PERIOD, rel=0.1)
    assert np.abs(stamps - PERIOD * np.arange(1, 400)).max() <= 0.3 * PERIOD + 1e-12
    np.testing.assert_allclose(cycles(0.0)[0], PERIOD * np.arange(1, 400), rtol=1e-12)


def test_the_drives_know_the_length_of_their_cycles():
    """At constant speed, jitter changes the torque by far less than that of wrong velocities."""
    values = {'velocity_bandwidth': 25.0, 'position_bandwidth': 1.6}
    cell = RobotCell(
        config(pendulum('0 0 1'), cycle_jitter=0.05, encoder_bits=40, **IDEAL, **values)
    )
    torque = [cell.step([PERIOD * k], [0.0]).torque[0] for k in range(900)][500:]
    wrong = np.sqrt(2.0) * 0.05 * cell.drives.velocity_gain[0]  # at 1 rad/s
    assert np.std(torque) < 0.05 * wrong


def test_same_seed_same_imperfections_also_after_a_reset():
    values = {'jitter': 0.05, 'torque_ripple': 0.02}
    first, other = imperfections_of(seed=1, **values), imperfections_of(seed=2, **values)
    at = np.array([0.2])
    rows = [(first.late(), first.ripple(at)[0]) for _ in range(5)]
    first.reset()
    assert rows == [(first.late(), first.ripple(at)[0]) for _ in range(5)]
    assert rows != [(other.late(), other.ripple(at)[0]) for _ in range(5)]
