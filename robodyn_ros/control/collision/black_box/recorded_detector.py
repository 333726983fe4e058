# SPDX-License-Identifier: Apache-2.0
"""Detector whose calls are recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn_ros.control.collision.black_box.call_ring import CallRing, Motion
from robodyn_ros.control.collision.black_box.detector_state import capture, restore
from robodyn_ros.control.collision.black_box.event import Setup
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.robot_check import rated_torque
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import Fault, RecordingError
from robodyn_ros.models.interface import Array
from robodyn_ros.wire.cursor import NANOSECONDS

State = dict[str, Any]
VALUES = 'model.values'
"""Path of the model's parameter values in a state."""


class RecordedDetector:
    """All calls that change a detector, the same for a node and for a replay.

    :ivar detector: with the results of the last call
    """

    def __init__(
        self,
        detector: TorqueErrorDetector,
        torque: ModelTorque,
        feedback: Callable[[Array], Array],
        ring: CallRing | None = None,
    ) -> None:
        """Store the objects.

        :param feedback: conversion of the effort to joint torque, in [Nm] or [N]
        :param ring: that stores the calls; None: they are not stored
        """
        self.detector, self._torque, self._feedback = detector, torque, feedback
        self.ring = ring
        self._calls: dict[str, Callable[[Any], object]] = {
            'lose': detector.lose,
            'rest': detector.rest,
            'reset': lambda _: detector.reset(),
            'set_values': self._set_values,
            'adjust': torque.set_values,
            'set_sensitivity': self._set_sensitivity,
        }

    def update(self, stamp: int, q: Array, qd: Array, effort: Array, motion: Motion) -> None:
        """Take a sample as received.

        :param stamp: in [ns]
        :param q: position, shape (n,), in [rad] or [m]; qd: velocity
        :param effort: shape (n,), in the unit of its declaration
        :param motion: position and velocity of the reference; None: those of the sample
        """
        ring = self.ring
        if ring is not None:
            self._prepare(ring)
            ring.put_sample(stamp, q, qd, effort, motion)
        seconds, rest = divmod(stamp, NANOSECONDS)
        self.detector.update(seconds + 1e-9 * rest, q, qd, self._feedback(effort), motion)
        if ring is not None:
            ring.put_result(self.detector)

    def call(self, name: str, argument: Any = None) -> None:
        """Make another call.

        :param name: lose, rest, reset, set_values, adjust (the same, where values differ so little
            that the torque error stays valid) or set_sensitivity
        :param argument: reason, whether the reference rests, None, parameter values of the model,
            or factor
        :raises RecordingError: there is no such call
        :raises ControlError: values that cannot be used
        """
        if name not in self._calls:
            raise RecordingError(f'the detector has no call {name!r:.40}')
        ring = self.ring
        if ring is not None:
            self._prepare(ring)
            ring.put_call(name, argument)
        self._calls[name](argument)
        if ring is not None:
            ring.put_result(self.detector)

    @property
    def values(self) -> Array:
        """Copy of the parameter values of the model in use, with its payload, shape (p,), SI."""
        return self._torque.values

    def state(self) -> State:
        """Copy the state of detector and model."""
        return {**capture(self.detector), VALUES: self._torque.values}

    def restore(self, state: State) -> None:
        """Continue from a state.

        :raises RobodynError: it is one of another detector or model
        """
        rest = dict(state)
        self._torque.set_values(rest.pop(VALUES, np.zeros(0)))
        restore(self.detector, rest)

    def _prepare(self, ring: CallRing) -> None:
        if ring.wants_state:
            ring.put_state(self.state())

    def _set_sensitivity(self, value: float) -> None:
        self.detector.sensitivity = value

    def _set_values(self, values: Any) -> None:
        self._torque.set_values(values)
        self.detector.lose(Fault('payload_changed', 'the payload was changed'))


def build_detector(setup: Setup, torque: ModelTorque | None = None) -> RecordedDetector:
    """Make the detector of a setup.

    :param torque: of its model, with the velocity window; None: it is made
    :raises RobodynError: the setup cannot be used
    """
    model, learned = setup.model, setup.thresholds
    effort = setup.effort.for_joints(model.model.joints)
    if torque is None:
        torque = ModelTorque(model.model, model.values, velocity_window=setup.velocity_window)
    torque.exclude_gravity(effort.gravity_excluded)
    thresholds = None if learned is None else learned.thresholds()
    detector = TorqueErrorDetector(
        torque=torque, settings=setup.settings, thresholds=thresholds,
        rated=rated_torque(model)[0],
    )  # fmt: skip
    return RecordedDetector(detector, torque, effort.feedback)
