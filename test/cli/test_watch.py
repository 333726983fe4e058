# SPDX-License-Identifier: Apache-2.0
import importlib.util

import pytest

from robodyn_ros.cli.main import main


@pytest.mark.parametrize('command', ['watch', 'demo'])
def test_without_ros_it_is_one_sentence(command, monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    assert main([command]) == 2
    assert f'robodyn {command} runs ROS 2 nodes, but rclpy is missing' in capsys.readouterr().err
