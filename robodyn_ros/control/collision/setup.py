# SPDX-License-Identifier: Apache-2.0
"""Detector of the parameters of a collision monitor, for the node and for a replay."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.states.payload_change import PayloadChange
from robodyn_ros.control.collision.thresholds_file import LearnedThresholds, read_thresholds
from robodyn_ros.control.robot_check import rated_torque
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.paths import resource


def load_thresholds(file: str, model: IdentifiedModel) -> LearnedThresholds | None:
    """Return the thresholds of a file, or None without one.

    :raises ControlError: the file cannot be used, or belongs to another model
    """
    if not file:
        return None
    learned = read_thresholds(resource(file))
    learned.check_model(model.loaded_hash, model.joints, file)
    return learned


def collision_settings(
    joints: Sequence[str], options: Mapping[str, Any], learned: LearnedThresholds | None = None,
    refused: Collection[str] = (),
) -> CollisionSettings:  # fmt: skip
    """Return the settings of the detector.

    :param options: fields of `CollisionSettings`; a list of one value is for all joints
    :param learned: thresholds that replace the constant ones, with their filters and period
    :param refused: names of joints that are not monitored
    :raises ControlError: values that cannot be used
    """
    values = {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value
        for name, value in options.items()
    }
    if values['torque_error_enable'] in (True, False):
        values['torque_error_enable'] = [values['torque_error_enable']] * len(joints)
    if values['contact_threshold'] == 0.0:
        values['contact_threshold'] = None
    if learned is not None:
        values |= {'max_torque_error': 1.0, 'contact_threshold': None, **learned.detector}
    elif values['max_torque_error'] == 0.0:
        raise ControlError(
            'there are no thresholds: learn them with `robodyn thresholds` and give its file as '
            'the parameter thresholds, or give max_torque_error, also in the robot file'
        )
    settings = CollisionSettings(joints=joints, **values)
    chosen = zip(settings.enabled.tolist(), joints, strict=True)
    enabled = [on and name not in refused for on, name in chosen]
    return replace(settings, torque_error_enable=enabled)


def build_detector(
    model: IdentifiedModel, torque: ModelTorque, settings: CollisionSettings,
    learned: LearnedThresholds | None, payload: PayloadChange | None = None,
) -> TorqueErrorDetector:  # fmt: skip
    """Return the detector of a model.

    :param torque: of the model, with the parameter values in use
    :param payload: of which changes are no collision; None: none
    :raises ControlError: settings that do not fit it
    """
    thresholds = None if learned is None else learned.thresholds(settings.enabled)
    rated = rated_torque(model)[0]
    return TorqueErrorDetector(
        torque=torque, settings=settings, thresholds=thresholds, rated=rated, payload=payload
    )
