# SPDX-License-Identifier: Apache-2.0
"""Parameters, QoS, timers and diagnostics of every node of the suite."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robodyn_ros.errors import ConfigError, RobodynError, clip
from robodyn_ros.nodes.base.suite_node import DEFAULT, Guarded


def best_effort(depth: int) -> QoSProfile:
    """Return the QoS of a stream whose last messages are kept; it fits every publisher."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)


MONITOR_QOS = best_effort(5)
STREAM_QOS = best_effort(50)
"""For data of every cycle: a node that a busy computer delayed catches up without losing any."""
RECORDER_QOS = QoSProfile(depth=5000, reliability=ReliabilityPolicy.RELIABLE)
LATCHED_QOS = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
HINTS = {
    str: ': write the word in quotes',  # YAML takes yes, no, on and off for a bool
    float: ': write a number with a decimal point, as 20.0',
}
"""End of the message about a value of a wrong type, by the type of the default."""
URGENT = 45
"""SCHED_FIFO priority of a stop: above the suite's cycles, below the controller_manager's."""
_ARRAYS = tuple(kind for kind in Parameter.Type if kind.name.endswith('_ARRAY'))


def declare(
    node: Node,
    name: str,
    default: Any,
    description: str,
    *,
    read_only: bool = False,
    minimum: float | None = None,
    maximum: float | None = None,
    limit: bool = False,
) -> Any:
    """Declare a parameter with description and range, and return its value.

    :param default: a value, or a `rclpy.Parameter.Type` for a parameter without default, whose
        value is then None, or [] for an array (an empty list says nothing about its elements)
    :param limit: log the value and its source, because it limits what the node does
    :raises ConfigError: the value given has another type, or is outside its range; for an
        array every element is checked (rclpy checks scalars only)
    """
    descriptor = ParameterDescriptor(description=description, read_only=read_only)
    _set_range(descriptor, default, minimum, maximum)
    try:
        value = node.declare_parameter(name, default, descriptor).value
    except Exception as error:
        other = isinstance(error, InvalidParameterTypeException)
        hint = HINTS.get(type(default), '') if other else ''
        raise ConfigError(f'parameter {name!r}: {error}{hint}{source_of(node, name)}') from error
    array = (
        default in _ARRAYS if isinstance(default, Parameter.Type) else isinstance(default, list)
    )
    if array:
        value = [] if value is None else list(value)
        _check_elements(name, value, minimum, maximum, source_of(node, name))
        if not read_only:  # rclpy checks scalars only, here too
            check_when_set(
                node, lambda new: _check_elements(name, new.get(name, []), minimum, maximum)
            )
    if limit:
        log_limit(node, name, value)
    return value


def declare_open(node: Node, name: str, description: str, *, read_only: bool = True) -> Any:
    """Declare a parameter of any type without a default, and return its value or None."""
    descriptor = ParameterDescriptor(
        description=description, read_only=read_only, dynamic_typing=True
    )
    return plain(node.declare_parameter(name, None, descriptor).value)


def plain(value: Any) -> Any:
    """Return the value of a parameter, arrays as lists."""
    return value if value is None or isinstance(value, (str, int, float)) else list(value)


def overrides(node: Node) -> Mapping[str, Parameter]:
    """Return the values that were given from outside, by name.

    A parameter does not tell a given value from its default, and rclpy has them as an attribute
    with a leading underscore only.
    """
    given: Mapping[str, Parameter] = getattr(node, '_parameter_overrides', {})
    return given


def _set_range(
    descriptor: ParameterDescriptor, default: Any, minimum: float | None, maximum: float | None
) -> None:
    """Set the range of a number; arrays have none in ROS."""
    if type(default) not in (int, float) or (minimum is None and maximum is None):
        return
    low, high = (-1e300, 1e300) if isinstance(default, float) else (-(2**31), 2**31)
    bounds = {
        'from_value': low if minimum is None else type(low)(minimum),
        'to_value': high if maximum is None else type(high)(maximum),
    }
    if isinstance(default, float):
        descriptor.floating_point_range = [FloatingPointRange(**bounds)]
    else:
        descriptor.integer_range = [IntegerRange(**bounds)]


