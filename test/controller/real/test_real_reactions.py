# SPDX-License-Identifier: Apache-2.0
"""A reaction of the collision monitor on the real joint_trajectory_controller, mock hardware.

The plugin's effort is what the mock reports as measured. A payload that only the plugin knows is
therefore a torque error of the monitor.
"""

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from control_cell import PLUGIN, ControlCell, write_result
from control_checks import make_active
from controller_build import law_check
from node_process import EFFORT, NodeProcess, closed
from robodyn_ros.msg import CollisionState
from robodyn_ros.srv import SetPayload
from ros_client import HEARD

pytestmark = pytest.mark.ros
NUMBER = 49
PARAMETERS = {  # slow, because overruns of the mock's loop are jumps of its velocity
    **EFFORT, 'autostart': 'true', 'max_torque_error': '[100.0]', 'filter_cutoff': 5.0,
    'torque_error_enable': '[false, true, false, false, false, false]',
    'stale_timeout': 2.0, 'reaction': 'stop', 'velocity_window': '[0.01]',
}  # fmt: skip


@pytest.fixture
def cell(tmp_path):
    law_check()  # skips where the plugin was not built
    *_, file = write_result(tmp_path)
    with ControlCell(tmp_path, file, number=NUMBER, parameters={'max_payload': 100.0}) as cell:
        yield cell


def test_a_collision_cancels_the_goal_and_brings_the_robot_to_rest(cell, tmp_path):
    make_active(cell)
    process = NodeProcess(
        'collision_monitor',
        NUMBER,
        tmp_path / 'monitor',
        PARAMETERS,
        params_file=cell.result,
        simulated=False,
    )
    with closed(process):
        states = process.listen(CollisionState, 'collision_monitor/collision_state', HEARD)
        process.wait(lambda: states and max(states[-1].level) == 0, 'OK')
        cell.start(8.0)
        ended = cell.goal.get_result_async()
        cell.go_on(1.5)
        process.spin(0.05)
        assert not any(row.latched for row in states), 'no collision before'
        cell.clear()
        request = SetPayload.Request(mass=70.0)
        assert cell.call(SetPayload, f'{PLUGIN}/set_payload', request).success
        cell.wait(ended.done, 'the end of the goal')
        assert ended.result().status == GoalStatus.STATUS_CANCELED
        process.wait(lambda: 'the robot is at rest' in process.said(), 'rest')
        cell.wait(lambda: not cell.references[max(cell.references)][1].any(), 'standstill')
        position = np.array([cell.references[stamp][0] for stamp in sorted(cell.references)])
        stamps = 1e-9 * np.array(sorted(cell.references))
        assert position[-1].min() > 0.05, 'it stands where it was stopped'
        speed = np.abs(np.diff(position, axis=0)) / np.diff(stamps)[:, None]
        assert speed.max() < 3.0, 'no jump of the position'
