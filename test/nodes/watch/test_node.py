# SPDX-License-Identifier: Apache-2.0
"""The node over real DDS: from topics to the page and to the markers."""

import json
import time

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.msg')
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


def test_from_topics_to_page_and_markers(tmp_path):
    values = {'urdf': SIX_AXIS, 'port': 0, **EFFORT}
    with closed(NodeProcess('watch', 74, tmp_path / 'log', values)) as watch:
        watch.wait(lambda: 'live page: http://' in watch.said(), 'the address')
        address = watch.said().partition('live page: http://')[2].split()[0]
        drawn = watch.listen(MarkerArray, 'watch/markers')
        states = watch.node.create_publisher(JointState, 'joint_states', STREAM)
        monitor = watch.node.create_publisher(
            CollisionState, 'collision_monitor/collision_state', STREAM
        )
        with connect(f'ws://{address}/live') as page:

            def newest():
                while True:
                    message = json.loads(page.recv(20))
                    page.send('ok')
                    if message['kind'] == 'frame':
                        return message

            def shown(condition, send):
                deadline = time.monotonic() + 30.0
                while not condition(frame := newest()):
                    assert time.monotonic() < deadline, frame
                    send()
                return frame

            def send(level=CollisionState.OK):
                states.publish(joint_state(NAMES, time.time(), effort=[3.0] * 6))
                state = CollisionState(name=NAMES, level=[level, *[CollisionState.OK] * 5])
                state.torque_error, state.threshold = [2.0] * 6, [4.0] * 6
                monitor.publish(state)

            frame = shown(lambda f: f['joints'] and f['joints'][0]['model'], send)
            first = frame['joints'][0]
            assert (first['level'], first['measured'], first['model']) == (1, 3.0, 5.0)
            assert (first['name'], first['unit']) == ('joint1', 'Nm')
            send(CollisionState.COLLISION)
            send()
            shown(lambda f: f['joints'][0]['level'] == CollisionState.COLLISION, lambda: None)
            for _ in range(5):  # one sample among those of a tenth of a second at 500 Hz
                shown(lambda f: f['joints'][0]['level'] == CollisionState.OK, send)
                for k in range(50):
                    send(CollisionState.CONTACT if k == 20 else CollisionState.OK)
                    time.sleep(0.002)
                shown(lambda f: f['joints'][0]['level'] == CollisionState.CONTACT, send)

            def arrows():
                send()
                return [m for array in drawn for m in array.markers if m.type == Marker.ARROW]

            watch.wait(arrows, 'an arrow')
            assert arrows()[0].header.frame_id == 'link1'
            assert arrows()[0].points[1].z == pytest.approx(0.5 * 0.25)
            shown(lambda f: f['joints'][0]['level'] == -1, lambda: None)
        assert watch.interrupt() == 0
