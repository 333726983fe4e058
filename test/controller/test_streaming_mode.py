# SPDX-License-Identifier: Apache-2.0
"""The Python node in streaming mode and a real forward_command_controller, mock hardware."""

import subprocess
import sys

import numpy as np
import pytest
from control_cell import ControlCell, nanoseconds, write_result
from node_process import EFFORT, NodeProcess, environment
from robodyn_ros.msg import TorqueState
from ros_client import HEARD

pytestmark = pytest.mark.ros
NUMBER = 44
BOTH = ['forward_effort_controller', 'joint_trajectory_controller']
LIMIT, RATE = 400.0, 4000.0
PARAMETERS = {
    **EFFORT, 'autostart': 'true', 'mode': 'streaming', 'state_timeout': 0.0,
    'max_torque': f'[{LIMIT}]', 'max_torque_rate': f'[{RATE}]', 'ramp_down_time': 0.1,
    'reference_timeout': 1.0, 'torque_state_rate': 0.0,
}  # fmt: skip
SENDER = """
import time
import numpy as np
import rclpy
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState

rclpy.init()
node = rclpy.create_node('sender')
publisher = node.create_publisher(JointState, 'feedforward/reference', 10)
message = JointState(name=[f'joint{k}' for k in range(1, 7)])
begin, step = time.time_ns(), 2_000_000
for count in range(60 * 500):
    stamp = begin + count * step
    time.sleep(max(0.0, 1e-9 * (stamp - time.time_ns())))
    angle = 4e-9 * (stamp - begin)
    message.header.stamp = Time(sec=stamp // 10**9, nanosec=stamp % 10**9)
    message.position = [0.5 * np.sin(angle)] * 6
    message.velocity = [2.0 * np.cos(angle)] * 6
    publisher.publish(message)
"""


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    folder = tmp_path_factory.mktemp('streaming_mode')
    *_, file = write_result(folder)
    with ControlCell(folder, file, number=NUMBER, way='streaming') as cell:
        node = NodeProcess('feedforward', NUMBER, folder / 'node', PARAMETERS, params_file=file)
        sender = None
        try:
            cell.torques = node.listen(TorqueState, 'feedforward/torque_state', HEARD)
            node.wait(lambda: node.enable(True).success, 'active')
            sender = subprocess.Popen([sys.executable, '-c', SENDER], env=environment(NUMBER))
            cell.feedforward = node
            cell.wait(lambda: np.abs(cell.effort).max() > 50.0, 'torque')
            yield cell
        finally:
            if sender is not None:
                sender.kill()
                sender.wait()
            node.close()


def heard(cell):
    """Stamps and efforts of the joint states, and the stamps of the references of these efforts.

    All stamps are in [s]; that of a reference is NaN where the node's message was lost.
    """
    stamps = 1e-9 * np.array(list(cell.efforts))
    efforts = np.array(list(cell.efforts.values()))
    said = np.array([row.additive_command for row in cell.torques])
    times = np.array([1e-9 * nanoseconds(row.header.stamp) for row in cell.torques])
    same = [np.abs(said - effort).max(axis=1) < 1e-12 for effort in efforts]
    asked = [times[one & (times <= now)] for one, now in zip(same, stamps, strict=True)]
    return stamps, efforts, np.array([one[-1] if one.size else np.nan for one in asked])


def check_rate(stamps, efforts, asked, *, rare=0.0, pause=0.0):
    """No step of the drives is above the rate, or only a rare one as after a pause [s].

    It is by the stamps of the states, which jitter. Commands that the machine held up come in a
    burst, of which the drives take the last one.
    """
    between = np.diff(stamps)[:, None] + 3 * 0.002
    steps = np.abs(np.diff(efforts, axis=0))
    fast = steps > RATE * between
    kept = not fast.any() or (fast.mean() < rare and (steps <= RATE * (between + pause)).all())
    assert kept


def test_the_drives_get_what_the_node_says_and_nothing_faster_than_its_rate(cell):
    cell.clear()
    del cell.torques[:]
    for _ in range(20):  # two clients, each in its turn
        cell.spin(0.1)
        cell.feedforward.spin(0.05)
    stamps, efforts, asked = heard(cell)
    assert np.isfinite(asked).mean() > 0.5, 'some messages are lost'
    assert np.ptp(efforts, axis=0).max() > 50.0 and np.abs(efforts).max() <= LIMIT
    check_rate(stamps, efforts, asked, rare=0.01, pause=0.05)


def test_a_controller_that_is_deactivated_keeps_its_torque_which_is_a_fault_until_reset(cell):
    cell.switch(deactivate=BOTH)
    cell.spin(0.5)
    assert np.abs(cell.effort).max() > 1.0, 'if not: docs/feedforward.md says that it stays'
    cell.feedforward.wait_for('torque is zero: /forward_effort_controller is not active')
    cell.switch(activate=BOTH)
    cell.come_to_zero()
    cell.spin(0.5)  # references come all the time
    assert not cell.effort.any() and not cell.feedforward.enable(True).success
    assert 'is not active' in cell.feedforward.reset().message
    assert cell.feedforward.enable(True).success
    cell.wait(lambda: np.abs(cell.effort).max() > 50.0, 'torque')


def test_torque_is_refused_while_the_controller_is_inactive(cell):
    assert cell.feedforward.enable(False).success
    cell.come_to_zero()
    cell.switch(deactivate=BOTH)
    cell.feedforward.wait(
        lambda: cell.torques[-1].delivery == TorqueState.NOT_DELIVERED, 'the state'
    )
    refused = cell.feedforward.enable(True)
    assert not refused.success
    assert 'ros2 control switch_controllers --activate' in refused.message
    cell.switch(activate=BOTH)
    cell.feedforward.wait(lambda: cell.feedforward.enable(True).success, 'the state')
    cell.wait(lambda: np.abs(cell.effort).max() > 50.0, 'torque')
    cell.feedforward.spin(1.0)  # two answers: the interfaces are held
    assert cell.torques[-1].delivery == TorqueState.DELIVERED and not cell.torques[-1].fault


def test_disabled_before_it_the_controller_is_deactivated_without_torque(cell):
    assert cell.feedforward.enable(False).success
    cell.come_to_zero()
    cell.switch(deactivate=BOTH)
    cell.switch(activate=BOTH)
    assert cell.feedforward.reset().message == 'there was no fault'
    cell.clear()
    del cell.torques[:]
    assert cell.feedforward.enable(True).success
    cell.wait(lambda: np.abs(cell.effort).max() > 50.0, 'torque')
    cell.feedforward.drain()
    check_rate(*heard(cell))
