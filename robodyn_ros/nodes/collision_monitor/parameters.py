# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node `collision_monitor`, as tables."""

from __future__ import annotations

from typing import Any

from robodyn_ros.control.collision.settings import MOST_DEBOUNCE
from robodyn_ros.nodes.robot.model_node import Row
from robodyn_ros.nodes.robot.publish_rate import RATE_RANGE, STATE_RATE

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
    ('thresholds', '', 'file of `robodyn thresholds`; it replaces the thresholds above, filters, '
     'debounce and period', FIXED),
    ('collision_state_rate', STATE_RATE, 'how often ~/collision_state is published [Hz]; changes '
     'of levels at once; 0: for each sample', RATE_RANGE),
    ('sensitivity', 1.0, 'divides all thresholds; may be set at run time',
     {'minimum': 0.5, 'maximum': 2.0}),
    ('adopt_payload', 0.0, 'a change of the torque error like that of a payload of at most this '
     'mass is a contact, and then the payload of the model [kg]; 0: it is a collision', LIMITS),
    ('max_mute', 10.0, 'longest mute of reactions [s]',
     {**FIXED, 'minimum': 0.0, 'maximum': 600.0}),
    ('on_unknown', 'warn', 'loss of valid data while the robot moves: stop (start the reactions) '
     'or warn', FIXED),
)  # fmt: skip
"""Parameters of the node, in the same form."""
STOPS = ('none', 'stop')
REACTION: tuple[Row, ...] = (
    ('reaction', 'none', 'reaction to a collision: stop (cancel the goals of the controller, and '
     'command it to brake) or none; in addition, stop_service is called', FIXED),
    ('stop_service', '', 'std_srvs/Trigger that is called at a collision; empty: none', FIXED),
    ('controller', 'joint_trajectory_controller', 'controller whose goals reaction stop cancels, '
     'and that it commands; its controller_state tells when the reference rests', FIXED),
    ('retry_period', 0.2, 'time between attempts until a reaction is acknowledged [s]',
     {**FIXED, 'minimum': 0.02, 'maximum': 10.0}),
    ('joint_limits', '', "acceleration limits of reaction stop: file in the form of MoveIt's "
     'joint_limits.yaml, on top of the URDF of the model', FIXED),
    ('acceleration_scaling', 1.0, 'share of the acceleration limits that reaction stop uses',
     {**FIXED, 'minimum': 0.001, 'maximum': 1.0}),
)  # fmt: skip
"""Parameters of the reactions, in the same form."""
BLACK_BOX: tuple[Row, ...] = (
    ('black_box_directory', '', 'folder for events: a bag of the time around each reaction; '
     'empty: none', FIXED),
    ('black_box_size', 500.0, 'largest size of all events [MB]; the oldest are deleted first',
     {**FIXED, 'minimum': 1.0}),
    ('black_box_before', 10.0, 'recorded time before a reaction [s]',
     {**FIXED, 'minimum': 1.0, 'maximum': 60.0}),
    ('black_box_after', 5.0, 'recorded time after a reaction [s]', {**LIMITS, 'maximum': 60.0}),
)  # fmt: skip
"""Parameters of the black box, in the same form."""
