# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node `collision_monitor`, as tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from robodyn_ros.control.checks import per_joint
from robodyn_ros.control.collision.settings import MOST_DEBOUNCE, RESIDUALS, CollisionSettings
from robodyn_ros.control.collision.thresholds_file import LearnedThresholds, read_thresholds
from robodyn_ros.errors import ControlError
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.collision_monitor.reactions.robot_motion import KINDS
from robodyn_ros.nodes.robot.model_node import Row, single
from robodyn_ros.nodes.robot.publish_rate import RATE_RANGE, STATE_RATE
from robodyn_ros.paths import resource

SOURCES = ('feedback', 'reference')
FIXED: dict[str, Any] = {'read_only': True}
LIMITS: dict[str, Any] = {'read_only': True, 'minimum': 0.0}
EACH = 'one value or one per joint'
DETECTOR: tuple[Row, ...] = (
    ('torque_error_enable', [True], f'monitored joints; {EACH}', FIXED),
    ('max_torque_error', [0.0], f'collision above it [Nm or N]; {EACH}', LIMITS),
    ('contact_threshold', [0.0], f'contact above it [Nm or N]; {EACH}; 0: 70 % of '
     'max_torque_error', LIMITS),
    ('torque_error_filter', 0.5, 'TE = filter * current + (1 - filter) * previous',
     {**LIMITS, 'maximum': 1.0}),
    ('low_velocity', [0.1], f'friction is uncertain below it [rad/s or m/s]; {EACH}', LIMITS),
    ('low_velocity_torque', [0.0], f'added to the thresholds there [Nm or N]; {EACH}', LIMITS),
    ('low_velocity_hold', 0.05, 'time in which that fades after standstill [s]', LIMITS),
    ('period', 0.002, 'period of the joint states [s]', {**LIMITS, 'maximum': 0.1}),
    ('residual', 'filtered', f'method of the torque error: {" or ".join(RESIDUALS)}', FIXED),
    ('observer_bandwidth', 15.0, 'residual observer: its bandwidth [Hz]', LIMITS),
    ('filter_cutoff', 40.0, 'low pass of position, velocity and torque [Hz]', LIMITS),
    ('debounce', 2, 'consecutive samples above a threshold that set a level',
     {**FIXED, 'minimum': 1, 'maximum': MOST_DEBOUNCE}),
    ('settle_time', 0.1, 'time of UNKNOWN after a start or gap [s]', LIMITS),
    ('stale_timeout', 0.05, 'time without a valid sample until UNKNOWN [s]',
     {**FIXED, 'minimum': 0.002, 'maximum': 10.0}),
    ('frozen_timeout', 0.2, 'time of constant values until UNKNOWN [s]; 0: not checked', LIMITS),
)  # fmt: skip
"""Fields of `CollisionSettings`: name, default, description, range. A new one is a row."""
NODE: tuple[Row, ...] = (
    ('motion_source', 'feedback', 'motion for the model torque: feedback (joint_states) or '
     'reference (~/reference, delayed)', FIXED),
    ('additive_torque_delay', 3, 'motion_source reference: cycles between a command and its '
     'effect', {**FIXED, 'minimum': 0, 'maximum': 1000}),
    ('thresholds', '', 'file of `robodyn thresholds`; it replaces the thresholds above, residual, '
     'filters, debounce and period', FIXED),
    ('collision_state_rate', STATE_RATE, 'how often ~/collision_state is published [Hz]; changes '
     'of levels at once; 0: for each sample', RATE_RANGE),
    ('sensitivity', 1.0, 'divides all thresholds; may be set at run time',
     {'minimum': 0.5, 'maximum': 2.0}),
)  # fmt: skip
"""Parameters of the node, in the same form."""
REACTIONS = ('warn', *KINDS, 'drop_feedforward', 'stop_service')
SHARE = {**FIXED, 'minimum': 0.001, 'maximum': 1.0}
REACTION: tuple[Row, ...] = (
    ('reaction', ['warn'], f'reactions to a collision: {", ".join(REACTIONS)}; one at most of '
     f'{", ".join(KINDS)}', FIXED),
    ('on_unknown', 'warn', 'loss of valid data while the robot moves: stop (start the reactions) '
     'or warn', FIXED),
    ('stop_service', '', 'std_srvs/Trigger that is called at a collision', FIXED),
    ('controller', 'joint_trajectory_controller', 'controller whose goals hold, brake and retract '
     'cancel, and that they command; its controller_state tells when the reference rests', FIXED),
    ('enable_service', 'feedforward/enable', 'std_srvs/SetBool that drop_feedforward calls with '
     'false', FIXED),
    ('retry_period', 0.2, 'time between attempts until a reaction is acknowledged [s]',
     {**FIXED, 'minimum': 0.02, 'maximum': 10.0}),
    ('retract_distance', [0.05], f'farthest that a joint goes back [rad or m]; {EACH}',
     {**FIXED, 'minimum': 0.001, 'maximum': 1.0}),
    ('joint_limits', '', "limits of hold, brake and retract: file in the form of MoveIt's "
     'joint_limits.yaml, on top of the URDF of the model', FIXED),
    ('velocity_scaling', 1.0, 'share of the velocity limits that retract may use', SHARE),
    ('acceleration_scaling', 1.0, 'share of the acceleration limits for these motions', SHARE),
)  # fmt: skip
"""Parameters of the reactions, in the same form."""

BLACK_BOX: tuple[Row, ...] = (
    ('black_box_directory', '', 'folder for events: recordings around reactions; empty: none',
     FIXED),
    ('black_box_size', 500.0, 'largest size of all events [MB]; the oldest are deleted first',
     {**FIXED, 'minimum': 1.0}),
    ('black_box_before', 10.0, 'recorded time before a reaction [s]',
     {**FIXED, 'minimum': 1.0, 'maximum': 60.0}),
    ('black_box_after', 5.0, 'recorded time after a reaction [s]', {**LIMITS, 'maximum': 60.0}),
)  # fmt: skip
"""Parameters of the black box, in the same form."""


def each(name: str, value: Any, joints: Sequence[str]) -> Array:
    """Return one value per joint, shape (n,), of a parameter.

    :raises ControlError: a wrong number of values, or one that is not above 0
    """
    return per_joint(name, single(value), joints)


def learned_thresholds(file: str, model: IdentifiedModel) -> LearnedThresholds | None:
    """Return the thresholds of a file, or None without one.

    :raises ControlError: the file cannot be used, or belongs to another model
    """
    if not file:
        return None
    learned = read_thresholds(resource(file))
    learned.check_model(model.loaded_hash, model.joints, file)
    return learned


def collision_settings(
    joints: Sequence[str],
    options: Mapping[str, Any],
    learned: LearnedThresholds | None = None,
    refused: Collection[str] = (),
) -> CollisionSettings:
    """Return the settings of the detector.

    :param options: values of the parameters of `DETECTOR`; a list of one value is for all joints
    :param learned: thresholds that replace the constant ones, with their residual and period
    :param refused: names of joints that are not monitored
    :raises ControlError: values that cannot be used
    """
    values = {name: single(value) for name, value in options.items()}
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
    if not refused:
        return settings
    enabled = [
        on and name not in refused for on, name in zip(settings.enabled, joints, strict=True)
    ]
    return replace(settings, torque_error_enable=[bool(on) for on in enabled])
