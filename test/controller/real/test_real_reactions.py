# SPDX-License-Identifier: Apache-2.0
"""Reaction `stop` of the collision monitor on the real joint_trajectory_controller, mock hardware.

The plugin's effort is what the mock reports as measured. A payload that only the plugin knows is
therefore a torque error of the monitor. It is positive at joint 2: it pushes the joint on while
all joints move away from zero, and against its motion on the way back.
"""

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from control_cell import PERIOD, PLUGIN, ControlCell, write_result
from control_checks import make_active
from controller_build import law_check
from node_process import EFFORT, NodeProcess, closed
from robodyn_ros.msg import CollisionState
from robodyn_ros.srv import SetPayload
from ros_client import HEARD, SilenceError, undisturbed

pytestmark = pytest.mark.ros
NUMBER = 49
PARAMETERS = {  # slow, because overruns of the mock's loop are jumps of its velocity
    **EFFORT, 'autostart': 'true', 'max_torque_error': '[100.0]', 'filter_cutoff': 5.0,
    'torque_error_enable': '[false, true, false, false, false, false]',
    'stale_timeout': 2.0, 'reaction': 'stop', 'velocity_window': '[0.01]',
}  # fmt: skip


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('reactions')
    *_, file = write_result(folder)
    parameters = {'max_payload': 100.0}
    with ControlCell(folder, file, number=NUMBER, parameters=parameters) as cell:
        yield cell


@pytest.fixture
def monitor(cell, tmp_path):
    make_active(cell)
    cell.move(3.0)  # to zero
    process = NodeProcess(
        'collision_monitor', NUMBER, tmp_path / 'log', PARAMETERS, params_file=cell.result
    )
    with closed(process):
        process.states = process.listen(CollisionState, 'collision_monitor/collision_state', HEARD)
        process.wait(lambda: process.states and max(process.states[-1].level) == 0, 'OK')
        yield process
        payload(cell, 0.0)


def payload(cell, mass):
    assert cell.call(SetPayload, f'{PLUGIN}/set_payload', SetPayload.Request(mass=mass)).success


def overrun(cell):
    """Return True if a cycle of the mock's loop was late."""
    numbers = np.array(sorted(cell.cycles))
    stamps = 1e-9 * np.array([cell.cycles[number].stamp for number in numbers])
    return bool((np.diff(stamps) > (np.diff(numbers) + 1) * PERIOD).any())


def go_back(cell, monitor, begin):
    """Stand at zero without an alarm again. While one is latched, there is no other reaction."""
    monitor.wait(lambda: 'the robot is at rest' in monitor.said()[begin:], 'rest')
    cell.move(3.0)
    assert monitor.reset().success
    del monitor.states[:]
    monitor.wait(lambda: monitor.states and not monitor.states[-1].latched, 'no alarm')


@undisturbed
def test_a_collision_cancels_the_goal_and_brings_the_robot_to_rest(cell, monitor):
    begin = len(monitor.said())
    cell.clear()
    cell.start(8.0)  # for half of this time all joints move away from zero
    ended = cell.goal.get_result_async()
    cell.go_on(5.5)
    monitor.spin(0.05)
    latched = any(row.latched for row in monitor.states)
    if latched and overrun(cell):
        go_back(cell, monitor, begin)
        raise SilenceError('the loop of the mock was late, which is a jump of its velocity')
    assert not latched, 'no collision before'
    cell.clear()
    payload(cell, 70.0)
    cell.wait(ended.done, 'the end of the goal')
    assert ended.result().status == GoalStatus.STATUS_CANCELED
    monitor.wait(lambda: 'the robot is at rest' in monitor.said()[begin:], 'rest')
    cell.go_on(0.5)  # also what came meanwhile
    cell.wait(lambda: not cell.references[max(cell.references)][1].any(), 'standstill')
    stamps = np.array(sorted(cell.references))
    position, velocity, _ = np.array([cell.references[stamp] for stamp in stamps]).swapaxes(0, 1)
    assert not velocity[-1].any() and position[-1].min() > 0.05
    speed = np.abs(np.diff(position, axis=0)) / (1e-9 * np.diff(stamps)[:, None])
    back = (position[-1] - position).max()
    print(f'back by {back:.4f} rad, at most {speed.max():.2f} rad/s')
    assert speed.max() < 3.0, 'no jump of the position'
    assert back < 0.01, 'from the collision on it only brakes'
