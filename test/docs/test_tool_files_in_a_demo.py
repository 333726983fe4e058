# SPDX-License-Identifier: Apache-2.0
"""The demonstration with short motions, and what files of RViz, rqt and others show of it.

Real nodes, real DDS, all steps; topics and fields in the files of tools are all published.
"""

import math
import re
from contextlib import suppress
from functools import partialmethod
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robots import SIX_AXIS
from tool_files import READERS, TYPES, rviz, rviz_namespaces, topic_of

from robodyn_ros.cli.demo import story
from robodyn_ros.cli.demo.client import Client
from robodyn_ros.cli.demo.stage import Stage
from robodyn_ros.cli.main import main
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


class Watching(Client):
    """Client of a demonstration; at its end it waits for the topics that the tool files show."""

    def __init__(self, check):
        super().__init__(check)  # the events executor may hang, out of reach of a time-out
        self.seen = Seen(self)

    def __exit__(self, *error):
        seen = self.seen
        with suppress(RobodynError):  # what is missing is named below
            self.wait(
                lambda: wanted() <= seen.paths and rviz_namespaces() <= seen.namespaces,
                20.0, 'all topics',
            )  # fmt: skip
        super().__exit__(*error)


def test_a_demonstration_reaches_its_figures_and_publishes_all_that_tools_show(
    tmp_path, monkeypatch, capfd
):
    """The command, in this process; the page of `watch` on any port."""
    heard = []

    def join(check, *, fast):
        heard.append(Watching(check))
        return heard[0]

    monkeypatch.setattr(story, 'Client', join)
    monkeypatch.setattr(Stage, 'start_watch', partialmethod(Stage.start_watch, 0))
    assert main(['--debug', 'demo', '--short', '--watch', '--out', str(tmp_path)]) == 0
    output = capfd.readouterr().out
    assert 'MISSED' not in output and 'push 1 detected after' in output
    report = Path(re.search(r'^report of the identification, .*: (.*)$', output, re.M)[1])
    assert report.name == 'report.html' and report.is_relative_to(tmp_path)
    assert '<h1>' in report.read_text(encoding='utf-8')
    assert [path.name for path in tmp_path.glob('*/*.png')] == ['tracking.png']
    seen = heard[0].seen
    assert wanted() - seen.paths == set(), 'never published, or never with a number'
    assert seen.namespaces == rviz_namespaces()
    links = {link.get('name') for link in ElementTree.parse(SIX_AXIS).getroot().iter('link')}
    assert seen.frames <= links, 'frames that robot_state_publisher has'
