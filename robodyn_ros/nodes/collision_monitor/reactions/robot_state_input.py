# SPDX-License-Identifier: Apache-2.0
"""State of the robot or its drives, as an input of the collision monitor.

Each driver has its own message for it: the parameters name topic, type, field, and the values with
which the robot is ready. Any other value means that it is not, also one that a later version of
the driver adds.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robodyn_ros.control.collision.reaction.robot_readiness import ReportedState, RobotReadiness
from robodyn_ros.errors import ConfigError, Fault
from robodyn_ros.nodes.base.clock import start_timer
from robodyn_ros.nodes.base.common import (
    STREAM_QOS,
)
from robodyn_ros.nodes.robot.model_node import ModelNode, Row

FIXED: dict[str, Any] = {'read_only': True}
ROBOT_STATE: tuple[Row, ...] = (
    ('robot_state.topics', [''], 'topics on which the robot or its drives report their state; '
     'without one, a stop of the robot itself is not known', FIXED),
    ('robot_state.types', [''], 'type of each, as std_msgs/msg/Bool', FIXED),
    ('robot_state.fields', ['data'], 'field with the state; dots for a field in a field. All '
     'elements of an array must be ready', FIXED),
    ('robot_state.ready', [''], 'values with which the robot is ready, with spaces between them: '
     'numbers, true, false, words, or names of constants of the type', FIXED),
    ('robot_state.timeouts', [0.0], 'largest age of a state [s]; 0: it is published at each '
     'change only, latched (transient local), and unknown without a publisher',
     {**FIXED, 'minimum': 0.0, 'maximum': 600.0}),
)  # fmt: skip
"""Parameters of the input; types, fields, ready and timeouts have one value, or one per topic."""
REMOVED: tuple[Row, ...] = (
    ('protective_stop_topic', '', 'removed: refused if it is given; see robot_state.*', FIXED),
)
CHANGES_QOS = QoSProfile(
    depth=STREAM_QOS.depth,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""Deep enough that a short stop between two states is not lost while the node is busy."""
KIND = re.compile(r'([a-z]\w*)/msg/([A-Z]\w*)')


class RobotStateInput:
    """Subscriptions to the state of the robot."""

    def __init__(self, node: ModelNode) -> None:
        """Declare the parameters and subscribe.

        :raises ConfigError: a type or field that does not exist here, or lists of other lengths
        """
        if node.declared(REMOVED)['protective_stop_topic']:
            raise ConfigError(
                'protective_stop_topic is removed: name the topic in '
                'robot_state.topics, with robot_state.types, fields and ready'
            )
        chosen = node.declared(ROBOT_STATE)
        names = [str(name) for name in chosen['robot_state.topics'] if name]
        columns = [_column(name, values, len(names)) for name, values in chosen.items()][1:]
        self._node = node
        self._latched: list[tuple[str, ReportedState]] = []
        rows = zip(names, *columns, strict=True)
        self.readiness = RobotReadiness([self._subscribed(*row) for row in rows])
        if self._latched:
            start_timer(node, 0.5, self._check_publishers)

    def problem(self) -> Fault:
        """Return why the robot is not known to be ready now, or NO_FAULT."""
        return self.readiness.problem(time.monotonic())

    def release(self) -> str:
        """Return '' and clear the latch of a stop, or why it must stay."""
        return self.readiness.release(time.monotonic())

    def _subscribed(
        self, topic: str, type_name: str, field: str, ready: str, timeout: float
    ) -> ReportedState:
        kind, path = message_type(type_name), field.split('.')
        _check_field(kind, type_name, path)
        words = ready.split()
        if not words:
            raise ConfigError(f'robot_state.ready: no value means that the robot is ready, by '
                              f'the topic {topic}')  # fmt: skip
        texts = _Texts(kind)
        state = ReportedState(f'{field} of {topic}', [texts.of_word(word) for word in words],
                              timeout)  # fmt: skip
        qos = STREAM_QOS if timeout else CHANGES_QOS
        self._node.create_subscription(
            kind, topic, partial(self._on_message, state, path, texts), qos
        )
        if not timeout:
            self._latched.append((topic, state))
        return state

    def _on_message(
        self, state: ReportedState, path: Sequence[str], texts: _Texts, message: Any
    ) -> None:
        value = reduce(getattr, path, message)
        single = isinstance(value, (bool, int, float, str, bytes))
        values = [value] if single else list(value)
        state.receive([texts.of(each) for each in values], time.monotonic())
        self.problem()  # latches a stop that is shorter than a cycle

    def _check_publishers(self) -> None:
        """Forget what a publisher said that has gone: it cannot report a change any more."""
        for topic, state in self._latched:
            found = self._node.get_publishers_info_by_topic(topic)
            if not found:
                state.forget('has no publisher')
            elif all(each.qos_profile.durability == DurabilityPolicy.VOLATILE for each in found):
                state.forget('is published without latching (transient local): give '
                             'robot_state.timeouts a value above 0')  # fmt: skip


class _Texts:
    """Values of a field as texts."""

    def __init__(self, kind: Any) -> None:
        self._constants: Mapping[str, Any] = {
            name: value for name, value in vars(kind).items()
            if name.isupper() and isinstance(value, (int, bytes)) and not name.startswith('_')
        }  # fmt: skip

    def of_word(self, word: str) -> str:
        """Return the text of a value that is named by a parameter."""
        return self.of(self._constants[word]) if word in self._constants else word

    def of(self, value: Any) -> str:
        """Return the text of a value in a message."""
        if isinstance(value, bytes):  # the type byte
            value = value[0]
        return str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)


def message_type(name: str) -> Any:
    """Return the class of a message type, such as std_msgs/msg/Bool.

    :raises ConfigError: it is not installed
    """
    found = KIND.fullmatch(name)
    if found is None:
        raise ConfigError(f'robot_state.types: expected a type such as std_msgs/msg/Bool, got '
                          f'{name!r:.100}')  # fmt: skip
    try:
        return getattr(importlib.import_module(f'{found[1]}.msg'), found[2])
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f'robot_state.types: {name} is not installed here: source the workspace of the '
            f"driver before the node starts, or give robot_state.topics ['']: a stop of the robot "
            f'itself is then not known'
        ) from error


def _check_field(kind: Any, type_name: str, path: Sequence[str]) -> None:
    value = kind()
    for name in path:
        fields: Mapping[str, str] = getattr(value, 'get_fields_and_field_types', dict)()
        if name not in fields:
            raise ConfigError(
                f'robot_state.fields: {type_name} has no field {".".join(path)!r:.100}, there '
                f'is: {", ".join(fields) or "nothing below"}'
            )
        value = getattr(value, name)
    if hasattr(value, 'get_fields_and_field_types'):
        below = ', '.join(value.get_fields_and_field_types())
        text = f'robot_state.fields: {".".join(path)} of {type_name} has fields: {below}; name one'
        raise ConfigError(text)


def _column(name: str, values: list[Any], count: int) -> list[Any]:
    if len(values) in (1, count):
        return values * count if len(values) == 1 else values
    raise ConfigError(
        f'{name} has {len(values)} values, expected one, or one for each of the {count} topics'
    )
