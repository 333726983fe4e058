# SPDX-License-Identifier: Apache-2.0
"""One node of the suite as a process of its own, and a client that talks to it over real DDS."""

from __future__ import annotations

import atexit
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from ros_client import RosClient, details, environment
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

EFFORT = {'effort.unit': 'Nm', 'effort.side': 'joint', 'effort.gravity': 'included'}
"""Declaration of what the tests' joint states hold."""


@contextmanager
def closed(owner):
    """Give a node process, or an object with one, and end the process afterwards."""
    try:
        yield owner
    finally:
        (owner if isinstance(owner, NodeProcess) else owner.process).close()


class NodeProcess(RosClient):
    """A node, and everything it says on some topics."""

    def __init__(
        self,
        name: str,
        number: int,
        log: Path,
        parameters,
        params_file=None,
        script=None,
        context=None,
        simulated=True,
        remap=None,
    ) -> None:
        """Start `robodyn_ros.nodes.<name>`, or a script, with these parameters.

        :param context: of another client in the same domain, see `ros_client.joined`
        :param remap: a name for another one, as FROM:=TO
        :param simulated: the node has the time of this test, see `SimulatedTime`; False: real time
        """
        self.name = name
        simulated = simulated and name != 'cell'  # which makes the time
        program = ['-m', f'robodyn_ros.nodes.{name}.node'] if script is None else [str(script)]
        command = [sys.executable, *program, '--ros-args', *(['-r', remap] if remap else [])]
        given = {'use_sim_time': str(bool(simulated)).lower(), **parameters}
        for parameter, value in given.items():
            command += ['-p', f'{parameter}:={value}']
        if params_file:
            command += ['--params-file', str(params_file)]
        self.log = log
        with log.open('w') as file:
            self.process = subprocess.Popen(
                command,
                env={**environment(number), 'ROS_HOME': str(log.parent / 'ros')},
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        atexit.register(self._kill)
        super().__init__(environment(number), context, simulated=simulated)
        self._ending = False
        self.diagnostics = self.listen(DiagnosticArray, '/diagnostics', 10)
        # Starting takes seconds where many processes share the cores.
        self.wait(lambda: self.diagnostics, 'a first sign of life')

    def lost(self) -> str:
        return '' if self._ending or self.process.poll() is None else self.said()

    def said(self) -> str:
        return self.log.read_text()

    def publisher(self, kind, topic, qos=10):
        """A publisher whose every message the node hears."""
        return super().publisher(kind, topic, self.name, qos)

    def settle(self) -> None:
        """Take all that the node has published so far: before it answers."""
        self.known_to(self.name)
        self.drain()

    def call(self, kind, service, request, *, still=False):
        return super().call(kind, f'{self.name}/{service}', request, still=still)

    def change(self, transition) -> bool:
        """Request a lifecycle transition; return True if it succeeded."""
        request = ChangeState.Request(transition=Transition(id=transition))
        return self.call(ChangeState, 'change_state', request).success

    def reset(self):
        # at the time of the last sample: with none since, what the node knows grows old
        return self.call(Trigger, 'reset', Trigger.Request(), still=True)

    def enable(self, value: bool):
        return self.call(SetBool, 'enable', SetBool.Request(data=value))

    def status(self):
        """Next diagnostic status, of what is so now."""
        asked = self.now()

        def fresh():
            stamps = [row.header.stamp for row in self.diagnostics[-1:]]
            return any(stamp.sec + 1e-9 * stamp.nanosec > asked for stamp in stamps)

        self.wait(fresh, 'diagnostics')
        return self.diagnostics[-1].status[0]

    def details(self) -> dict[str, str]:
        """Values of the next diagnostic status."""
        return details(self.status())

    def wait_for(self, text: str) -> None:
        """Wait until the diagnostics say this, from the beginning of a word on."""
        words = re.compile(rf'\b{re.escape(text)}')
        self.wait(
            lambda: self.diagnostics and words.search(self.diagnostics[-1].status[0].message), text
        )

    def end(self) -> int:
        """Wait for the end of the process, which is on its way; its exit code.

        A node that ended has left the graph: who waits for it must not see a server that is dead.
        """
        self._ending = True
        self.wait(lambda: self.process.poll() is not None, 'the end')
        if self.process.returncode >= 0:  # it was not killed
            there = self.node.get_node_names
            self.wait(lambda: self.name not in there(), 'the node to leave the graph', 10.0)
        return self.process.returncode

    def interrupt(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.end()

    def _kill(self) -> None:
        """End the process, also when a fixture fails before it can close it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def close(self) -> None:
        atexit.unregister(self._kill)
        self._kill()
        super().close()


def joint_state(names, stamp: float, position=(), velocity=(), effort=()) -> JointState:
    message = JointState(name=list(names))
    nanoseconds = round(stamp * 1e9)
    message.header.stamp = Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
    message.position = [float(v) for v in position]
    message.velocity = [float(v) for v in velocity]
    message.effort = [float(v) for v in effort]
    return message
