# SPDX-License-Identifier: Apache-2.0
"""Latency and CPU of the collision monitor, compared with a bare rclpy relay.

`ramps` is the monitor with thresholds learned from this motion with noise.
They run one after the other in separate processes, on an arm of six or seven axes, with the same
stream of joint states. Latency is the time from the stamp of a message, set when it is published,
to the arrival of the answer. The relay measures machine and rclpy alone. Also measured: duration
of a trajectory of 20 s through the feed-forward. `cpu_percent_unheard` is measured without
subscribers of the answer. Memory is the RSS at the start and at the end of the measurement. Run
without other load: `python bench/bench_nodes.py [--seconds 60] [--rate 500] [--axes 6]
[--nodes ...] [--json]`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rclpy
from builtin_interfaces.msg import Time
from rclpy.node import Node
from robodyn_ros.msg import CollisionState
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory
from yaml import safe_dump

from robodyn_ros.analysis.thresholds.learn import learn
from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.ramp_law import ErrorSamples
from robodyn_ros.control.collision.thresholds_file import LearnedThresholds, write_thresholds
from robodyn_ros.identification.files.result_file import load_identified_model, model_parameters
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.nodes.base.common import MONITOR_QOS
from robodyn_ros.nodes.base.spinning import make_executor, settle_garbage_collector
from robodyn_ros.wire.trajectory import write_trajectory

ROOT = Path(__file__).resolve().parent.parent
ROBOTS = {6: 'six_axis', 7: 'lwr4'}
"""Robot by its number of axes."""
RELAY = 'bare rclpy relay'
NODES = ['collision_monitor', 'ramps', 'trajectory']
TICKS = os.sysconf('SC_CLK_TCK')
PAGE = os.sysconf('SC_PAGE_SIZE')
WARM_UP = 3.0
"""Duration of the stream before the measurement, in [s]."""
UNHEARD = 60.0
"""Longest measurement without subscribers, in [s]."""
FEEDFORWARD = ['max_torque:=[5000.0]', 'check_controller:=false']
CONSTANT, EVERY_SAMPLE = 'max_torque_error:=[30.0]', 'collision_state_rate:=0.0'
EFFORT = ('effort.unit:=Nm', 'effort.side:=joint', 'effort.gravity:=included')


class Relay(Node):
    """Minimal node: for each message it publishes two with the same stamp."""

    def __init__(self) -> None:
        super().__init__('relay')
        self._answer = self.create_publisher(JointState, 'relay/answer', MONITOR_QOS)
        self._command = self.create_publisher(Float64MultiArray, 'relay/commands', 10)
        self.create_subscription(JointState, 'relay/reference', self._on_state, MONITOR_QOS)

    def _on_state(self, message: JointState) -> None:
        self._command.publish(Float64MultiArray(data=message.velocity))
        self._answer.publish(message)


def run_relay() -> None:
    rclpy.init()
    executor = make_executor()
    executor.add_node(Relay())
    settle_garbage_collector()
    with contextlib.suppress(KeyboardInterrupt):
        while rclpy.ok():
            executor.spin_once(timeout_sec=0.1)


class Client:
    """Publisher of a smooth motion at a rate, which measures the time of every answer."""

    def __init__(
        self, model: DynamicModel, values: np.ndarray, seconds: float, rate: float
    ) -> None:
        self.joints, self.seconds, self.rate = list(model.joint_names), seconds, rate
        self.model, self.values = model, values
        rclpy.init()
        self.node = rclpy.create_node('bench')
        self.executor = make_executor()
        self.executor.add_node(self.node)
        self.late: list[int] = []

    def measure(
        self, command: list[str], topics: list[str], kind: Any, answer: str
    ) -> dict[str, float]:
        publishers = [self.node.create_publisher(JointState, topic, 10) for topic in topics]
        listener = None
        process = subprocess.Popen(command)
        try:
            while not all(publisher.get_subscription_count() for publisher in publishers):
                self.executor.spin_once(timeout_sec=0.1)
            self._stream(publishers, WARM_UP)
            quiet = min(0.5 * self.seconds, UNHEARD)
            _, unheard = self._stream_measured(publishers, process.pid, quiet)
            listener = self.node.create_subscription(
                kind, answer, self._on_answer, MONITOR_QOS, raw=True
            )
            self._stream(publishers, WARM_UP)
            held = resident(process.pid)
            self.late.clear()
            sent, share = self._stream_measured(publishers, process.pid, self.seconds)
            held_after = resident(process.pid)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
            if listener is not None:
                self.node.destroy_subscription(listener)
        if not self.late:
            raise RuntimeError(f'no answer on {answer} from: {" ".join(command)}')
        late = np.array(self.late[: sent + 10]) * 1e-6
        return {
            'cpu_percent': 100.0 * share,
            'cpu_percent_unheard': 100.0 * unheard,
            'p50_ms': float(np.percentile(late, 50)),
            'p99_ms': float(np.percentile(late, 99)),
            'max_ms': float(late.max()),
            'rss_begin_mb': held,
            'rss_end_mb': held_after,
            'sent': sent,
            'answered': len(self.late),
        }

    def _on_answer(self, serialised: bytes) -> None:
        seconds, nanoseconds = struct.unpack_from('<iI', serialised, 4)
        self.late.append(time.time_ns() - seconds * 10**9 - nanoseconds)

    def _stream_measured(
        self, publishers: list[Any], pid: int, seconds: float
    ) -> tuple[int, float]:
        """Stream; return the number of samples, and the CPU as a share of a core."""
        begin, used = time.monotonic(), cpu_seconds(pid)
        sent = self._stream(publishers, seconds)
        return sent, (cpu_seconds(pid) - used) / (time.monotonic() - begin)

    def _stream(self, publishers: list[Any], seconds: float) -> int:
        """Publish for a duration from a separate thread, and receive the answers here."""
        count = round(seconds * self.rate)
        thread = threading.Thread(target=self._publish, args=(publishers, count))
        thread.start()
        while thread.is_alive():
            self.executor.spin_once(timeout_sec=0.01)
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.01)
        return count

    def _publish(self, publishers: list[Any], count: int) -> None:
        message = JointState(name=self.joints)
        begin = time.monotonic()
        for number in range(count):
            due = begin + number / self.rate
            time.sleep(max(0.0, due - time.monotonic()))
            q, qd, qdd = motion(np.array([due]), len(self.joints))
            message.position, message.velocity = array('d', q[0]), array('d', qd[0])
            message.effort = array('d', self.model.torque(q, qd, qdd, self.values)[0])
            now = time.time_ns()
            message.header.stamp = Time(sec=now // 10**9, nanosec=now % 10**9)
            for publisher in publishers:
                publisher.publish(message)

    def trajectory(self, command: list[str], duration: float) -> dict[str, float]:
        """Return the time of a trajectory with 8 ms between points through the trajectory mode."""
        arrived: list[float] = []
        self.node.create_subscription(
            JointTrajectory, 'joint_trajectory_controller/joint_trajectory',
            lambda _: arrived.append(time.perf_counter()), 10, raw=True,
        )  # fmt: skip
        publisher = self.node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 10)
        process = subprocess.Popen(command)
        spans = []
        try:
            while not publisher.get_subscription_count():
                self.executor.spin_once(timeout_sec=0.1)
            at = np.arange(round(duration / 0.008) + 1) * 0.008
            rate = 2.0 * np.pi / at[-1]
            phase = rate * at[:, None] * np.ones(len(self.joints))
            fields = [1.0 - np.cos(phase), rate * np.sin(phase), rate**2 * np.cos(phase)]
            fields[1][-1] = 0.0
            fields.append(np.zeros_like(phase))
            message = write_trajectory(stamp=0, joints=self.joints, time=at, fields=fields)
            end = time.monotonic() + 3.0
            while time.monotonic() < end:
                self.executor.spin_once(timeout_sec=0.1)
            for _ in range(7):
                arrived.clear()
                begin = time.perf_counter()
                publisher.publish(message)
                while not arrived:
                    self.executor.spin_once(timeout_sec=1.0)
                spans.append(arrived[-1] - begin)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
        return {'median_s': float(np.median(spans)), 'max_s': max(spans)}


def motion(time: np.ndarray, axes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, velocity and acceleration, shape (N, axes) each."""
    speed = 1.0 + np.arange(axes)
    phase = speed * time[:, None]
    q = 0.3 * np.sin(phase)
    return q, 0.3 * speed * np.cos(phase), -(speed**2) * q


