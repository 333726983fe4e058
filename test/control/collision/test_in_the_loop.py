# SPDX-License-Identifier: Apache-2.0
"""Collision detection in the simulated cell: pushes are detected, other motions are not."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from control_arm import six_axis_cell, wave
from healthy_arm import with_thresholds

from robodyn_ros.analysis.collision_thresholds import propose_thresholds
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording

OK, CONTACT, COLLISION, UNKNOWN = Level.OK, Level.CONTACT, Level.COLLISION, Level.UNKNOWN


class PushedCell:
    """The six-axis cell (1 % torque noise, 19-bit encoders, Stribeck friction) and its pushes."""

    def __init__(self) -> None:
        self.cell, self.torque = six_axis_cell()
        self.base = CollisionSettings(
            joints=self.torque.joints, max_torque_error=1e6, low_velocity=0.1
        )
        recorded = self.record(wave(10.0, seed=1, joints=6))
        proposal = propose_thresholds(recorded, self.torque, self.base)
        self.settings = with_thresholds(self.base, proposal)

    def record(self, motion: Array) -> Recording:
        self.cell.reset()
        states = [self.cell.step(row, np.zeros(6)) for row in motion]
        columns = {
            name: np.array([getattr(state, name) for state in states])
            for name in ('time', 'position', 'velocity', 'torque')
        }
        return Recording(joints=self.torque.joints, **columns)

    def external_torque(self) -> Array:
        """Joint torque of what pushes the last link now, from MuJoCo's Jacobian, (6,)."""
        model, data = self.cell.plant.model, self.cell.plant.data
        body = int(model.jnt_bodyid[-1])
        jacobian, rotation = np.zeros((3, 6)), np.zeros((3, 6))
        mujoco.mj_jacBodyCom(model, data, jacobian, rotation, body)
        force = data.xfrc_applied[body]
        return np.asarray(jacobian.T @ force[:3] + rotation.T @ force[3:])

    def latency(self, motion: Array, at: int, margin: float) -> float:
        """Time from a joint torque `margin` above its threshold to the alarm, in [s]."""
        detector = TorqueErrorDetector(torque=self.torque, settings=self.settings)
        self.cell.reset()
        beginning = None
        for count, row in enumerate(motion[: at + 25]):
            state = self.cell.step(row, np.zeros(6))
            detector.update(state.time, state.position, state.velocity, state.torque)
            if count < at:
                assert not detector.latched, detector.message
            elif count == at:
                self.cell.push('', (100.0, 80.0, -90.0), (0.0, 0.0, 0.0), 0.2)
                ratio = np.max(np.abs(self.external_torque()) / detector.threshold)
                force = margin / ratio * np.array([100.0, 80.0, -90.0])
                self.cell._pushes.clear()
                self.cell.push('', force, (0.0, 0.0, 0.0), 0.2)
                beginning = state.time
            elif detector.latched:
                assert beginning is not None
                return float(state.time - beginning)
        raise AssertionError(f'not detected: {detector.torque_error} {detector.threshold}')


@pytest.fixture(scope='module')
def pushed_cell() -> PushedCell:
    return PushedCell()


def test_pushes_are_seen_within_20_ms(pushed_cell: PushedCell) -> None:
    seen = [
        pushed_cell.latency(wave(2.0, seed=seed, joints=6), at=400 + 61 * seed, margin=margin)
        for seed, margin in ((2, 1.25), (3, 1.25), (4, 1.5), (6, 4.0))
    ]
    assert max(seen) <= 0.020, seen


def test_no_false_alarm_on_other_motions(pushed_cell: PushedCell) -> None:
    detector = TorqueErrorDetector(torque=pushed_cell.torque, settings=pushed_cell.settings)
    pushed_cell.cell.reset()
    for row in wave(5.0, seed=11, joints=6):
        state = pushed_cell.cell.step(row, np.zeros(6))
        detector.update(state.time, state.position, state.velocity, state.torque)
        assert not detector.latched, (state.time, detector.message)
    assert detector.settled
