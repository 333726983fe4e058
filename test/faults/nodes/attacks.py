# SPDX-License-Identifier: Apache-2.0
"""Messages, requests, parameters and transitions that a fuzzer sends, in random order."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any

from faults.mutate import mutated
from faults.nodes.hostile_messages import Hostile, type_of
from lifecycle_msgs.msg import Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.serialization import serialize_message
from robodyn_ros.msg import CollisionState, IdentificationReport, TorqueState
from robodyn_ros.msg import NodePresence as Presence
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

JOINTS = ['joint1', 'joint2']
MARK = 'fuzz'
"""Frame of a fuzzed trajectory, to distinguish it from those of the nodes."""
STATES = ('joint_states', 'joint_trajectory_controller/reference')
MOTIONS = ('joint_trajectory_controller/joint_trajectory', 'forward_position_controller/commands')
TOPICS = {
    **dict.fromkeys(STATES, JointState),
    MOTIONS[0]: JointTrajectory, MOTIONS[1]: Float64MultiArray,
    'feedforward/joint_trajectory': JointTrajectory, 'feedforward/joint_states': JointState,
    'feedforward/transition_event': TransitionEvent,
    'excitation/presence': Presence, 'recorder/presence': Presence,
    'guard/reference': JointState, 'guard/stopped': Bool, 'robot_description': String,
    'identification/report': IdentificationReport, 'watched/state': CollisionState,
    'watched/torque': TorqueState, 'watched/joint_states': JointState,
}  # fmt: skip
"""Topics of hostile messages."""
SHUTDOWN = (5, 6, 7)
"""Transitions after which a node must be started again, which takes seconds."""


def usual(kind: Any) -> Any:
    """Return a message as it would be usual now."""
    if kind is JointState:
        message = JointState(
            name=JOINTS, position=[0.1, 0.2], velocity=[0.0] * 2, effort=[1.0] * 2
        )
    elif kind is JointTrajectory:
        message = JointTrajectory(joint_names=JOINTS)
        for seconds in (1, 2):
            point = JointTrajectoryPoint(positions=[0.1 * seconds, 0.2], velocities=[0.0, 0.0])
            point.time_from_start.sec = seconds
            message.points.append(point)
        message.header.frame_id = MARK
        return message
    elif kind is Float64MultiArray:
        return Float64MultiArray(data=[0.1, 0.2])
    elif not hasattr(kind(), 'header'):
        return kind()
    else:
        message = kind()
    now = time.time_ns()
    message.header.stamp.sec, message.header.stamp.nanosec = now // 10**9, now % 10**9
    return message


def absurd(random: Random, hostile: Hostile) -> JointTrajectory:
    """Return a trajectory that asks for much: far apart, many points, or many joints."""
    message = usual(JointTrajectory)
    how = random.randrange(4)
    if how == 0:
        message.points[1].time_from_start.sec = random.choice((1000, 100_000, 2**31 - 1))
    elif how == 1:
        message.points = message.points * random.choice((100, 1500))
    elif how == 2:
        message.joint_names = [f'joint{i}' for i in range(random.choice((3, 300)))]
    else:
        message.points = [hostile.spoil(point) for point in message.points]
    return message


class Attacks:
    """Random choice of what is sent next.

    :ivar calm: True: nothing that moves the robot, or says that it moves
    """

    def __init__(
        self,
        random: Random,
        hostile: Hostile,
        services: dict[str, str],
        names: dict[str, list[str]],
    ) -> None:
        """`services`: name -> type; `names`: of the parameters, by node."""
        self.random, self.hostile = random, hostile
        self.calm = False
        self.services = {
            name: type_of(kind) for name, kind in services.items() if not name.endswith('_event')
        }
        self.names = names

    def message(self) -> tuple[str, Any, Any]:
        """Return topic, type and message, or its bytes."""
        random = self.random
        topics = [t for t in TOPICS if not (self.calm and t in (*STATES, *MOTIONS))]
        topic = random.choice(topics)
        kind = TOPICS[topic]
        message = usual(kind)
        how = random.random()
        if kind is JointTrajectory and how < 0.3:
            return topic, kind, absurd(random, self.hostile)
        if how < 0.6 or kind is Bool:  # the middleware sends no longer ones of a fixed size
            return topic, kind, self.hostile.spoil(message)
        data = bytes(serialize_message(message))
        return topic, kind, data[:24] + mutated(data[24:], 'bytes', random)

    def request(self) -> tuple[str, Any, Any]:
        """Return service, type and request."""
        name = self.random.choice(list(self.services))
        kind = self.services[name]
        if (self.calm and name.rsplit('/', 1)[-1] in CALMING) or ('/cell/' in name and self.calm):
            return self.request()
        request = kind.Request()
        special: Callable[[str, Any], None] | None = SPECIAL.get(kind)
        if special is not None:
            getattr(self, special)(name.rsplit('/', 1)[0], request)
        else:
            self.hostile.spoil(request)
        return name, kind, request

    def _change(self, node: str, request: Any) -> None:
        known = [1, 2, 3, 4, 0, 8, 9, 50, 77, 255]
        last = self.random.random() < 0.01
        number = self.random.choice(SHUTDOWN if last else known)
        request.transition = Transition(
            id=number, label=self.random.choice(('', 'x', 'configure'))
        )

    def _set(self, node: str, request: Any) -> None:
        names = self.names.get(node, [])
        many = self.random.choice((0, 1, 1, 1, 1, 1, 2, 200))
        some = [self._parameter(names) for _ in range(min(many, 2))]
        request.parameters = [some[i % len(some)] for i in range(many)]

    def _parameter(self, names: list[str]) -> Parameter:
        parameter = Parameter()
        known = bool(names) and self.random.random() < 0.9
        parameter.name = self.random.choice(names if known else self.hostile.words)
        parameter.value.type = self.random.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 99))
        fields = list(parameter.value.get_fields_and_field_types().items())
        field, kind = fields[min(parameter.value.type, 9)]
        if field != 'type':
            setattr(parameter.value, field, self.hostile.value(kind, 1))
        return parameter


CALMING = (
    'change_state', 'set_parameters', 'set_parameters_atomically', 'stop', 'start', 'cancel_goal',
    'send_goal', 'finish',
)  # fmt: skip
"""Services that may end a motion."""
SPECIAL = {
    ChangeState: '_change', SetParameters: '_set', SetParametersAtomically: '_set',
}  # fmt: skip
"""Types of requests that random fields would hardly ever make interesting."""
