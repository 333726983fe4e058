# SPDX-License-Identifier: Apache-2.0
"""Topics and fields in the files of RViz, rqt, PlotJuggler and Foxglove are all published."""

import math
from contextlib import suppress
from importlib import import_module
from xml.etree import ElementTree

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robots import SIX_AXIS
from tool_files import READERS, TYPES, rviz, rviz_namespaces, topic_of

from robodyn_ros.cli.demo.client import Client
from robodyn_ros.cli.demo.length import SHORT
from robodyn_ros.cli.demo.processes import NodeProcesses
from robodyn_ros.cli.demo.ros_domain import describe_domain
from robodyn_ros.cli.demo.stage import Stage
from robodyn_ros.errors import RobodynError

pytestmark = [pytest.mark.ros, pytest.mark.timeout(400)]
OURS = TYPES | {'/diagnostics': 'diagnostic_msgs/msg/DiagnosticArray'}
STREAM = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)


def wanted() -> set[str]:
    """Every path in the files; /robot_description is of robot_state_publisher, no node of ours."""
    return {path for read in READERS for path in read()} - {'/robot_description'}


def as_rviz_subscribes(topic) -> QoSProfile:
    return QoSProfile(
        depth=topic['Depth'],
        reliability=ReliabilityPolicy[topic['Reliability Policy'].upper().replace(' ', '_')],
        durability=DurabilityPolicy[topic['Durability Policy'].upper().replace(' ', '_')],
    )


def plotted(message, field):
    """Value of a field as the tools name it: NAME, NAME[INDEX], or JOINT/NAME in joint states."""
    joint, _, name = field.rpartition('/')
    name, _, index = name.partition('[')
    value = getattr(message, name)
    if joint:
        return value[message.name.index(joint)]
    return value[int(index[:-1])] if index else value


def type_of(name):
    package, _, kind = name.split('/')
    return getattr(import_module(f'{package}.msg'), kind)


class Seen:
    """Paths that had a value, and the markers; a topic is heard until all its paths had one."""

    def __init__(self, client: Client) -> None:
        self.paths, self.namespaces, self.frames = set(), set(), set()
        self._node, self._fields, self._heard = client.node, {}, {}
        for path in wanted():
            self._fields.setdefault(topic_of(path), set()).add(path[len(topic_of(path)) + 1 :])
        shown = {name: as_rviz_subscribes(topic) for name, topic in rviz().items()}
        for topic in self._fields:
            kind = type_of(OURS[topic])
            qos = shown.get(topic, STREAM)
            self._heard[topic] = self._node.create_subscription(
                kind, topic, self._taking(topic), qos
            )

    def _taking(self, topic):
        return lambda message: self._take(topic, message)

    def _take(self, topic, message):
        for field in self._fields[topic]:
            path = f'{topic}/{field}' if field else topic
            if path not in self.paths:
                value = plotted(message, field) if field else ''
                if isinstance(value, str | bool) or math.isfinite(value):
                    self.paths.add(path)
        for marker in getattr(message, 'markers', ()):
            self.namespaces.add(marker.ns)
            self.frames.add(marker.header.frame_id)
        paths = {f'{topic}/{field}' if field else topic for field in self._fields[topic]}
        if topic in self._heard and paths <= self.paths and not hasattr(message, 'markers'):
            self._node.destroy_subscription(self._heard.pop(topic))


def complete(seen) -> bool:
    return wanted() <= seen.paths and rviz_namespaces() <= seen.namespaces


def test_every_topic_and_field_of_the_tools_is_published(tmp_path, monkeypatch):
    for name, value in describe_domain(81).items():
        monkeypatch.setenv(name, value)
    with (
        NodeProcesses(tmp_path / 'nodes') as nodes,
        Client(nodes.check) as client,  # the events executor may hang, out of reach of a time-out
    ):
        seen = Seen(client)
        stage = Stage(robot='six_axis', folder=tmp_path, nodes=nodes, client=client, length=SHORT)
        nodes.start('watch', {'robot': 'six_axis', 'port': 0})
        stage.run_identification()
        stage.start_monitor()
        stage.start_feedforward()
        stage.wait_for_feedforward()
        stage.excite('tracking', through_feedforward=True)
        stage.push(stage.facts.pushes[0])
        with suppress(RobodynError):  # what is missing is named below
            client.wait(lambda: complete(seen), 20.0, 'all topics')
    assert wanted() - seen.paths == set(), 'never published, or never with a number'
    assert seen.namespaces == rviz_namespaces()
    links = {link.get('name') for link in ElementTree.parse(SIX_AXIS).getroot().iter('link')}
    assert seen.frames <= links, 'frames that robot_state_publisher has'
