# SPDX-License-Identifier: Apache-2.0
"""All nodes of the suite in a simulated cell, under fire."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
import stacks
from faults.nodes.attacks import JOINTS, MARK, MOTIONS, TOPICS, Attacks
from faults.nodes.hostile_messages import Hostile
from faults.nodes.own_parameters import OwnParameters
from faulty_cell import LIMIT, MODEL, PERIOD, STEP, URDF, FaultyCell
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from node_process import EFFORT
from rclpy.action import ActionClient
from robodyn_ros.action import Excite
from ros_client import Ear
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.excitation.catalog import write_motion
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.nodes.base.common import LATCHED_QOS
from robodyn_ros.nodes.base.presence import _qos as presence_qos
from robodyn_ros.wire.cursor import WireError
from robodyn_ros.wire.trajectory import read_trajectory

NODES = ('cell', 'feedforward', 'collision_monitor', 'guard', 'recorder',
         'identification', 'excitation', 'watch')  # fmt: skip
MANAGED = ('feedforward', 'collision_monitor', 'guard')
OUT = 'planned/joint_trajectory'
"""Topic of the trajectories of the feed-forward, which are checked."""
PENDING = 40
"""Largest number of requests that wait for an answer."""
QUEUED = 4
"""Largest number of them at one service."""
ANSWER = 60.0
"""Longest time for an answer, in [s]: of a busy machine, and with long work of nodes before it."""
UNANSWERED = ('get_result',)
"""Services that answer at the end of what was begun."""
KEPT_UP = 20
"""Messages until torque is asked for again, which faults and transitions have taken away."""
LAST_CHECK = 200
"""Messages between two looks at the torque."""


class FuzzCell(FaultyCell):
    """The processes, what is sent to them, and what must hold.

    :cvar remapped: `guard` is a second monitor, with the other inputs; joint states of the
        feed-forward, and what `watch` shows, come from the fuzzer; the trajectories of the
        feed-forward move no robot
    :ivar wrong: what did not hold
    :ivar sent: number of messages and requests
    """

    remapped: ClassVar[dict[str, dict[str, str]]] = {
        'feedforward': {
            'joint_states': 'feedforward/joint_states',
            'joint_trajectory_controller/joint_trajectory': OUT,
        },
        'guard': {'__node': 'guard'},
        'watch': {
            'collision_monitor/collision_state': 'watched/state',
            'feedforward/torque_state': 'watched/torque',
            'joint_states': 'watched/joint_states',
        },
    }

    def __init__(self, folder: Path, seed: int) -> None:
        """Start the processes."""
        robot = {'urdf': folder / 'arm.urdf', **EFFORT, 'output_directory': folder / 'out',
                 'allowed_directories': [str(folder)]}  # fmt: skip
        others = dict.fromkeys(('recorder', 'identification', 'excitation'), robot)
        # a number has no value that means: not given
        free = {'optimise.floor': -10.0, 'optimise.self_collision': 'false'}
        others['excitation'] = {**robot, **free, 'allow_unchecked': 'true', 'pause': 0.1}
        planned = {**EFFORT, 'result_file': folder / 'result.yaml', 'autostart': 'true',
                   'check_controller': 'false', 'max_torque': LIMIT.tolist()}  # fmt: skip
        guard = {**EFFORT, 'result_file': folder / 'result.yaml', 'autostart': 'true',
                 'max_torque_error': [99.0, 99.0], 'motion_source': 'reference'}  # fmt: skip
        # the identification gets its robot from the topic, which is fuzzed after that
        others['identification'] = {**robot, 'robot_description_timeout': 100.0}
        del others['identification']['urdf']
        others['watch'] = {**robot, 'port': 0}
        super().__init__(folder, 73, {**others, 'guard': guard, 'feedforward': planned})
        self.trajectory = self.node.create_publisher(JointTrajectory, MOTIONS[0], 10)
        self._robot = self.node.create_publisher(String, 'robot_description', LATCHED_QOS)
        self._robot.publish(String(data=URDF))
        self.random = Random(seed)
        self.motion = folder / 'motion.yaml'
        motion = SineMotion(
            joints=JOINTS, start=[0.0, 0.0], target=[0.2, 0.2], frequency=[0.3, 0.4],
            duration=20.0,
        )  # fmt: skip
        write_motion(motion, self.motion)
        self.hostile = Hostile(self.random, (str(self.motion), str(folder), str(folder / 'none')))
        self.wrong: list[str] = []
        self.sent = self.torque = self.cycles = self.restarts = 0
        self.stops: list[float] = []
        self._pending: list[tuple[float, str, Any]] = []
        self._own = OwnParameters(self)

    def begin(self) -> None:
        """Wait for all nodes, and learn what they offer."""
        self.wait(lambda: set(NODES) <= set(self.diagnostics), 'diagnostics of every node', 120.0)
        self._torques = Ear(self._ears, JointTrajectory, OUT, 1000, raw=True)
        self.move(900.0)
        services = {
            name.lstrip('/'): kinds[0]
            for name, kinds in self.node.get_service_names_and_types()
            if name.split('/')[1] in NODES
        }
        for node in NODES:
            self._own.learn(node)
        self.attacks = Attacks(self.random, self.hostile, services, self._own.names)
        qos = {'presence': presence_qos(), 'report': LATCHED_QOS, 'robot_description': LATCHED_QOS}
        self._senders = {
            topic: self.node.create_publisher(kind, topic, qos.get(topic.rsplit('/', 1)[-1], 10))
            for topic, kind in TOPICS.items()
        }
        # reliable: a long trajectory is too large to arrive otherwise
        self._trajectories = Ear(self._ears, JointTrajectory, MOTIONS[0], 1000, raw=True)

    def fire(self, count: int) -> None:
        """Send messages and requests, and look at the torque."""
        for number in range(count):
            self._shoot()
            if number % KEPT_UP == 0 and not self.attacks.calm:
                self._keep_up()
            if number % LAST_CHECK == LAST_CHECK - 1:
                self.look()

    def _keep_up(self) -> None:
        """Activate the feed-forward, clear its fault and enable it, without a wait."""
        transitions = (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
        for number in transitions:
            request = ChangeState.Request(transition=Transition(id=number))
            self._ask('feedforward/change_state', ChangeState, request)
        self._ask('feedforward/reset', Trigger, Trigger.Request())
        self._ask('feedforward/enable', SetBool, SetBool.Request(data=True))

    def _ask(self, service: str, kind: Any, request: Any) -> None:
        """Send a request; its answer is waited for later.

        The middleware keeps ten requests of a service; further ones would be lost on the way.
        """
        while sum(name == service for _, name, _ in self._pending) >= QUEUED:
            self._drain(len(self._pending) - 1)
        if service not in self._clients:
            self._clients[service] = self.node.create_client(kind, service)
        client = self._clients[service]
        if client.service_is_ready():
            self._pending.append((time.monotonic(), service, client.call_async(request)))

    def _drain(self, most: int) -> None:
        """Wait until few requests wait for an answer."""
        self.executor.spin_once(timeout_sec=0.0)
        while len(self._pending) > most:
            self._collect()
            self.executor.spin_once(timeout_sec=0.01)
            self.check()

    def _shoot(self) -> None:
        self.sent += 1
        if self.random.random() < 0.6:
            topic, _, message = self.attacks.message()
            self._senders[topic].publish(message)
        else:
            self._ask(*self.attacks.request())
        self._drain(PENDING)

    def _collect(self) -> None:
        """Forget what was answered; what was not in time is wrong."""
        now, left = time.monotonic(), []
        for begun, service, future in self._pending:
            if future.done() or service.endswith(UNANSWERED):
                continue
            if now > begun + ANSWER:
                self.wrong.append(f'{service} did not answer for {now - begun:.0f} s')
                node = service.split('/')[0]
                text = stacks.look(self.processes[node].pid)
                (self.folder / f'{node}.stacks').write_text(text)
            else:
                left.append((begun, service, future))
        self._pending = left

    def look(self) -> None:
        """Check the torques of the trajectories since the last look."""
        rows = self._torques.rows()
        messages = [row.message for row in rows]
        for ear in (self._torques, self._commands, self._states, self._levels):
            ear.forget(kept=0)
        for message in messages:
            try:
                plan = read_trajectory(message)
            except WireError:  # of an inactive node
                continue
            if (effort := plan.fields[3]) is None:
                continue
            if not (np.isfinite(effort).all() and (np.abs(effort) <= LIMIT).all()):
                self.wrong.append(f'torque {effort[np.abs(effort).max(axis=1).argmax()]}')
            allowed = STEP * np.diff(plan.time)[:, None] / PERIOD
            if (np.abs(np.diff(effort, axis=0)) > allowed * (1 + 1e-5)).any():
                self.wrong.append('torque rate')
            self.cycles += len(effort)
            self.torque += int(effort.any(axis=1).sum())

    def settle(self) -> None:
        """Wait for all answers, and bring every node back to work.

        :raises AssertionError: one does not come back
        """
        self.attacks.calm = True
        deadline = time.monotonic() + ANSWER + 5.0
        while self._pending and time.monotonic() < deadline:
            self.check()
            self.executor.spin_once(timeout_sec=0.01)
            self._collect()
        for node in NODES:
            if reason := self._own.restore(node):
                self.wrong.append(f'{node} refuses its own parameters: {reason}')
        for node in MANAGED:
            self._revive(node)
        self.call(Trigger, 'excitation/stop', Trigger.Request())
        self.call(Trigger, 'collision_monitor/reset', Trigger.Request())
        self.attacks.calm = False

    def _revive(self, node: str) -> None:
        """Activate a node from whatever state it is in."""
        wanted = {
            State.PRIMARY_STATE_UNCONFIGURED: Transition.TRANSITION_CONFIGURE,
            State.PRIMARY_STATE_INACTIVE: Transition.TRANSITION_ACTIVATE,
        }
        deadline = time.monotonic() + ANSWER
        while time.monotonic() < deadline:  # it may be on its way, after a restart by itself
            state = self.call(GetState, f'{node}/get_state', GetState.Request()).current_state.id
            if state == State.PRIMARY_STATE_ACTIVE:
                return
            if state == State.PRIMARY_STATE_FINALIZED:
                self._restart(node)
                continue
            if f'{node}/reset' in self.attacks.services:  # a latched fault refuses the activation
                self.call(Trigger, f'{node}/reset', Trigger.Request())
            request = ChangeState.Request(transition=Transition(id=wanted.get(state, 0)))
            self.call(ChangeState, f'{node}/change_state', request)
        self.wrong.append(f'{node} does not become active again: {self.diagnostics.get(node)}')
        self._restart(node)

    def _restart(self, node: str) -> None:
        """Start a node again that was shut down or has unusable parameters, as launch does."""
        self.restarts += 1
        self.kill(node)
        old = self.diagnostics.pop(node, None)
        self.start(node)
        self.wait(lambda: node in self.diagnostics, f'{node} again after {old}')
        for service in [name for name in self._clients if name.startswith(f'{node}/')]:
            self.node.destroy_client(self._clients.pop(service))

    def work(self) -> None:
        """Let the robot move again, and trajectories get torque."""
        self.settle()
        deadline = time.monotonic() + ANSWER
        while True:
            try:
                self.call(Trigger, 'cell/reset', Trigger.Request())
                self.move(900.0)
                self.call(Trigger, 'feedforward/reset', Trigger.Request())
                self.call(SetBool, 'feedforward/enable', SetBool.Request(data=True))
                return
            except AssertionError:  # a late message moved the robot
                if time.monotonic() > deadline:
                    raise

    def stop_under_fire(self, count: int) -> None:
        """Stop an excitation while requests come in; note the time until its stop is sent."""
        self.settle()
        self.attacks.calm = True
        client = ActionClient(self.node, Excite, 'excitation/excite')
        try:
            if self._excited(client):
                self.fire(count)
                self._stop()
        finally:
            self.attacks.calm = False
            client.destroy()

    def _stop(self) -> None:
        """Stop the excitation that runs."""
        client = self._clients['excitation/stop']  # of `settle`
        self.wait(client.service_is_ready, 'excitation/stop')
        self._trajectories.forget(kept=0)
        begin = time.time()
        future = client.call_async(Trigger.Request())
        self.wait(future.done, 'the answer to a stop')
        if (answer := future.result()).success:
            self.fire(3)
            self.wait(self._stop_sent, f'the stop: {answer.message}')
            self.stops.append(self._stop_sent() - begin)
        else:
            self.wrong.append(f'the motion ended before its stop: {answer.message}')

    def _excited(self, client: Any) -> bool:
        """Start a motion; return whether it runs.

        Trajectories that were fuzzed before may still move the robot, or make it unstable, when
        they arrive after a reset: so each attempt begins with one.
        """
        deadline = time.monotonic() + 2.0 * ANSWER
        while time.monotonic() < deadline:
            self.call(Trigger, 'excitation/stop', Trigger.Request())  # none runs, and it answers
            self.call(Trigger, 'cell/reset', Trigger.Request())
            self.wait(client.server_is_ready, 'the action')
            self._trajectories.forget(kept=0)
            sent = client.send_goal_async(Excite.Goal(motion_file=str(self.motion)))
            self.wait(sent.done, 'the answer to a goal')
            result = sent.result().get_result_async()
            self.wait(lambda r=result: r.done() or self._stop_sent(), 'the motion')
            if not result.done():
                return True
            self.reason = result.result().result.message
            self.spin(0.3)
        self.wrong.append(f'no motion can be started: {self.reason}')
        return False

    def _stop_sent(self) -> float:
        """Return when the first trajectory was sent that is not fuzzed; 0.0: not yet."""
        for row in self._trajectories.rows():
            if MARK.encode() not in row.message[:40]:
                return float(row.time)
        return 0.0

    def memory(self) -> dict[str, float]:
        """Return the largest resident memory of each process, in [MB]."""
        sizes = {}
        for name, process in self.processes.items():
            text = Path(f'/proc/{process.pid}/status').read_text()
            sizes[name] = round(int(text.partition('VmHWM:')[2].split()[0]) / 1024.0, 1)
        return sizes


assert tuple(MODEL.joint_names) == tuple(JOINTS)
