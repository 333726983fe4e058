"""Torque that is not estimated: that of an identified arm, or of the deflection of gears."""

from __future__ import annotations

import numpy as np

from robodyn_ros.identification.fit.torque_errors import predict
from robodyn_ros.identification.gears.motor_side import gear_torque_of
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.segments import KnownTorque
from robodyn_ros.models.gear_torque import GearTorqueLaw
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording

Known = IdentifiedModel | GearTorqueLaw
"""Types of the argument `known` of `identify`."""


def known_torque(known: Known | None) -> KnownTorque | None:
    """Return the function that gives the torque of `known` at the samples of processed signals.

    The torque of an arm is that of its values without payload, with the torque of gear deflection
    where both the arm and the recording have it.
    """
    if known is None:
        return None
    arm = known if isinstance(known, IdentifiedModel) else None
    gears = known.residual if isinstance(known, IdentifiedModel) else known

    def torque(recording: Recording, signals: Processed) -> Array:
        total = np.zeros_like(signals.torque)
        if gears is not None:
            total += gear_torque_of(recording, signals, gears)
        if arm is not None:
            total += predict(arm.model, arm.values, signals)
        return total

    return torque
