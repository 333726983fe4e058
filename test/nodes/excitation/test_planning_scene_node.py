# SPDX-License-Identifier: Apache-2.0
"""The excitation node beside a MoveIt whose scene changes, over DDS."""

import time
from types import SimpleNamespace

import pytest
import rclpy
from excitation_client import HOME, JOINTS, Client, motion, start
from moveit_scene import STANDING, FakeMoveIt, Scene, at, real
from ros_client import PATIENCE, environment, joined

from robodyn_ros.excitation.catalog import write_motion

pytest.importorskip('moveit_msgs.srv', reason='moveit_msgs is not installed')
pytestmark = pytest.mark.ros
NUMBER = 60


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    """Fake robot, fake MoveIt, and an excitation node whose other surroundings are known."""
    from fake_robot import FakeRobot

    folder = tmp_path_factory.mktemp('planning_scene')
    write_motion(motion(), folder / 'motion.yaml')
    known = {'optimise.floor': -1.0, 'optimise.box': [-3.0, -3.0, -3.0, 3.0, 3.0, 3.0]}
    process = start(
        folder, 'planner', NUMBER, motion_file=str(folder / 'motion.yaml'),
        allow_unchecked=False, **known,
    )  # fmt: skip
    context = joined(environment(NUMBER))
    robot, moveit = FakeRobot(JOINTS, HOME, context), FakeMoveIt(context)
    client = Client('planner', context, robot.time)
    try:
        yield SimpleNamespace(
            robot=robot, moveit=moveit, client=client,
            said=lambda: (folder / 'planner.log').read_text(),
        )  # fmt: skip
    finally:
        process.kill()
        process.wait()
        client.close()
        moveit.close()
        robot.close()
        rclpy.shutdown(context=context)


REAL = Scene(real)
FAR = ('box', [0.1, 0.1, 0.1], at(2.5, 2.5, 2.5))
POST = ('cylinder', [3.0, 0.05], STANDING)


def in_the_way(**options):
    return REAL.object('post', [POST], pose=at(0.8, 0.3, 0.5), frame='base_link', **options)


def test_a_motion_runs_beside_the_scene_and_not_into_it(cell):
    cell.robot.reset(HOME)
    far = REAL.object('far', [FAR], frame='base_link')
    cell.moveit.scenes = [REAL.scene(far)]
    done = cell.client.excite()
    assert done.success, done.message
    assert 'the planning scene of MoveIt has 1 shapes' in cell.said()
    assert set(cell.moveit.requests) == {4 + 8 + 16 + 32}
    count = len(cell.robot.trajectories)
    cell.moveit.scenes = [REAL.scene(far, in_the_way())]
    refused = cell.client.excite()
    assert 'shape 2 of the planning scene of MoveIt, post' in refused.message
    assert not refused.success and len(cell.robot.trajectories) == count
    assert 'shape 2 of the planning scene of MoveIt, post' in cell.client.start().message


def test_a_moveit_that_does_not_answer_is_named_and_delays_no_stop(cell):
    cell.robot.reset(HOME)
    cell.moveit.scenes = [REAL.scene()]
    with cell.moveit.deaf():
        assert '/get_planning_scene did not answer within 2 s' in cell.client.excite().message
        cell.client._send('')
        begin = time.monotonic()
        while not (answer := cell.client.call('stop')).success:  # the goal may be on its way
            assert time.monotonic() < begin + PATIENCE
        assert 'being checked does not start' in answer.message
        cell.client.wait(cell.client._result.done, 'the end')
    assert 'stopped before it began: ~/stop was called' in cell.client.ended()
