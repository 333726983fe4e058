# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from additive_torque import AdditiveTorque
from control_arm import CELL, six_axis_cell, wave

from robodyn_ros.analysis.delay import (
    DelayEstimate,
    Samples,
    delay_estimate,
    delay_findings,
    position_lags,
)
from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array

PERIOD = 0.002
NAMES = tuple(f'joint{number + 1}' for number in range(6))


def estimated(command: Array, measured: Array, period: float = PERIOD) -> DelayEstimate:
    time = period * np.arange(len(command))
    names = NAMES[: command.shape[1]]
    lags = position_lags(Samples(time, command), Samples(time, measured), names, period=period)
    return delay_estimate(lags)


def codes(estimate: DelayEstimate, configured: int | None) -> list[str]:
    return [finding.code for finding in delay_findings(estimate, configured)]


class Run:
    """The six-axis cell with noise, friction and a delay of its own, with additive torque."""

    def __init__(self, true: int, configured: int | None, seconds: float = 2.0) -> None:
        # loops of 1.6 Hz hide a delay of cycles
        config = CellConfig.from_yaml(CELL, profile='ideal')
        cell = RobotCell(replace(config, command_delay=true))
        self.command = wave(seconds, seed=true, joints=6)
        qd = np.gradient(self.command, PERIOD, axis=0)
        qdd = np.gradient(qd, PERIOD, axis=0)
        law = None
        if configured is not None:
            settings = FeedforwardSettings(
                joints=NAMES, max_torque=2000.0, additive_torque_delay=configured
            )
            law = AdditiveTorque(torque=six_axis_cell()[1], settings=settings)
        self.measured, self.applied = np.zeros((2, *self.command.shape))
        for row, motion in enumerate(zip(self.command, qd, qdd, strict=True)):
            self.measured[row] = cell.state.position
            if law is not None:
                self.applied[row] = law.update(*motion)
            cell.step(motion[0], self.applied[row])


def test_the_cells_delay_is_found_before_any_torque_is_switched_on() -> None:
    true = 5
    run = Run(true, None)
    estimate = estimated(run.command, run.measured)
    assert estimate.setting == true
    assert estimate.cycles == pytest.approx(true, abs=0.1)
    assert codes(estimate, None) == ['delay']


@pytest.mark.parametrize(('configured', 'code'), [(3, 'delay'), (6, 'delay_wrong')])
def test_a_delay_set_wrong_is_pointed_out_while_the_torque_acts(
    configured: int, code: str
) -> None:
    run = Run(3, configured)
    estimate = estimated(run.command, run.measured)
    assert estimate.setting == 3
    finding, *others = delay_findings(estimate, configured)
    assert finding.code == code
    assert not others
    if configured != 3:
        assert 'the torque comes too late, by 3 cycles' in finding.text
        assert 'Set additive_torque_delay to 3' in finding.remedy


@pytest.mark.parametrize('lag', [0.5, 3.2, 17.4])
def test_any_lag_is_found_between_samples_beside_noise(lag: float) -> None:
    time = PERIOD * np.arange(3000)[:, None]
    phase = np.array([0.0, 1.0])

    def motion(at: Array) -> Array:
        return np.asarray(0.4 * np.sin(2.0 * np.pi * 0.7 * at + phase))

    noise = 1e-5 * np.random.default_rng(1).normal(size=(3000, 2))
    estimate = estimated(motion(time), motion(time - lag * PERIOD) + 0.01 + noise)
    for found in estimate.lags:
        assert found.cycles == pytest.approx(lag, abs=max(0.02, 4.0 * found.error))
        assert 1e-6 < found.error < 0.05
    assert estimate.cycles == pytest.approx(lag - 0.5, abs=0.05)


def test_a_delay_between_two_settings_fits_both() -> None:
    estimate = DelayEstimate((), 2.5)
    assert codes(estimate, 2) == codes(estimate, 3) == ['delay']
    assert codes(estimate, 1) == codes(estimate, 4) == ['delay_wrong']


@pytest.mark.parametrize('kind', ['still', 'constant velocity', 'noise', 'other motion', 'loose'])
def test_a_motion_that_does_not_tell_is_said_to(kind: str) -> None:
    random = np.random.default_rng(2)
    count = 2000
    time = PERIOD * np.arange(count)[:, None]
    command = {
        'still': np.zeros((count, 1)),
        'constant velocity': 0.1 * time,
        'noise': 1e-4 * np.sin(3.0 * time),
        'other motion': np.sin(3.0 * time),
        'loose': np.sin(3.0 * time),
    }[kind]
    measured = np.cos(5.0 * time) if kind == 'other motion' else command
    if kind == 'loose':
        measured = measured + 0.3 * np.sin(7.0 * time)
    measured = measured + 1e-4 * random.normal(size=(count, 1))
    estimate = estimated(command, measured)
    assert estimate.setting is None
    assert codes(estimate, 3) == ['delay_unknown']


def test_a_joint_that_stands_still_leaves_it_to_the_others_and_one_that_differs_is_named() -> None:
    time = PERIOD * np.arange(3000)[:, None]
    lags = np.array([3.5, 3.5, 3.5, 6.5]) * PERIOD
    size = np.array([0.5, 0.5, 0.0, 0.5])
    noise = 1e-6 * np.random.default_rng(3).normal(size=(3000, 4))
    measured = size * np.sin(4.0 * (time - lags)) + noise
    estimate = estimated(size * np.sin(4.0 * time) + 0.0 * lags, measured)
    assert [lag.certain for lag in estimate.lags] == [True, True, False, True]
    assert estimate.setting == 3
    differing = [f for f in delay_findings(estimate, 3) if f.code == 'delay_differs']
    assert [f.joint for f in differing] == ['joint4']


def test_signals_that_do_not_overlap_are_refused() -> None:
    values = np.zeros((400, 1))
    early, late = (Samples(PERIOD * np.arange(400) + at, values) for at in (0.0, 5.0))
    with pytest.raises(ControlError, match=r'overlap for 160 samples .* got 0'):
        position_lags(early, late, ['a'], period=PERIOD)
