"""Thresholds for the torque-error detector, proposed from a healthy recording."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robodyn_ros.control.collision import TorqueErrorDetector
from robodyn_ros.control.collision_settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording

LEAST_SLOWNESS = 0.3
"""Below it a joint counts as moving: hardly any of the extra torque is left."""

POSITIONS = 1000
"""Positions of a recording at which the load at rest is computed."""


@dataclass(frozen=True)
class ThresholdProposal:
    """Thresholds per joint, shape (n,), in [Nm] or [N]; names as in `CollisionSettings`.

    :param largest_error: largest filtered torque error while moving
    :param largest_slow_error: the same around standstill
    :param samples: settled samples they come from
    """

    joints: tuple[str, ...]
    max_torque_error: Array
    contact_threshold: Array
    low_velocity_torque: Array
    largest_error: Array
    largest_slow_error: Array
    samples: int

    def applied_to(self, settings: CollisionSettings) -> CollisionSettings:
        """Return the settings with these thresholds."""
        return replace(
            settings,
            max_torque_error=self.max_torque_error,
            contact_threshold=self.contact_threshold,
            low_velocity_torque=self.low_velocity_torque,
        )


def propose_thresholds(
    recording: Recording,
    torque: ModelTorque,
    settings: CollisionSettings,
    *,
    contact_factor: float = 1.3,
    collision_factor: float = 1.6,
    least: Array | float = 0.0,
) -> ThresholdProposal:
    """Propose thresholds: the largest torque error of a healthy motion times a factor.

    The recording runs through the detector itself, sample by sample. It must hold no contact
    and should move like the work to be monitored: what it does not show cannot be covered.
    Around standstill the friction may be anything up to Coulomb friction in either direction,
    so that much is allowed there whatever the recording shows.

    :param settings: filters and velocities to use; its thresholds do not matter
    :param contact_factor: contact threshold over largest error, at least 1
    :param collision_factor: collision threshold over largest error, at least contact_factor
    :param least: smallest max_torque_error to propose, (n,) or one number, in [Nm] or [N]
    :raises ControlError: factors out of order, no velocities, other joints, or no settled sample
    """
    if not 1.0 <= contact_factor <= collision_factor:
        raise ControlError(
            f'expected 1 <= contact_factor <= collision_factor, got {contact_factor} and '
            f'{collision_factor}'
        )
    fast, slow, samples = _largest_errors(recording, torque, settings)
    tiny = np.finfo(float).tiny
    collision = np.maximum(np.maximum(collision_factor * fast, least), tiny)
    contact = np.maximum(contact_factor / collision_factor * collision, tiny)
    # One extra serves both thresholds; the upper one needs the larger extra.
    slow = np.maximum(slow, _friction_at_rest(recording, torque))
    extra = np.maximum(collision_factor * slow - collision, 0.0)
    return ThresholdProposal(torque.joints, collision, contact, extra, fast, slow, samples)


def _friction_at_rest(recording: Recording, torque: ModelTorque) -> Array:
    """Largest static friction in the positions of a recording, shape (n,), in [Nm] or [N]."""
    every = max(1, len(recording.time) // POSITIONS)
    columns = [recording.joints.index(name) for name in torque.joints]
    q = recording.position[::every, columns]
    load = torque.load(q, np.zeros_like(q), np.zeros_like(q))
    if load is None:
        return torque.friction_step
    step: Array = torque.friction_step + torque.friction_step_per_load * load.max(axis=0)
    return step


def _largest_errors(
    recording: Recording, torque: ModelTorque, settings: CollisionSettings
) -> tuple[Array, Array, int]:
    """Largest torque error per joint while moving, around standstill, and the samples."""
    if recording.velocity is None:
        raise ControlError(f'{recording.source} has no velocities, which the detector needs')
    if missing := [name for name in torque.joints if name not in recording.joints]:
        raise ControlError(f'{recording.source} lacks joint {missing[0]}')
    columns = [recording.joints.index(name) for name in torque.joints]
    detector = TorqueErrorDetector(torque=torque, settings=settings)
    width = len(columns)
    largest = np.zeros((2, width))
    joint = np.arange(width)
    samples = 0
    signals = (recording.position, recording.velocity, recording.torque)
    rows = zip(recording.time, *(signal[:, columns] for signal in signals), strict=True)
    for time, q, qd, feedback in rows:
        detector.update(float(time), q, qd, feedback)
        if not detector.settled:
            continue
        size = np.abs(detector.torque_error)
        slowness = detector.slowness
        slow = slowness > LEAST_SLOWNESS
        # The extra torque acts in proportion to the slowness, so it must be the larger for it.
        size[slow] /= slowness[slow]
        kind = slow.astype(np.intp)
        largest[kind, joint] = np.maximum(largest[kind, joint], size)
        samples += 1
    if not samples:
        raise ControlError(
            f'{recording.source} has no sample that lasts beyond the settle time of '
            f'{settings.settle_time} s without a gap'
        )
    return largest[0], largest[1], samples