def learned_thresholds(result: Path, rate: float, axes: int) -> Path:
    """Write the thresholds of three minutes of the motion with noise."""
    time = np.arange(round(180.0 * rate)) / rate
    noise = np.random.default_rng(1).normal(size=(len(time), axes))
    never = np.zeros(len(time), dtype=bool)
    samples = ErrorSamples(time, *motion(time, axes), noise, never)
    session = Session('motion', samples, ~never, time > 0.1, time == 0.0)
    learned = learn([session], 1.0 / rate, np.ones(axes))
    model = load_identified_model(result)
    detector = {'period': 1.0 / rate, 'filter_cutoff': 40.0, 'torque_error_filter': 1.0,
                'debounce': 1}  # fmt: skip
    file = LearnedThresholds(model.joints, model.loaded_hash, detector, learned.law,
                             learned.contact, sum(learned.hours), learned.wanted,
                             learned.rate)  # fmt: skip
    path = result.with_name('thresholds.yaml')
    write_thresholds(file, path)
    return path


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process."""
    fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(pid: int) -> float:
    """Return the resident memory of a process, in [MB]."""
    return int(Path(f'/proc/{pid}/statm').read_text().split()[1]) * PAGE * 1e-6


def node_command(name: str, result: Path, *parameters: str) -> list[str]:
    command = [sys.executable, '-m', f'robodyn_ros.nodes.{name}.node', '--ros-args']
    values = ('autostart:=true', f'result_file:={result}', *EFFORT, *parameters)
    return command + [word for value in values for word in ('-p', value)]


def bench(
    seconds: float, rate: float, axes: int, nodes: list[str], folder: Path
) -> dict[str, dict[str, float]]:
    model = robot_model(ROOT / 'urdf' / f'{ROBOTS[axes]}.urdf')
    values = np.nan_to_num(model.prior(), nan=1.0)
    result = folder / 'result.yaml'
    content = {'dynamic_model': model_parameters(model, values, 0.0 * values)}
    result.write_text(safe_dump(content, width=10**6))
    client = Client(model, values, seconds, rate)
    period = f'period:={1.0 / rate}'
    relay = [sys.executable, __file__, '--relay']
    answers = {
        'relay': (RELAY, relay, ['relay/reference'], JointState, 'relay/answer'),
        'collision_monitor': (
            'collision_monitor',
            node_command('collision_monitor', result, period, CONSTANT, EVERY_SAMPLE),
            ['joint_states'], CollisionState, 'collision_monitor/collision_state',
        ),
    }  # fmt: skip
    if 'ramps' in nodes:
        thresholds = f'thresholds:={learned_thresholds(result, rate, axes)}'
        answers['ramps'] = (
            'collision_monitor with ramps',
            node_command('collision_monitor', result, period, thresholds, EVERY_SAMPLE),
            *answers['collision_monitor'][2:],
        )
    figures = {
        answers[name][0]: client.measure(*answers[name][1:])
        for name in answers
        if name == 'relay' or name in nodes
    }
    if 'trajectory' in nodes:
        command = node_command('feedforward', result, 'state_timeout:=0.0', *FEEDFORWARD)
        figures['trajectory of 20 s, 10 054 points out'] = client.trajectory(command, 20.0)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=60.0, help='per node')
    parser.add_argument('--rate', type=float, default=500.0, help='joint states per second')
    parser.add_argument('--axes', type=int, choices=ROBOTS, default=6)
    parser.add_argument(
        '--nodes', nargs='+', choices=NODES, default=NODES, help='beside the relay'
    )
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--relay', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.relay:
        run_relay()
        return
    os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    with tempfile.TemporaryDirectory() as folder:
        figures = bench(options.seconds, options.rate, options.axes, options.nodes, Path(folder))
    if options.json:
        print(json.dumps(figures))
        return
    for name, row in figures.items():
        print(f'{name}: ' + ', '.join(f'{key} {value:.3f}' for key, value in row.items()))


if __name__ == '__main__':
    main()
