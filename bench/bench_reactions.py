# SPDX-License-Identifier: Apache-2.0
"""Time from the joint states of an alarm to the command that leaves the collision monitor.

A real node with reaction `stop` and a black box watches a six-axis arm at 500 Hz. Each event is a
push until the collision is latched, calm, and a reset. The time begins when the joint states that
latch the collision are published, and ends with the source timestamp of the trajectory that the
node publishes: transport to the node, its cycle and the reaction. `state`: the same for the
collision state of every sample without an event, also while the black box writes.
Run without other load: `python bench/bench_reactions.py [--events 200] [--json]`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rclpy
from builtin_interfaces.msg import Time
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robodyn_ros.msg import CollisionState
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory
from yaml import safe_dump

from robodyn_ros.identification.files.result_file import model_parameters
from robodyn_ros.models.catalog import robot_model

ROOT = Path(__file__).resolve().parent.parent
PERIOD = 0.002
PARAMETERS = (
    'autostart:=true', 'max_torque_error:=[20.0]', 'reaction:=stop', 'stale_timeout:=1.0',
    'collision_state_rate:=0.0',
    'black_box_before:=2.0', 'black_box_after:=0.1', 'black_box_size:=20.0',
    'effort.unit:=Nm', 'effort.side:=joint', 'effort.gravity:=included',
)  # fmt: skip


class Bench:
    """Arm that does what the model says, pushes, and the arrival of all answers."""

    def __init__(self, folder: Path) -> None:
        self.model = robot_model(ROOT / 'urdf' / 'six_axis.urdf')
        self.values = np.nan_to_num(self.model.prior(), nan=1.0)
        content = {'dynamic_model': model_parameters(self.model, self.values, 0.0 * self.values)}
        result = folder / 'result.yaml'
        result.write_text(safe_dump(content, width=10**6))
        given = [
            *PARAMETERS,
            f'result_file:={result}',
            f'black_box_directory:={folder}/events',
        ]
        command = [sys.executable, '-m', 'robodyn_ros.nodes.collision_monitor.node', '--ros-args']
        self.process = subprocess.Popen([*command, *(x for row in given for x in ('-p', row))])
        rclpy.init()
        self.node = rclpy.create_node('bench')
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        deep = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.latched, self.commands = [0], [0]
        self.sent: dict[int, int] = {}
        self.alarms: list[float] = []
        self.states: list[float] = []
        topic = 'joint_trajectory_controller/joint_trajectory'
        self.node.create_subscription(JointTrajectory, topic, self._on_command, deep)
        topic = 'collision_monitor/collision_state'
        self.node.create_subscription(CollisionState, topic, self._on_state, deep)
        self.publisher = self.node.create_publisher(JointState, 'joint_states', 10)
        self.reset = self.node.create_client(Trigger, 'collision_monitor/reset')
        while not (self.publisher.get_subscription_count() and self.reset.service_is_ready()):
            self.executor.spin_once(timeout_sec=0.1)

    def _on_state(self, message: CollisionState, info: Any) -> None:
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        sent = self.sent.pop(stamp, 0)
        if message.latched:
            self.latched[0] = self.latched[0] or sent
        elif sent:
            self.states.append(1e-6 * (info['source_timestamp'] - sent))

    def _on_command(self, message: JointTrajectory, info: Any) -> None:
        self.commands[0] = self.commands[0] or info['source_timestamp']

    def run(self, seconds: float, push: float = 0.0) -> None:
        """Stream joint states, until the collision is latched if there is a push."""
        names = list(self.model.joint_names)
        rate = 2.0 + 0.3 * np.arange(len(names))
        for _ in range(round(seconds / PERIOD)):
            due = time.monotonic() + PERIOD
            now = time.time_ns()
            angle = rate * (1e-9 * (now % 10**12))
            q, qd = 0.3 * np.sin(angle), 0.3 * rate * np.cos(angle)
            torque = self.model.torque(q[None], qd[None], -(rate**2 * q)[None], self.values)[0]
            torque[2] -= push
            message = JointState(name=names, position=q, velocity=qd, effort=torque)
            message.header.stamp = Time(sec=now // 10**9, nanosec=now % 10**9)
            self.sent[now] = time.time_ns()
            self.publisher.publish(message)
            while (left := due - time.monotonic()) > 0.0:
                self.executor.spin_once(timeout_sec=left)
            if push and self.latched[0] and self.commands[0]:
                return

    def event(self) -> None:
        self.latched[0] = self.commands[0] = 0
        self.run(1.0, push=100.0)
        self.alarms.append(1e-6 * (self.commands[0] - self.latched[0]))
        self.run(0.4)
        self.reset.call_async(Trigger.Request())
        self.run(0.2)

    def close(self) -> None:
        """End the monitor, which writes an open event, and leave the graph."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20.0)
        self.node.destroy_node()
        rclpy.shutdown()


def figures(milliseconds: list[float]) -> dict[str, float]:
    """Return count, median, 99th percentile and maximum, in [ms]."""
    p50, p99, most = np.percentile(milliseconds, [50, 99, 100])
    return {'count': len(milliseconds), 'p50_ms': p50, 'p99_ms': p99, 'max_ms': most}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--events', type=int, default=200)
    parser.add_argument('--json', action='store_true')
    options = parser.parse_args()
    os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        try:
            bench.run(3.0)
            bench.states.clear()
            for _ in range(options.events):
                bench.event()
        finally:
            bench.close()
        events = len(list((Path(folder) / 'events').iterdir()))
    found = {'alarm': figures(bench.alarms), 'state': figures(bench.states)}
    if options.json:
        print(json.dumps({**found, 'events_kept': events}))
        return
    for name, row in found.items():
        print(f'{name}: ' + ', '.join(f'{key} {value:.3f}' for key, value in row.items()))
    print(f'events in the black box: {events}')


if __name__ == '__main__':
    main()
