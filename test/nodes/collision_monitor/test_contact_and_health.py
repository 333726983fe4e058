# SPDX-License-Identifier: Apache-2.0
"""Contact and health topics of a real monitor of the six-axis arm."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from node_process import EFFORT, NodeProcess, closed, joint_state
from robodyn_ros.msg import CollisionState, ContactEstimate, ModelHealth
from robots import SIX_AXIS
from ros_client import details
from sensor_msgs.msg import JointState
from visualization_msgs.msg import Marker
from writers import result_file

from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.payload import payload_of
from robodyn_ros.models.serial.jacobians import LinkJacobians
from robodyn_ros.models.serial.urdf import rigid_part

pytestmark = pytest.mark.ros
MODEL = robot_model(SIX_AXIS)
VALUES = np.nan_to_num(MODEL.prior())
FRICTION = [i for i, item in enumerate(MODEL.parameters) if item.name.endswith('friction')]
VALUES[FRICTION] = 1.0
JACOBIANS = LinkJacobians(rigid_part(MODEL))
PERIOD = 0.01
FORCE = np.array([40.0, -30.0, 50.0])


class Arm:
    """The arm in front of a monitor, with what pushes and loads it."""

    def __init__(self, folder, **parameters) -> None:
        values = {
            'autostart': 'true', 'max_torque_error': '[20.0, 25.0, 12.0, 3.0, 3.0, 2.0]',
            'result_file': result_file(folder, MODEL, VALUES), 'stale_timeout': 2.0,
            'period': PERIOD, 'filter_cutoff': 20.0, 'health_window': 2.0,
            'contact_period': 0.002,  # an estimate of each state
            'collision_state_rate': 0.0, **EFFORT, **parameters,
        }  # fmt: skip
        self.process = NodeProcess('collision_monitor', 8, folder / 'log', values)
        heard = {
            'collision_state': CollisionState, 'contact': ContactEstimate, 'wrench': WrenchStamped,
            'contact_marker': Marker, 'model_health': ModelHealth,
        }  # fmt: skip
        self.heard = {
            name: self.process.listen(kind, f'collision_monitor/{name}')
            for name, kind in heard.items()
        }
        self.joint_states = self.process.publisher(JointState, 'joint_states')
        self.begin = self.time = self.process.now()
        self.load = payload_of(MODEL, 2.8, center_of_mass=(0.05, 0.0, 0.0))
        self.process.wait(lambda: self.heard['collision_state'], 'a collision state')

    def run(self, seconds, *, force=None, loaded=False, friction=1.0):
        rate = np.array([2.0, 2.6, 3.1, 3.7, 4.3, 2.3])
        for _ in range(round(seconds / PERIOD)):
            self.time += PERIOD
            # The same poses in every run: what a torque error says of a force depends on the pose.
            phase = rate * (self.time - self.begin)
            q, qd = 0.5 * np.sin(phase), 0.5 * rate * np.cos(phase)
            state = [row[None] for row in (q, qd, -(rate**2) * q)]
            values = VALUES.copy()
            values[FRICTION] *= friction
            torque = MODEL.torque(*state, values)[0]
            if force is not None:
                torque = torque - JACOBIANS.at(q).tool[:3].T @ force
            if loaded:
                torque = torque + self.load.model.torque(*state, self.load.values)[0]
            message = joint_state(MODEL.joint_names, self.time, q, qd, torque)
            state = self.process.answer(self.joint_states, message, self.heard['collision_state'])
        return state


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    with closed(Arm(tmp_path_factory.mktemp('arm'))) as arm:
        yield arm


def test_a_push_has_a_link_a_wrench_and_an_arrow(arm):
    arm.run(0.5)
    assert not arm.heard['contact']
    arm.run(0.3, force=FORCE)
    arm.process.settle()
    contact, wrench, marker = (arm.heard[k][-1] for k in ('contact', 'wrench', 'contact_marker'))
    assert contact.touched
    assert contact.link in ('link5', 'link6')  # a force through axis 6 does not load joint 6
    assert 0.4 < contact.confidence <= 1.0
    assert contact.message.startswith('contact at ') and contact.link in contact.message
    assert len(contact.links) == len(contact.probability) == 6
    assert abs(sum(contact.probability) - 1.0) < 1e-9
    assert max(contact.probability) == contact.confidence
    np.testing.assert_allclose(contact.wrench[:3], FORCE, atol=6.0)
    assert np.linalg.eigvalsh(np.reshape(contact.covariance, (6, 6))).min() > 0.0
    assert (wrench.header.frame_id, contact.tool) == ('base_link', 'tool0')
    np.testing.assert_allclose(
        [wrench.wrench.force.x, wrench.wrench.force.y, wrench.wrench.force.z], contact.wrench[:3]
    )
    tail, head = (np.array([p.x, p.y, p.z]) for p in marker.points)
    np.testing.assert_allclose(head - tail, contact.wrench[:3] / 200.0)
    arm.run(0.5)
    arm.process.settle()
    assert not arm.heard['contact'][-1].touched
    assert arm.heard['contact_marker'][-1].action == Marker.DELETE
    # An explanation is information: the alarm stays until it is reset.
    assert arm.heard['collision_state'][-1].latched


def test_a_payload_is_advice_and_does_not_hide_the_alarm(arm):
    arm.run(2.5, loaded=True)
    healths = arm.heard['model_health']
    arm.process.wait(lambda: healths and healths[-1].kind == ModelHealth.PAYLOAD, 'the payload')
    assert healths[-1].mass == pytest.approx(2.8, rel=0.1)
    assert healths[-1].mass_interval < 0.3
    assert arm.heard['collision_state'][-1].latched
    status = arm.process.status()
    assert status.level == DiagnosticStatus.ERROR
    advice = details(status)['advice']
    assert advice.startswith('payload 2.')
    assert arm.process.interrupt() == 0


def test_a_payload_that_may_be_adopted_is_named_and_monitored_with(tmp_path):
    with closed(Arm(tmp_path, adopt_payload=4.0, stale_timeout=10.0)) as arm:
        arm.process.time.fastest = 1.0  # a busy machine
        arm.run(0.5)
        last = arm.run(1.5, loaded=True)
        arm.process.settle()
        states = arm.heard['collision_state']
        worst = [max(each.level) for each in states]
        assert CollisionState.CONTACT in worst and CollisionState.COLLISION not in worst
        assert max(last.level) == CollisionState.OK and last.message == 'ok'
        assert 'payload of 2.8 +- ' in arm.process.said()
        last = arm.run(0.3, loaded=True, force=3.0 * FORCE)
        assert last.latched, 'other contacts are collisions as before'
