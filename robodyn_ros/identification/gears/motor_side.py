# SPDX-License-Identifier: Apache-2.0
"""Motor side of a recording with double encoders: deflection of the gears and motor velocity."""

from __future__ import annotations

import numpy as np

from robodyn_ros.identification.signals.grid import on_grid
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.gear_torque import GearTorqueLaw
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import central_differences, low_pass


def motor_side(recording: Recording, cutoff: float) -> tuple[Array, Array, Array]:
    """Return deflection, its rate and the motor's velocity, each (N, n), joint side.

    Filtered and differentiated like the position of the link, so that both fit together; with
    `cutoff` 0 they are taken as they are, and velocities of the recording if it has both.

    :param cutoff: of the low pass, in [Hz]
    """
    assert recording.motor_position is not None
    if not cutoff and recording.velocity is not None and recording.motor_velocity is not None:
        speed = recording.motor_velocity
        deflection = recording.motor_position - recording.position
        return deflection, speed - recording.velocity, speed
    uniform, _, _ = on_grid(recording)
    motor = uniform.motor_position
    assert motor is not None
    signals = np.hstack([motor - uniform.position, motor])
    if cutoff:
        signals = low_pass(signals, cutoff, 1.0 / uniform.period)
    rates = central_differences(signals, uniform.time)
    count = len(recording.joints)
    rows = nearest_samples(uniform.time, recording.time)
    return signals[rows, :count], rates[rows, :count], rates[rows, count:]


def nearest_samples(time: Array, wanted: Array) -> Array:
    """Return the index of the sample nearest to each wanted time."""
    after = np.clip(np.searchsorted(time, wanted), 1, len(time) - 1)
    return np.asarray(after - (wanted - time[after - 1] < time[after] - wanted))


def gear_torque_of(recording: Recording, signals: Processed, torque: GearTorqueLaw) -> Array:
    """Return the torque of gear deflection (N, n) at the samples of processed signals.

    It is zero for a recording without motor side.
    """
    if recording.motor_position is None:
        return np.zeros_like(signals.torque)
    result = torque.torque(*motor_side(recording, torque.cutoff))
    return np.asarray(result[nearest_samples(recording.time, signals.time)])
