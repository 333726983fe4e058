# SPDX-License-Identifier: Apache-2.0
"""torque_max and torque_threshold of the excitation node, in a process of its own."""

from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
import yaml
from control_arm import completed
from excitation_client import HOME, JOINTS, PHASE, ROOT, motion, robot_and_clients, start
from node_process import EFFORT
from rclpy.parameter import Parameter
from writers import result_file

from robodyn_ros.errors import RobodynError
from robodyn_ros.excitation.catalog import write_motion
from robodyn_ros.excitation.plan import Plan
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.nodes.excitation.guard import Guard

pytestmark = pytest.mark.ros
NUMBER = 23
URDF = ROOT / 'urdf' / 'six_axis.urdf'
DRIVE = {'effort.torque_constant': 0.5, 'effort.rated_current': 8000.0, 'effort.gear_ratio': 50.0}


@pytest.fixture(scope='module')
def model():
    found = robot_model(URDF)
    friction = {'rotor_inertia': [1.0] * 6, 'coulomb_friction': [2.0] * 6}
    return found, completed(found, friction)


@pytest.fixture(scope='module')
def cell(tmp_path_factory, model):
    """Fake robot, a node with both limits, and one with the limit of a drive's rated current."""
    folder = tmp_path_factory.mktemp('guard')
    file = folder / 'motion.yaml'
    write_motion(motion(), file)
    write_motion(motion(duration=15.0), folder / 'long.yaml')
    limits = {
        'torque_max': [5000.0] * 6, 'torque_threshold': [100.0, 400.0, 100.0, 50.0, 50.0, 50.0],
        'result_file': str(result_file(folder, *model)),
    }  # fmt: skip
    common = {'motion_file': str(file), **EFFORT}
    processes = {
        'watching': start(folder, 'watching', NUMBER, **common, **limits),
        'rated': start(
            folder, 'rated', NUMBER, **common, **DRIVE, torque_max='rated',
            result_file=limits['result_file'],
        ),
    }  # fmt: skip
    with robot_and_clients(NUMBER, processes) as (robot, clients):
        yield SimpleNamespace(robot=robot, folder=folder, **clients)


@pytest.fixture
def robot(cell):
    return cell.robot


def at_home(robot):
    robot.reset(HOME, effort=[0.0] * 6)
    return robot


def test_a_torque_beyond_the_threshold_brakes_the_robot(cell, robot):
    at_home(robot)
    cell.watching.send(cell.folder / 'long.yaml')
    cell.watching.until(PHASE.EXCITING)
    robot.effort = [0.0, 399.0, 0.0, 0.0, 0.0, 0.0]
    cell.watching.spin(0.3)
    assert len(robot.trajectories) == 1
    robot.effort = [0.0, 0.0, -100.5, 0.0, 0.0, 0.0]
    answer = cell.watching.result().result
    assert not answer.success
    assert "the measured torque of joint 'joint3' is -100.5, torque_thr" in answer.message
    assert len(robot.trajectories) == 2, 'the braking trajectory'
    assert np.abs(robot.trajectories[1].points.velocity[-1]).max() < 1e-3


def test_feedback_that_stays_away_stops_it_too_and_is_needed_to_start(cell, robot):
    at_home(robot)
    cell.watching.send(cell.folder / 'long.yaml')
    cell.watching.until(PHASE.EXCITING)
    robot.effort = []
    answer = cell.watching.result().result
    assert 'for 0.5 s the joint states have had no usable effort' in answer.message
    count = len(robot.trajectories)
    refused = cell.watching.excite()
    assert not refused.success and 'no usable effort' in refused.message
    assert len(robot.trajectories) == count


def test_a_motion_beyond_rated_current_is_refused_before_it_starts(cell, robot):
    at_home(robot)
    hard = cell.folder / 'hard.yaml'
    write_motion(motion(target=[0.3, 0.5, -0.2, 0.4, 0.4, 0.6]), hard)
    answer = cell.rated.excite(hard)
    assert not answer.success
    # 200 Nm: 8 A * 0.5 Nm/A * 50
    assert "of joint 'joint2' at" in answer.message and 'torque_max is 200' in answer.message
    assert not robot.trajectories
    light = cell.folder / 'light.yaml'
    write_motion(motion(start=HOME, target=HOME), light)
    assert cell.rated.excite(light).success, 'holding takes less'


@pytest.fixture
def guard_with(cell):
    """Return a function that makes a guard from parameters."""
    nodes = []

    def make(joints=tuple(JOINTS), **values):
        values = {name.replace('__', '.'): value for name, value in values.items()}
        given = [Parameter(name, value=value) for name, value in values.items()]
        context = cell.watching.context
        nodes.append(rclpy.create_node('n', context=context, parameter_overrides=given))
        return Guard(nodes[-1], joints)

    yield make
    for node in nodes:
        node.destroy_node()


def test_a_model_file_serves_by_its_priors(guard_with, tmp_path):
    file = tmp_path / 'model.yaml'
    file.write_text(yaml.safe_dump({'kind': 'urdf', 'urdf': str(URDF)}))
    guard_with(torque_max=[9000.0], model_file=str(file)).check_plan(Plan(motion(), 0.0))
    with pytest.raises(RobodynError, match=r"of joint 'joint2' at .* torque_max is 100"):
        guard_with(torque_max=[100.0], model_file=str(file)).check_plan(Plan(motion(), 0.0))
