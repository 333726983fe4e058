# SPDX-License-Identifier: Apache-2.0
"""URDF of a node: parameters, xacro files and the topic robot_description."""

import os
import threading
import time

import pytest
from idle_nodes import idle_nodes
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String

from robodyn_ros.bounds import BoundError
from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.common import LATCHED_QOS
from robodyn_ros.nodes.robot import described_robot
from robodyn_ros.nodes.robot.described_robot import read_description, robot_description

pytestmark = pytest.mark.ros


@pytest.fixture
def create():
    with idle_nodes(1, 'robot') as node_with:
        yield lambda **values: node_with(values)


def test_robot_from_text_or_file(create, tmp_path):
    (tmp_path / 'r.urdf').write_text('<robot/>')
    assert robot_description(create(urdf=str(tmp_path / 'r.urdf'))) == '<robot/>'
    assert robot_description(create(robot_description='<x/>', urdf='none')) == '<x/>'
    with pytest.raises(ConfigError, match='parameter urdf: cannot read'):
        robot_description(create(urdf=str(tmp_path / 'none.urdf')))


@pytest.mark.real_time
def test_without_a_description_the_wait_has_an_end_and_a_sentence(create):
    begin = time.monotonic()
    with pytest.raises(ConfigError, match=r"'robot' needs the robot: .*topic /robot_description"):
        robot_description(create(robot_description_timeout=0.2))
    assert 0.2 <= time.monotonic() - begin < 5.0
    with pytest.raises(ConfigError, match='needs the robot'):
        robot_description(create(robot_description_timeout=50.0), wanted=False)


def test_the_description_of_the_topic_is_used_and_another_one_only_reported(create, monkeypatch):
    driver = create()
    publisher = driver.create_publisher(String, 'robot_description', LATCHED_QOS)
    told = threading.Timer(0.3, publisher.publish, [String(data='<robot name="a"/>')])
    told.start()
    node = create(robot_description_timeout=20.0)
    assert robot_description(node) == '<robot name="a"/>'
    told.join()
    assert node.get_parameter('robot_description').value == '<robot name="a"/>'
    warned = []
    monkeypatch.setattr(type(node.get_logger()), 'warning', lambda _, text: warned.append(text))
    late = create(robot_description_timeout=20.0)
    assert robot_description(late) == '<robot name="a"/>'  # latched
    publisher.publish(String(data='<robot name="b"/>'))
    executor = SingleThreadedExecutor(context=late.context)
    executor.add_node(late)
    deadline = time.monotonic() + 20.0
    while not warned and time.monotonic() < deadline:
        executor.spin_once(timeout_sec=0.05)
    executor.shutdown()
    assert len(warned) == 1 and 'keeps the one from its start' in warned[0]
    assert read_description(late) == '<robot name="a"/>'
    monkeypatch.setattr(
        described_robot, 'TEXT', described_robot.TEXT.__class__(5, 'bytes', 's', '')
    )
    with pytest.raises(BoundError, match=r'topic /robot_description: s: at most 5 bytes'):
        robot_description(create(robot_description_timeout=20.0))


def test_a_xacro_file_of_a_parameter_is_expanded(create, tmp_path, monkeypatch):
    program = tmp_path / 'bin' / 'xacro'
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "<robot name=\\"$(basename $1)\\"/>"\n')
    program.chmod(0o755)
    monkeypatch.setenv('PATH', f'{program.parent}{os.pathsep}{os.environ["PATH"]}')
    node = create(urdf=str(tmp_path / 'r.urdf.xacro'))
    assert robot_description(node) == '<robot name="r.urdf.xacro"/>\n'
    assert read_description(node) == '<robot name="r.urdf.xacro"/>\n'
