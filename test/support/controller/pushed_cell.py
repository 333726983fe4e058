# SPDX-License-Identifier: Apache-2.0
"""The real ros2_control, whose mock hardware reports efforts that a test commands.

A forward_command_controller commands the effort that the mock hardware reports as measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from control_cell import JOINTS, PLUGIN, ControlCell
from control_checks import BOTH, make_active
from robodyn_ros.msg import CollisionState
from std_msgs.msg import Float64MultiArray

EFFORT = 'measured_effort'
PARAMETERS: dict[str, Any] = {
    'effort_interface': 'additive', 'collision.reaction': 'drop_torque',
    'collision.frozen_timeout': 0.0, 'torque_threshold': [1000.0],
}  # fmt: skip


@contextmanager
def pushed_cell(
    folder: Path, result: tuple[Any, Any, Path], number: int, parameters: dict[str, Any]
) -> Iterator[ControlCell]:
    """Start it, with the plugin's monitor.

    :param result: of `write_result`
    :param parameters: of the plugin, in addition to PARAMETERS
    """
    model, values, file = result
    given = PARAMETERS | parameters
    with ControlCell(folder, file, number=number, parameters=given, command='additive') as cell:
        cell.weight = model.torque(*np.zeros((3, 1, 6)), values)[0]
        cell.collisions = []
        cell.node.create_subscription(
            CollisionState, f'{PLUGIN}/collision_state', cell.collisions.append, 1000
        )
        change = {'joints': JOINTS, 'interface_name': 'effort'}
        assert cell.load(EFFORT, change, 'forward_command_controller/ForwardCommandController')
        assert cell.configure(EFFORT)
        cell.switch(deactivate=BOTH)  # the mock starts no joint without its position
        cell.switch(activate=[EFFORT, *BOTH])
        cell.feedback = cell.node.create_publisher(Float64MultiArray, f'{EFFORT}/commands', 1)
        cell.wait(cell.feedback.get_subscription_count, 'the effort controller')
        cell.wait(lambda: cell.collisions, 'collision states')
        yield cell


def measure(cell: ControlCell, push: float = 0.0) -> None:
    """Let the drives report the torque that holds the robot, less a push on the second joint."""
    effort = cell.weight - np.array([0.0, push, 0.0, 0.0, 0.0, 0.0])
    cell.feedback.publish(Float64MultiArray(data=effort.tolist()))


def settle(cell: ControlCell) -> None:
    """Wait for OK with torque applied."""
    make_active(cell)
    measure(cell)
    cell.go_on(0.2)
    cell.reset()
    cell.wait(lambda: set(cell.collisions[-1].level) == {CollisionState.OK}, 'OK')
    assert cell.enable(True).success
    cell.go_on(0.4)
    assert np.abs(cell.last.applied).max() > 10.0 and not cell.last.fault
    cell.clear()
    cell.collisions.clear()
