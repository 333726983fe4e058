# SPDX-License-Identifier: Apache-2.0
"""Set points of the excitation node, a process of its own, over real DDS, with a fake robot."""

import signal
from types import SimpleNamespace

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from excitation_client import (
    HOME,
    PHASE,
    motion,
    robot_and_clients,
    robot_limits,
    seconds,
    start,
)
from robodyn_ros.msg import FaultCode
from ros_client import PATIENCE

from robodyn_ros.excitation.catalog import write_motion

pytestmark = pytest.mark.ros
NUMBER = 44


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    """Fake robot, and a node that streams."""
    folder = tmp_path_factory.mktemp('streaming')
    write_motion(motion(), folder / 'motion.yaml')
    process = start(folder, 'streamer', NUMBER, output='stream', rate=250.0)
    with robot_and_clients(NUMBER, {'streamer': process}) as (robot, clients):
        robot.reset(HOME)
        yield SimpleNamespace(robot=robot, folder=folder, process=process, **clients)


def test_stream_runs_the_motion_smoothly(cell):
    robot = cell.robot
    answer = cell.streamer.excite(cell.folder / 'motion.yaml')
    assert answer.success, answer.message
    last = motion().grid(0.1).position[-1]
    cell.streamer.wait(lambda: np.allclose(robot.setpoints[-1], last, atol=1e-4), 'the end')
    setpoints = np.array(robot.setpoints)
    np.testing.assert_allclose(setpoints[0], HOME, atol=1e-3)
    # no setpoint further from the one before than three periods at the highest speed
    steps = np.abs(np.diff(setpoints, axis=0))
    assert (steps <= 3 / 250.0 * robot_limits().velocity).all()
    ran = seconds(answer.finished) - seconds(answer.started)
    assert ran >= 2.5 - 0.02


def test_sigint_while_streaming_brakes_to_rest(cell):
    robot, client, file = cell.robot, cell.streamer, cell.folder / 'long.yaml'
    write_motion(motion(target=[0.6, 0.2, -0.2, 0.4, 0.4, 0.6], duration=8.0), file)
    robot.reset(HOME)
    answer = client.start()
    assert answer.message.startswith('no motion is configured: set the parameter motion.kind')
    client.send(file)
    client.until(PHASE.EXCITING, progress=0.2)
    before = len(robot.setpoints)
    cell.process.send_signal(signal.SIGINT)
    answer = client.result()
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'the node was asked to end' in answer.result.message
    assert answer.result.fault_code == FaultCode.FAULT_NODE_ENDING
    assert cell.process.wait(timeout=PATIENCE) == 0
    client.wait(lambda: not client.action.server_is_ready(), 'no server of a dead node', 10.0)
    robot.settle()
    last = np.array(robot.setpoints[before - 20 :])
    steps = np.abs(np.diff(last, axis=0)).max(axis=1)
    assert len(last) > 40 and steps[:20].max() > 1e-3
    assert steps[-1] < 2e-4, 'it must be at rest at the end'
    # braking from about 2 rad/s takes a good part of a second, not one step
    assert (np.abs(np.diff(last, n=2, axis=0)) < 0.02).all()
