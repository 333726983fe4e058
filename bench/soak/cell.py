# SPDX-License-Identifier: Apache-2.0
"""The processes of a soak: their faults, their recovery, and all that they send."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import stacks
from faulty_cell import LAST, OK, FaultyCell
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from robodyn_ros.msg import CollisionState, TorqueState
from robodyn_ros.srv import StartRecording, StopRecording
from ros_client import Ear, SilenceError
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from bench.soak.checks import Checks
from bench.soak.faults import SoakFault
from bench.soak.messages import joint_sample, level_sample, stamp_of

PERIOD = 0.001
ANSWER = 5.0
"""Time after which a service call is repeated, in [s]: DDS lists a killed node for a while."""
ANSWERS = 3
"""Number of topics that answer others: levels, commands and torque states."""
EVENTS = 3
"""Further events between two looks at the topics: answers must not wait for thousands of rows."""
FRESH = 1.0
"""Age of a message that tells what is so now, in [s]; the last one of a killed process stays."""
RECOVERY = 90.0
"""Longest time until all work again after a fault, in [s]."""
DEAF = 30.0
"""Time without recovery after which a killed node is started once more, in [s]."""


class SoakCell(FaultyCell):
    """Cell at 1 kHz with feed-forward, monitor and recorder.

    :ivar segments: folder of each recording -> messages by the recorder's answer; -1: it was
        killed; -2: it still records
    :ivar deaf: nodes that had to be started again, because they heard nothing after a kill
    """

    def __init__(self, folder: Path) -> None:
        """Start the processes."""
        self.checks = Checks(PERIOD)
        self.segments: dict[Path, int] = {}
        self.dropped: dict[Path, int] = {}
        self._pumps: tuple[Any, ...] = ()
        self._waiting: list[Any] = []
        self._taken_of: dict[int, int] = {}
        self._forgotten = self._looked = self._killed = 0.0
        self.deaf: list[str] = []
        self._respawned = ''
        robot = {'urdf': folder / 'arm.urdf', 'effort.unit': 'Nm', 'effort.side': 'joint',
                 'effort.gravity': 'included', 'output_directory': folder / 'out'}  # fmt: skip
        super().__init__(folder, 77, {'recorder': robot}, PERIOD)
        ears = [
            (CollisionState, 'collision_monitor/collision_state', level_sample),
            (TorqueState, 'feedforward/torque_state', stamp_of),
            (JointState, 'joint_states', joint_sample),
            (JointState, 'joint_trajectory_controller/reference', stamp_of),
        ]
        levels, states, joints, references = (
            Ear(self._ears, kind, topic, raw=True, read=read) for kind, topic, read in ears
        )
        self._now = {'levels': levels, 'torque': states}
        checks = self.checks
        self._pumps = (
            (self._commands, checks.command), (levels, checks.level),
            (states, checks.torque_state), (joints, checks.joint_state),
            (references, checks.reference),
        )  # fmt: skip

    def _listen(self) -> None:
        """Hear less than other tests: of torque states only the last one is looked at."""
        super()._listen()
        self._states = Ear(self._ears, TorqueState, 'feedforward/torque_state', LAST)
        self._levels = Ear(self._ears, CollisionState, 'collision_monitor/collision_state', LAST)

    def check(self) -> None:
        """Take all that came; called in every wait.

        Answers are taken before what they answer, and checked after it, one call later: what
        they answer has come by then.
        """
        super().check()
        now = [(self._new(ear), take) for ear, take in self._pumps]
        for rows, take in [*now[ANSWERS:], *self._waiting]:
            for row in rows:
                take(row)
        self._waiting = now[:ANSWERS]
        if (clock := time.time()) > self._forgotten + 1.0:
            self._forgotten = clock
            self.checks.forget(clock)

    def _new(self, ear: Any) -> list[Any]:
        """Return what came since the last call; only its last row is kept."""
        rows = ear.rows()
        new = rows[self._taken_of.get(id(ear), 0) :]
        del rows[:-1]
        self._taken_of[id(ear)] = len(rows)
        return list(new)

    def spend(self, seconds: float) -> None:
        """Let time pass."""
        self.until(lambda: False, seconds)

    def until(self, condition: Callable[[], object], seconds: float) -> bool:
        """Wait; return whether it came true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.check()
            if condition():
                return True
            self.executor.spin_once(timeout_sec=0.01)
            for _ in range(EVENTS):
                self.executor.spin_once(timeout_sec=0.0)
        return False

    def asked(self, kind: Any, service: str, request: Any) -> Any:
        """Return the answer of a service, whose process may be new."""
        end = time.monotonic() + RECOVERY
        while time.monotonic() < end:
            client = self.node.create_client(kind, service)
            try:
                if self.until(client.service_is_ready, ANSWER):
                    future = client.call_async(request)
                    if self.until(future.done, ANSWER):
                        return future.result()
            finally:
                self.node.destroy_client(client)
        raise AssertionError(f'{service} does not answer\n{self.said()}')

    def strike(self, fault: SoakFault) -> None:
        """Make a fault and wait for its end."""
        getattr(self, f'_{fault.kind}', self._spoil)(fault)

    def _spoil(self, fault: SoakFault) -> None:
        value = ParameterValue(type=4, string_value=fault.injected)
        request = SetParameters.Request(parameters=[Parameter(name='fault', value=value)])
        result = self.asked(SetParameters, 'cell/set_parameters', request).results[0]
        assert result.successful, result.reason
        self.spend(fault.seconds)

    def _stop(self, fault: SoakFault) -> None:
        process = self.processes[fault.target]
        process.send_signal(signal.SIGSTOP)
        try:
            self.spend(fault.seconds)
        finally:
            process.send_signal(signal.SIGCONT)

    def _kill(self, fault: SoakFault) -> None:
        self.kill(fault.target)
        self._killed, self._respawned = time.time(), fault.target
        if fault.target == 'recorder':
            for folder, messages in self.segments.items():
                self.segments[folder] = -1 if messages == -2 else messages
        self.spend(fault.seconds)
        self.start(fault.target)

    def _clock(self, fault: SoakFault) -> None:
        """Give a node a simulated time that jumps, then that of the system again."""
        publisher = self.node.create_publisher(Clock, '/clock', 10)
        self._simulated(fault.target, True)
        end = time.monotonic() + fault.seconds
        shift = 0.0
        while time.monotonic() < end:
            now = time.time() + shift
            clock = Clock()
            clock.clock.sec, clock.clock.nanosec = int(now), int(now % 1.0 * 1e9)
            publisher.publish(clock)
            shift = fault.size - shift
            self.spend(0.02)
        self._simulated(fault.target, False)
        self.node.destroy_publisher(publisher)

    def _simulated(self, node: str, value: bool) -> None:
        parameter = Parameter(name='use_sim_time', value=ParameterValue(type=1, bool_value=value))
        request = SetParameters.Request(parameters=[parameter])
        answer = self.asked(SetParameters, f'{node}/set_parameters', request)
        assert answer.results[0].successful, answer.results[0].reason

    def _reset(self, fault: SoakFault) -> None:
        self.asked(Trigger, 'cell/reset', Trigger.Request())

    def recover(self) -> float:
        """Do what an operator does after a fault; return how long it took, in [s].

        :raises AssertionError: something does not work again
        """
        begin = time.monotonic()
        while time.monotonic() < begin + RECOVERY:
            if self._respawned and time.monotonic() > begin + DEAF:
                self._respawn()
            try:
                if self._recovered():
                    self._respawned = ''
                    return time.monotonic() - begin
            except SilenceError:  # the machine stood still
                continue
        raise AssertionError(f'no recovery in {RECOVERY} s\n{self.said()}')

    def _respawn(self) -> None:
        """Start a node once more whose memory Fast DDS has deleted, as `faults.yaml` asks for."""
        node, self._respawned, self._killed = self._respawned, '', time.time()
        text = stacks.waits(self.processes[node].pid)
        self.deaf.append(f'{node}: {"memory deleted" if "(deleted)" in text else text}')
        self.kill(node)
        self.start(node)

    def _recovered(self) -> bool:
        """Make one attempt."""
        if not self.until(self._moves, 2.0):
            self.move(900.0)
        if self.working() and not (self.state and self.state.enabled):
            self.asked(Trigger, 'feedforward/reset', Trigger.Request())
            self.asked(SetBool, 'feedforward/enable', SetBool.Request(data=True))
        return self.until(lambda: self.working() == '', ANSWER)

    def _moves(self) -> bool:
        reference = self.reference
        return bool(reference and any(reference.velocity))

    def working(self) -> str:
        """Return what does not work at present, or ''."""
        for name, ear in self._now.items():
            rows = ear.rows()
            since = max(time.time() - FRESH, self._killed)
            if not rows or rows[-1].time < since:
                return f'no message for {FRESH} s: {name}'
        levels = self._now['levels'].rows()[-1].message.level
        if levels != [OK, OK]:
            return f'levels {levels}'
        if time.monotonic() > self._looked + 0.1:
            self._looked = time.monotonic()
            self._states.forget()
        return '' if self.state.enabled else f'no torque: {self.state.fault}'

    def record(self) -> None:
        """End the recording, if there is one, and begin another."""
        self.stop_recording()
        path = self.folder / 'out' / f'segment_{len(self.segments)}'
        request = StartRecording.Request(recording=str(path))
        answer = self.asked(StartRecording, 'recorder/start', request)
        assert answer.success or f'already recording to {path}' in answer.message, answer.message
        self.segments[path] = -2

    def stop_recording(self) -> None:
        """End the recording, if there is one."""
        if -2 not in self.segments.values():
            return
        answer = self.asked(StopRecording, 'recorder/stop', StopRecording.Request())
        for folder, messages in self.segments.items():
            if messages == -2:
                self.segments[folder] = answer.messages if answer.recording else -1
                self.dropped[folder] = answer.dropped
