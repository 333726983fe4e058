# SPDX-License-Identifier: Apache-2.0
"""Collision thresholds proposed from a recording without contact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn_ros.analysis.thresholds.session import feed
from robodyn_ros.control.collision.constant_thresholds import ConstantThresholds
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording

MOVING_SLOWNESS = 0.3
"""Largest slowness (0 to 1) of a joint that counts as moving. Errors of slower joints are divided
by their slowness, so the bound also limits that factor."""


@dataclass(frozen=True)
class ThresholdProposal:
    """Thresholds per joint, shape (n,), in [Nm] or [N]; names as in `CollisionSettings`.

    :param largest_error: largest filtered torque error while moving
    :param largest_slow_error: the same around standstill
    """

    joints: tuple[str, ...]
    max_torque_error: Array
    contact_threshold: Array
    low_velocity_torque: Array
    largest_error: Array
    largest_slow_error: Array
    samples: int

    def join(self, other: ThresholdProposal) -> ThresholdProposal:
        """Return thresholds that hold for the recordings of both proposals.

        Each has the same detector and factors. Around standstill, a joint may have as much
        torque error as the larger sum of `max_torque_error` and `low_velocity_torque`.
        """
        slow = [each.max_torque_error + each.low_velocity_torque for each in (self, other)]
        collision = np.maximum(self.max_torque_error, other.max_torque_error)
        return ThresholdProposal(
            self.joints,
            collision,
            np.maximum(self.contact_threshold, other.contact_threshold),
            np.maximum(*slow) - collision,
            np.maximum(self.largest_error, other.largest_error),
            np.maximum(self.largest_slow_error, other.largest_slow_error),
            self.samples + other.samples,
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

    The recording must be free of contact and should move like the work to be monitored. Around
    standstill the thresholds always allow Coulomb friction in either direction.

    :param settings: filters and velocities of the detector; its thresholds are ignored
    :param contact_factor: contact threshold relative to the largest error, at least 1
    :param collision_factor: collision threshold relative to the largest error, at least
        contact_factor
    :param least: smallest max_torque_error to propose, (n,) or one number, in [Nm] or [N]
    :raises ControlError: factors out of order, missing joints, or no settled sample
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
    # Both thresholds share the extra torque; the collision threshold needs more of it.
    slow = np.maximum(slow, friction_at(recording.select(torque.joints).position, torque))
    extra = np.maximum(collision_factor * slow - collision, 0.0)
    return ThresholdProposal(torque.joints, collision, contact, extra, fast, slow, samples)


def friction_at(position: Array, torque: ModelTorque) -> Array:
    """Return the largest static friction over positions (N, n), shape (n,), in [Nm] or [N].

    It is half the jump of friction between both directions: at rest, friction can hold any torque
    up to it, either way.
    """
    every = max(1, len(position) // 1000)  # friction by load varies slowly with position
    q = position[::every]
    load = torque.load(q, np.zeros_like(q), np.zeros_like(q))
    if load is None:
        return torque.friction_step
    step: Array = torque.friction_step + torque.friction_step_per_load * load.max(axis=0)
    return step


def _largest_errors(
    recording: Recording, torque: ModelTorque, settings: CollisionSettings
) -> tuple[Array, Array, int]:
    """Return the largest torque errors while moving and around standstill, and the samples."""
    thresholds = ConstantThresholds(settings)
    detector = TorqueErrorDetector(torque=torque, settings=settings, thresholds=thresholds)
    joint = np.arange(len(torque.joints))
    largest, samples = np.zeros((2, len(joint))), 0
    for _ in feed(detector, recording):
        if not detector.settled:
            continue
        size = np.abs(detector.torque_error)
        slowness = thresholds.slowness
        slow = slowness > MOVING_SLOWNESS
        # The detector scales the extra torque by the slowness.
        size[slow] /= slowness[slow]
        kind = slow.astype(np.intp)
        largest[kind, joint] = np.maximum(largest[kind, joint], size)
        samples += 1
    if not samples:
        raise ControlError(
            f'{recording.source} has no settled sample: it needs more than the settle time of '
            f'{settings.settle_time} s without a gap'
        )
    return largest[0], largest[1], samples
