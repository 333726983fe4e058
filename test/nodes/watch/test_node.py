# SPDX-License-Identifier: Apache-2.0
"""The node over real DDS: from topics to the page and to the markers."""

import json
import time
from contextlib import suppress

import pytest
from node_process import EFFORT, NodeProcess, closed, joint_state
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robodyn_ros.msg import CollisionState
from robots import SIX_AXIS
from sensor_msgs.msg import JointState
from visualization_msgs.msg import Marker, MarkerArray
from websockets.sync.client import connect

pytestmark = pytest.mark.ros
NAMES = [f'joint{number}' for number in range(1, 7)]
STREAM = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)


class Robot:
    """Sender of joint states and of the monitor's state, and a browser that shows them."""

    def __init__(self, watch, page):
        self.page, self.watch = page, watch
        self.states = watch.node.create_publisher(JointState, 'joint_states', STREAM)
        topic = 'collision_monitor/collision_state'
        self.monitor = watch.node.create_publisher(CollisionState, topic, STREAM)

    def send(self, level=CollisionState.OK):
        self.states.publish(joint_state(NAMES, self.watch.now(), effort=[3.0] * 6))
        state = CollisionState(name=NAMES, level=[level, *[CollisionState.OK] * 5])
        state.torque_error, state.threshold = [2.0] * 6, [4.0] * 6
        self.monitor.publish(state)

    def newest(self):
        """Return the next frame; time passes until it comes."""
        while True:
            self.watch.spin(0.02)
            with suppress(TimeoutError):
                message = json.loads(self.page.recv(0.01))
                self.page.send('ok')
                if message['kind'] == 'frame':
                    return message

    def shown(self, condition, send=lambda: None):
        """Return the first frame that meets a condition."""
        deadline = time.monotonic() + 30.0
        while not condition(frame := self.newest()):
            assert time.monotonic() < deadline, frame
            send()
        return frame


@pytest.fixture
def watched(tmp_path):
    values = {'urdf': SIX_AXIS, 'port': 0, **EFFORT}
    with closed(NodeProcess('watch', 74, tmp_path / 'log', values)) as watch:
        watch.wait(lambda: 'live page: http://' in watch.said(), 'the address')
        address = watch.said().partition('live page: http://')[2].split()[0]
        with connect(f'ws://{address}/live') as page:
            robot = Robot(watch, page)
            robot.shown(lambda f: f['joints'] and f['joints'][0]['model'], robot.send)
            yield watch, robot
        assert watch.interrupt() == 0


def level(wanted):
    return lambda frame: frame['joints'][0]['level'] == wanted


def test_from_topics_to_page_and_markers(watched):
    watch, robot = watched
    drawn = watch.listen(MarkerArray, 'watch/markers')
    first = robot.shown(level(1), robot.send)['joints'][0]
    assert (first['measured'], first['model']) == (3.0, 5.0)
    assert (first['name'], first['unit']) == ('joint1', 'Nm')

    def arrows():
        robot.send()
        return [m for array in drawn for m in array.markers if m.type == Marker.ARROW]

    watch.wait(arrows, 'an arrow')
    assert arrows()[0].header.frame_id == 'link1'
    assert arrows()[0].points[1].z == pytest.approx(0.5 * 0.25)
    robot.shown(level(-1))


def test_a_contact_of_one_sample_at_500_hz_is_shown(watched):
    _, robot = watched
    for wanted in (CollisionState.CONTACT, CollisionState.COLLISION) * 3:
        robot.shown(level(CollisionState.OK), robot.send)
        for k in range(50):
            robot.send(wanted if k == 20 else CollisionState.OK)
            time.sleep(0.002)
        robot.shown(level(wanted), robot.send)
