"""The marker of a path."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy')
from rclpy.serialization import deserialize_message, serialize_message
from visualization_msgs.msg import Marker

from robodyn_ros.excitation.constraints import frame_points
from robodyn_ros.excitation.joint_moves import JointMoves
from robodyn_ros.models.catalog import load_model
from robodyn_ros.models.urdf import UrdfModel
from robodyn_ros.models.urdf_file import read_urdf
from robodyn_ros.nodes.path_marker import MOST_POINTS, PathMarker, path_marker

pytestmark = pytest.mark.ros
FOLDER = Path(__file__).parents[2]


class FakeNode:
    """What a `PathMarker` uses of a node; keeps what is published and logged."""

    def __init__(self, link=''):
        self.link, self.published, self.log, self.latched = link, [], [], False

    def declare_parameter(self, name, *rest, **options):
        return self

    def get_parameter(self, name):
        return self

    @property
    def value(self):
        return self.link

    def create_publisher(self, kind, topic, qos):
        assert (kind, topic) == (Marker, '~/path')
        self.latched = qos.durability.name == 'TRANSIENT_LOCAL'
        return self

    def publish(self, message):
        self.published.append(deserialize_message(serialize_message(message), Marker))

    def get_logger(self):
        return self

    def info(self, text):
        self.log.append(text)

    warning = info


def moves(joints, duration=2.0):
    points = [np.zeros(len(joints)), np.full(len(joints), 0.3)]
    return JointMoves(joints=joints, points=points, durations=[duration])


def coordinates(marker):
    return np.array([[point.x, point.y, point.z] for point in marker.points])


def test_a_line_through_the_places_that_rviz_can_show():
    places = np.random.default_rng(0).normal(size=(5, 3))
    marker = path_marker(places, 'base_link')
    assert marker.type == Marker.LINE_STRIP and marker.header.frame_id == 'base_link'
    assert marker.scale.x > 0.0 and marker.color.a == 1.0 and marker.pose.orientation.w == 1.0
    np.testing.assert_array_equal(coordinates(marker), places)


@pytest.mark.parametrize('link', ['', 'forearm_link'])
def test_the_path_of_a_motion_is_published_once_and_latched(link):
    node, urdf = FakeNode(link), read_urdf(FOLDER / 'urdf' / 'ur10.urdf')
    body = UrdfModel(urdf=urdf)
    motion = moves(body.joint_names)
    PathMarker(node, urdf, lambda: None).show(motion)
    (marker,) = node.published
    assert node.latched and marker.header.frame_id == urdf.root and len(marker.points) == 201
    expected = frame_points(body, [link or 'tool0'])(motion.grid(0.01).position)[:, 0]
    np.testing.assert_allclose(coordinates(marker), expected, atol=1e-12)
    PathMarker(node, urdf, lambda: None).show(moves(body.joint_names, 500.0))
    assert len(node.published[1].points) == MOST_POINTS + 1


def test_a_delta_is_drawn_with_its_model_and_said_not_to_be_without():
    node, urdf = FakeNode(), read_urdf(FOLDER / 'urdf' / 'delta.urdf')
    model = load_model(FOLDER / 'config' / 'model_delta.yaml')
    motion = moves(model.joint_names)
    PathMarker(node, urdf, lambda: None).show(motion)
    assert not node.published and 'no model tells of a tool' in node.log[0]
    PathMarker(node, urdf, lambda: model).show(motion)
    expected = frame_points(model, ['tool'])(motion.grid(0.01).position)[:, 0]
    np.testing.assert_allclose(coordinates(node.published[0]), expected, atol=1e-12)
    node.link = 'hand'
    PathMarker(node, urdf, lambda: model).show(motion)
    assert "no link 'hand'" in node.log[1] and len(node.published) == 1
