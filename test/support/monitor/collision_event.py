# SPDX-License-Identifier: Apache-2.0
"""An event of the black box, as the collision monitor of the small arm writes it."""

from __future__ import annotations

from pathlib import Path

from healthy_arm import MODEL, PERIOD, VALUES, recorded

from robodyn_ros.control.collision.event_bag import EventSettings, Message, write_event
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.recording.bags.joint_state_bag import joint_state_topic
from robodyn_ros.wire.joint_state import encode_joint_states

PUSHED = 12.0
"""Time of the push in the recording, whose stamps start at 10 s."""
PARAMETERS = {
    'torque_error_enable': [True], 'max_torque_error': [4.0, 4.0], 'contact_threshold': [0.0],
    'torque_error_filter': 0.5, 'low_velocity': [0.1], 'low_velocity_torque': [1.0],
    'low_velocity_hold': 0.05, 'period': PERIOD,
    'filter_cutoff': 20.0, 'debounce': 2, 'settle_time': 0.1,
    'stale_timeout': 0.05, 'frozen_timeout': 0.2, 'velocity_window': [0.01], 'sensitivity': 1.0,
    'thresholds': '', 'motion_source': 'feedback',
}  # fmt: skip
"""Parameters of the node on which the detector depends."""


def write_collision(folder: Path, result: Path, push: float = 8.0) -> Path:
    """Write an event with a push of joint 2 at `PUSHED`; return its folder.

    :param folder: of all events
    :param result: file of the model
    :param push: in [Nm]
    """
    data = recorded(4.0, 3, {PUSHED: push})
    stamps = (1e9 * data.time).round().astype('int64')
    rows = encode_joint_states(
        MODEL.joint_names, stamps, data.position, data.velocity, data.torque
    )
    messages: list[Message] = [
        (0, stamp, row.tobytes()) for stamp, row in zip(stamps.tolist(), rows, strict=True)
    ]
    model = load_identified_model(result)
    settings = EventSettings(
        'collision at joint2', int(1e9 * PUSHED), str(result.absolute()), model.hash,
        VALUES.tolist(), PARAMETERS,
    )  # fmt: skip
    effort = EffortDeclaration.si(source='the test').metadata()
    return write_event(folder, settings, [joint_state_topic('/joint_states')], messages, effort)
