# SPDX-License-Identifier: Apache-2.0
"""The marker of a path."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from visualization_msgs.msg import Marker

from robodyn_ros.excitation.limits.constraints import frame_points
from robodyn_ros.excitation.motions.joint_moves import JointMoves
from robodyn_ros.models.catalog import load_model
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.nodes.excitation.path_marker import MOST_POINTS, PathMarker

pytestmark = pytest.mark.ros
FOLDER = Path(__file__).parents[3]


class FakeNode:
    """The part of a node that a `PathMarker` uses; keeps all messages and log lines."""

    def __init__(self, robot, **parameters):
        self.parameters = {
            'robot_description': '', 'urdf': str(FOLDER / 'urdf' / f'{robot}.urdf'),
            'path_link': '', 'result_file': '', 'model_file': '', 'dynamic_model': 0,
            **parameters,
        }  # fmt: skip
        self.published, self.log, self.latched = [], [], False

    def declare_parameter(self, name, *rest, **options):
        return self.get_parameter(name)

    def get_parameter(self, name):
        return SimpleNamespace(value=self.parameters[name])

    def create_publisher(self, kind, topic, qos):
        assert (kind, topic) == (Marker, '~/path')
        self.latched = qos.durability.name == 'TRANSIENT_LOCAL'
        return self

    def publish(self, message):
        self.published.append(deserialize_message(serialize_message(message), Marker))

    def get_logger(self):
        return SimpleNamespace(warning=self.log.append)


def moves(joints, duration=2.0):
    points = [np.zeros(len(joints)), np.full(len(joints), 0.3)]
    return JointMoves(joints=joints, points=points, durations=[duration])


def coordinates(marker):
    return np.array([[point.x, point.y, point.z] for point in marker.points])


@pytest.mark.parametrize('link', ['', 'forearm_link'])
def test_the_path_of_a_motion_is_published_once_and_latched(link):
    node = FakeNode('ur10', path_link=link)
    body = UrdfModel.from_file(FOLDER / 'urdf' / 'ur10.urdf')
    motion, marked = moves(body.joint_names), PathMarker(node)
    marked.publish(marked.draw(motion))
    (marker,) = node.published
    assert node.latched and marker.header.frame_id == body.urdf.root
    expected = frame_points(body, [link or 'tool0'])(motion.grid(0.01).position)[:, 0]
    np.testing.assert_allclose(coordinates(marker), expected, atol=1e-12)
    marked.publish(marked.draw(moves(body.joint_names, 500.0)))
    assert len(node.published[1].points) == MOST_POINTS + 1


def test_a_delta_is_drawn_with_its_model_and_said_not_to_be_without():
    file = FOLDER / 'config' / 'robots' / 'delta.yaml'
    model = load_model(file)
    motion = moves(model.joint_names)
    expected = frame_points(model, ['tool'])(motion.grid(0.01).position)[:, 0]
    node = FakeNode('delta', model_file=str(file))
    marker = PathMarker(node).draw(motion)
    np.testing.assert_allclose(coordinates(marker), expected, atol=1e-12)
    for parameters, words in (
        ({}, 'there is no model with a tool'),
        ({'path_link': 'hand'}, "no link 'hand'"),
        ({'urdf': 'nowhere.urdf'}, "cannot read 'nowhere.urdf'"),
    ):
        node = FakeNode('delta', **parameters)
        marked = PathMarker(node)
        marked.publish(marked.draw(motion))
        assert not node.published and words in node.log[0]
