# SPDX-License-Identifier: Apache-2.0
"""A real collision monitor, the arm it watches, and the stop service it calls."""

from __future__ import annotations

import numpy as np
from control_arm import small_arm
from healthy_arm import flat_law
from node_process import EFFORT, NodeProcess, joint_state
from robodyn_ros.msg import CollisionState
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from writers import result_file

from robodyn_ros.control.collision.thresholds_file import write_thresholds
from robodyn_ros.identification.files.result_file import load_identified_model

MODEL, VALUES = small_arm()
NAMES = list(MODEL.joint_names)
PERIOD = 0.002
STALE = 0.5
"""Joint states may stay away for so long, in [s]."""
OK, CONTACT, COLLISION, UNKNOWN = (
    getattr(CollisionState, name) for name in ('OK', 'CONTACT', 'COLLISION', 'UNKNOWN')
)


def learned_file(folder, threshold, **options):
    """Write thresholds of the monitor's model, see `flat_law`; return their path."""
    path = folder / 'thresholds.yaml'
    model_hash = load_identified_model(result_file(folder, MODEL, VALUES)).hash
    write_thresholds(flat_law(model_hash, np.array(threshold), **options), path)
    return str(path)


class Monitor:
    """A monitor, the arm it watches, and the stop service it calls."""

    def __init__(self, folder, number, **parameters) -> None:
        values = {
            'autostart': 'true', 'max_torque_error': '[10.0, 5.0]',
            'contact_threshold': '[6.0, 3.0]', 'velocity_window': '[0.0]',
            'result_file': result_file(folder, MODEL, VALUES), 'stale_timeout': STALE,
            'stop_service': '/excitation/stop', 'collision_state_rate': 0.0,
            **EFFORT, **parameters,
        }  # fmt: skip
        self.process = NodeProcess('collision_monitor', number, folder / 'log', values)
        self.states = self.process.listen(CollisionState, 'collision_monitor/collision_state')
        self.stops = 0
        self.offer_stop()
        self.joint_states = self.process.publisher(JointState, 'joint_states')
        self.time = self.begin = self.process.now()
        self.process.wait(lambda: self.states, 'a collision state')

    def offer_stop(self):
        node = self.process.node
        self.stop_service = node.create_service(Trigger, '/excitation/stop', self.on_stop)

    def on_stop(self, _, response):
        self.stops += 1
        response.success = True
        return response

    def sample(self, push=0.0):
        self.time += PERIOD
        rate = np.array([3.0, 4.0])
        angle = rate * (self.time - self.begin)  # the same at any time of the day
        q, qd = 0.5 * np.sin(angle), 0.5 * rate * np.cos(angle)
        torque = MODEL.torque(q[None], qd[None], -(rate**2 * q)[None], VALUES)[0]
        return q, qd, torque - [0.0, push]

    def run(self, count, push=0.0):
        """States of so many samples, one at a time."""
        rows = []
        for _ in range(count):
            message = joint_state(NAMES, self.time, *self.sample(push))
            rows.append(self.publish(message))
        return rows

    def publish(self, message):
        """Publish a sample, and return the state that it leads to, which has its stamp."""
        return self.process.answer(self.joint_states, message, self.states)


def levels(rows):
    return np.array([list(row.level) for row in rows])