def log_limit(node: Node, name: str, value: Any) -> None:
    """Log a limit in force and where it was given; defaults are one line when all are known."""
    text = 'none' if value is None else value
    if isinstance(node, Guarded) and node.source(name) == DEFAULT:
        node.defaults.append(f'{name}: {text}')
    else:
        node.get_logger().info(f'limit {name}: {text}{source_of(node, name)}')


def source_of(node: Node, name: str) -> str:
    """Return where a parameter was given, in brackets to add to a sentence."""
    return f' ({node.source(name)})' if isinstance(node, Guarded) else ''


def _check_elements(
    name: str, values: list[Any], minimum: float | None, maximum: float | None, where: str = ''
) -> None:
    """Refuse an array with NaN or a value outside the range; `where`: end of the message."""
    for index, value in enumerate(values):
        if isinstance(value, str):
            continue
        problem = ''
        if value != value:
            problem = 'not a number'
        elif minimum is not None and value < minimum:
            problem = f'below {minimum}'
        elif maximum is not None and value > maximum:
            problem = f'above {maximum}'
        if problem:
            raise ConfigError(f'parameter {name!r}: element {index} is {value}, {problem}{where}')


def check_when_set(node: Node, check: Callable[[dict[str, Any]], object]) -> None:
    """Refuse changes of parameters that cannot be used.

    :param check: receives the new values of the parameters of a request, arrays as lists; the
        text of a `RobodynError` that it raises is the reason of the refusal
    """

    def on_set(parameters: Sequence[Parameter]) -> SetParametersResult:
        new = {
            item.name: list(item.value) if item.type_ in _ARRAYS else item.value
            for item in parameters
            if item.type_ != Parameter.Type.NOT_SET
        }
        try:
            check(new)
        except RobodynError as error:
            return SetParametersResult(successful=False, reason=clip(str(error)))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(on_set)


def realtime_priority(node: Node, default: int) -> None:
    """Give the spinning thread real-time priority, as the controller_manager does.

    The parameter `thread_priority` is the priority under SCHED_FIFO; 0: ordinary scheduling.
    Without the right to it the node runs on with ordinary scheduling.
    """
    text = 'SCHED_FIFO priority of the cycle, 0: none; needs the right (rtprio in limits.conf)'
    priority = declare(
        node, 'thread_priority', default, text, read_only=True, minimum=0, maximum=99
    )
    if not priority:
        return
    try:  # threads that this one starts later (of DDS) stay ordinary ones
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except OSError as error:
        node.get_logger().info(f'runs without real-time priority: {error.strerror}')


@contextmanager
def urgent() -> Iterator[None]:
    """Compute something short at real-time priority, where the user has the right to it.

    A stop takes 3 ms of processor time, but up to 18 ms beside busy programs. A node that always
    has this priority keeps the middleware's own threads waiting, for seconds if it is flooded.
    """
    policy = os.sched_getscheduler(0) | os.SCHED_RESET_ON_FORK
    usual = os.sched_getparam(0)
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(URGENT))
    try:
        yield
    finally:
        with suppress(OSError):  # without the right it was never changed
            os.sched_setscheduler(0, policy, usual)


class Diagnostics:
    """Publishes the state of one node on /diagnostics, and logs it where its level changes."""

    def __init__(self, node: Node, hardware_id: str) -> None:
        """Create the publisher."""
        self._node = node
        self._hardware_id = hardware_id
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._level: bytes | None = None

    def publish(self, level: bytes, message: str, values: Mapping[str, object]) -> None:
        """Publish one status.

        :param level: DiagnosticStatus.OK, WARN, ERROR or STALE
        :param message: one sentence for the operator
        :param values: details, shown as key and value
        """
        shown = dict(values)
        if isinstance(self._node, Guarded):
            shown |= self._node.refusals.details()
            self._node.refusals.flush()
            if self._node.refusals.unexpected and level == DiagnosticStatus.OK:
                level = DiagnosticStatus.WARN
        status = DiagnosticStatus(
            level=level,
            name=self._node.get_fully_qualified_name().lstrip('/'),
            hardware_id=self._hardware_id,
            message=clip(message),
            values=[KeyValue(key=key, value=clip(str(value))) for key, value in shown.items()],
        )
        if level != self._level:
            self._level = level
            self._log(level, status.message)
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)

    def _log(self, level: bytes, message: str) -> None:
        if level == DiagnosticStatus.OK:  # rclpy takes one severity for each line of a program
            self._node.get_logger().info(message)
        else:
            self._node.get_logger().warning(message)
