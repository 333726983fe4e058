# SPDX-License-Identifier: Apache-2.0
import importlib.util

import pytest

from robodyn_ros.cli.live.watch import node_arguments
from robodyn_ros.cli.main import build_parser, main


def test_arguments_become_parameters_of_the_node():
    words = ['watch', '--robot', 'ur10', '--port', '0', '--bind', '0.0.0.0', '--namespace', '/a/']
    given = node_arguments(build_parser('watch').parse_args(words))
    assert given[:4] == ['watch', '--ros-args', '-r', '__node:=watch']
    assert '__ns:=/a' in given
    assert {'port:=0', 'bind:="0.0.0.0"', 'robot:="ur10"'} <= set(given)


@pytest.mark.parametrize('command', ['watch', 'demo'])
def test_without_ros_it_is_one_sentence(command, monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    assert main([command]) == 2
    assert f'robodyn {command} runs ROS 2 nodes, but rclpy is missing' in capsys.readouterr().err
