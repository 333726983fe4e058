# SPDX-License-Identifier: Apache-2.0
"""Parameters of the excitation node; the motions of our own robots."""

from types import SimpleNamespace

import pytest
from excitation_client import ROOT, robot_limits
from idle_nodes import idle_nodes

from robodyn_ros.errors import MotionError, RobodynError
from robodyn_ros.excitation.limits.joint_limits import check_motion
from robodyn_ros.nodes.excitation.parameters import (
    declare_limits,
    declare_settings,
    read_motion,
)
from robodyn_ros.robot_file import load_robot

pytestmark = pytest.mark.ros


@pytest.fixture
def node_with():
    with idle_nodes(1) as create:
        yield create


@pytest.mark.parametrize(
    ('values', 'sentence'),
    [
        ({'output': 'smoke'}, r"'output' must be one of \['trajectory', 'stream'\], got 'smoke'"),
        ({'rate': 5.0}, "parameter 'rate'"),
        ({'urdf': '', 'robot_description_timeout': 0.1}, "node 'n' needs the robot"),
        ({'velocity_scaling': 1.5}, r'velocity scaling factor must be in \(0, 1\], got 1.5'),
        ({'joints': ['joint9']}, "has no moving joint 'joint9'"),
        ({'joint_limits': 'none.yaml'}, 'joint limits file none.yaml cannot be read'),
    ],
)
def test_parameters_that_cannot_be_used(node_with, values, sentence):
    node = node_with({'urdf': str(ROOT / 'urdf' / 'six_axis.urdf'), **values})
    with pytest.raises(RobodynError, match=sentence):
        declare_settings(node)
        declare_limits(node)


def test_limits_in_degrees_are_logged(node_with, tmp_path):
    file = tmp_path / 'limits.yaml'
    file.write_text('joint_limits: {joint1: {max_velocity: 180, max_acceleration: 600}}')
    urdf = str(ROOT / 'urdf' / 'six_axis.urdf')
    node, logged = node_with({'urdf': urdf, 'joint_limits': str(file)}), []
    node.get_logger = lambda: SimpleNamespace(info=logged.append, warning=logged.append)
    declare_limits(node)
    texts = [text for text in logged if 'joint1' in text]
    assert texts[0].startswith('limits that hardly any joint has: joint1: acceleration 600')
    assert texts[1].startswith('limits without effect')


class Parameters:
    """Stands for a node with these parameters."""

    def __init__(self, values):
        self.values = {f'motion.{name}': value for name, value in values.items()}

    def get_parameter_or(self, name, alternative):
        return SimpleNamespace(value=self.values[name]) if name in self.values else alternative

    def get_parameter(self, name):
        return SimpleNamespace(value=self.values.get(name, ''))


@pytest.mark.parametrize('robot', ['six_axis', 'ur10', 'single_axis'])
def test_motions_of_our_own_robots_keep_their_limits(robot):
    values = load_robot(ROOT / 'config' / 'robots' / f'{robot}.yaml').content['excitation']
    bounds = robot_limits(robot)
    found = read_motion(Parameters(values['motion']), '', bounds)
    check_motion(found, bounds)
    assert (found.frequency * (found.duration - 2.0) >= 2.0).all()


def test_flat_coefficients_become_rows():
    bounds = robot_limits('single_rotary_axis')
    values = {'kind': 'fourier', 'center': [0.0], 'base_frequency': 0.1, 'harmonics': 2}
    found = read_motion(Parameters({**values, 'a': [0.1, -0.1], 'b': [0.2, -0.1]}), '', bounds)
    assert found.a.shape == (1, 2) and found.joints == ('joint1',)
    with pytest.raises(MotionError, match=r'motion\.a must have 2 value.* got 3'):
        read_motion(Parameters({**values, 'a': [0.1] * 3, 'b': [0.2, -0.1]}), '', bounds)
