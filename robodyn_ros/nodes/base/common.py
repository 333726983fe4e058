"""What every node of the suite shares: spinning, a clean end, parameters, QoS, diagnostics."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.timer import Timer

from robodyn_ros.errors import ConfigError, RobodynError
from robodyn_ros.nodes.base.given_parameters import GivenParameters
from robodyn_ros.nodes.base.suite_node import Guarded
from robodyn_ros.paths import resource

MONITOR_QOS = QoSProfile(
    depth=5, reliability=ReliabilityPolicy.BEST_EFFORT, history=HistoryPolicy.KEEP_LAST
)
RECORDER_QOS = QoSProfile(
    depth=5000, reliability=ReliabilityPolicy.RELIABLE, history=HistoryPolicy.KEEP_LAST
)
LATCHED_QOS = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
SHUTDOWN_TIMEOUT = 5.0
"""Longest time a node may take to come to its safe end after SIGINT, in [s]."""
SIGNAL_TIMEOUT = 1.0
"""Longest time until a node that has nothing to do notices a signal, in [s]."""
IMMEDIATELY = 1e-3
"""An executor that raises again within this time may not have done anything else, in [s]."""
MOST_IN_A_ROW = 1000
"""So often an executor may raise immediately before the node ends."""
_ARRAYS = tuple(kind for kind in Parameter.Type if kind.name.endswith('_ARRAY'))


class SafeEnd(Protocol):
    """A node that needs some cycles to end safely, for example to ramp a torque to zero."""

    def begin_shutdown(self) -> None:
        """Start to end; the node goes on spinning."""

    def shutdown_done(self) -> bool:
        """Tell whether the safe state is reached."""


def run(
    create: Callable[[], Node], argv: Sequence[str] | None = None, *, coroutines: bool = False
) -> int:
    """Create a node, spin it until SIGINT or SIGTERM, and end it cleanly.

    :param create: builds the node; a `RobodynError` it raises is printed as one sentence
    :param coroutines: the node has services that are coroutines, which the events executor
        (rclpy 7.1) cannot run
    :return: exit code of a node that could not be created; otherwise the process ends here, with
        0 after a clean end and 1 after an exception, which is printed
    """
    try:
        given = GivenParameters(sys.argv if argv is None else argv)
        # rclpy's own handlers would close the context before a node could publish its last zero
        rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # rcl has no class of its own for a file that it cannot use
        print(f'error: {" ".join(str(error).split())}', file=sys.stderr)
        return 2
    stop = _StopRequest()
    code = 0
    try:
        with given.used():
            _run(create, stop, SingleThreadedExecutor() if coroutines else make_executor())
    except RobodynError as error:
        print(f'error: {error}', file=sys.stderr)
        return 2
    except Exception:
        traceback.print_exc()
        code = 1
    finally:
        rclpy.try_shutdown()
    # Everything is closed and nothing is left to do; but what Fast DDS and the events executor do
    # while a process ends crashed one node in thirty ("malloc_consolidate()"), and a second
    # Ctrl-C, from launch, would kill it there.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _run(create: Callable[[], Node], stop: _StopRequest, executor: Executor) -> None:
    """Create the node, spin it until it is to stop, and destroy it; leaves nothing behind."""
    node = create()
    if isinstance(node, Guarded):
        node.check_names()
    executor.add_node(node)
    settle_garbage_collector()
    try:
        _spin(executor, node, stop)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        executor.remove_node(node)
        executor.shutdown()
        node.destroy_node()


def settle_garbage_collector() -> None:
    """Move what start-up left behind out of the collector's sight: a full run takes 13 ms."""
    gc.collect()
    gc.freeze()


def make_executor(context: rclpy.Context | None = None) -> Executor:
    """Events executor where rclpy has it (about a third of the CPU), else single-threaded."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


def steady_timer(node: Node, period: float, callback: Callable[[], None]) -> Timer:
    """Create a timer that neither a `/clock` that stopped nor a clock that is set can hold up.

    An ordinary one goes by the node's clock: with use_sim_time and no simulation it never fires,
    and after the system clock was set back it stays away for as long.

    :param period: in [s]
    """
    return node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))


class _StopRequest(Future):
    """Done with SIGINT or SIGTERM.

    A future's own callbacks are behind a lock, for which a signal handler must not wait.
    """

    def __init__(self) -> None:
        super().__init__()
        self.requested = False
        self._wake: Callable[[Future], None] | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def done(self) -> bool:
        return self.requested

    def add_done_callback(self, callback: Callable[[Future], None]) -> None:
        self._wake = callback

    def remove_done_callback(self, callback: Callable[[Future], None]) -> bool:
        self.forget()
        return True

    def forget(self) -> None:
        """Wake nobody any more: an executor that is gone least of all."""
        self._wake = None

    def _on_signal(self, number: int, frame: object) -> None:
        self.requested = True
        if self._wake is not None:
            self._wake(self)


def _spin(executor: Executor, node: Node, stop: _StopRequest) -> None:
    # Not spin: the events executor's neither runs Python's signal handlers nor (rclpy 7.1.6) a
    # timer before the first other event. Not spin_once: it returns after every callback, which
    # costs a node with 2000 messages a second 4 % of a core. Python's handlers run with the next
    # callback, or when the time is over; it is not shorter because each of these calls leaves
    # 32 bytes behind (rclpy 7.1.6).
    in_a_row = 0
    try:
        while rclpy.ok() and not stop.requested:
            begin = time.monotonic()
            try:
                executor.spin_until_future_complete(stop, timeout_sec=SIGNAL_TIMEOUT)
                in_a_row = 0
            except Exception as error:  # of rclpy itself: a message that it cannot read
                in_a_row = in_a_row + 1 if time.monotonic() - begin < IMMEDIATELY else 0
                if in_a_row > MOST_IN_A_ROW or not rclpy.ok() or not isinstance(node, Guarded):
                    raise
                node.unexpected('while waiting for messages', error)
    finally:  # after a signal, and after an exception: torque must not stay as it is
        stop.forget()
        _come_to_rest(executor, node)


def _come_to_rest(executor: Executor, node: Node) -> None:
    """Let a node reach its safe end, if it has one."""
    if hasattr(node, 'begin_shutdown') and rclpy.ok():
        node.begin_shutdown()
        deadline = time.monotonic() + SHUTDOWN_TIMEOUT
        while not node.shutdown_done() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.01)


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
    :param limit: it bounds what the node does: its value and source are logged
    :raises ConfigError: the value given has another type, or is outside its range; for an
        array every element is checked (rclpy checks scalars only)
    """
    descriptor = ParameterDescriptor(description=description, read_only=read_only)
    if isinstance(default, float) and (minimum is not None or maximum is not None):
        descriptor.floating_point_range = [
            FloatingPointRange(
                from_value=-1e300 if minimum is None else float(minimum),
                to_value=1e300 if maximum is None else float(maximum),
            )
        ]
    elif isinstance(default, int) and not isinstance(default, bool) and minimum is not None:
        descriptor.integer_range = [
            IntegerRange(
                from_value=int(minimum), to_value=2**31 if maximum is None else int(maximum)
            )
        ]
    try:
        value = node.declare_parameter(name, default, descriptor).value
    except Exception as error:
        # YAML takes yes, no, on and off for a bool
        hint = ': write the word in quotes' if isinstance(default, str) else ''
        raise ConfigError(f'parameter {name!r}: {error}{hint}{source_of(node, name)}') from error
    array = (
        default in _ARRAYS if isinstance(default, Parameter.Type) else isinstance(default, list)
    )
    if array:
        value = [] if value is None else list(value)
        _check_elements(node, name, value, minimum, maximum)
    if limit:
        log_limit(node, name, value)
    return value


def log_limit(node: Node, name: str, value: Any) -> None:
    """Log a limit in force and where it was given."""
    text = 'none' if value is None else value
    node.get_logger().info(f'limit {name}: {text}{source_of(node, name)}')


def source_of(node: Node, name: str) -> str:
    """Return where a parameter was given, in brackets to add to a sentence."""
    return f' ({node.source(name)})' if isinstance(node, Guarded) else ''


def _check_elements(
    node: Node, name: str, values: list[Any], minimum: float | None, maximum: float | None
) -> None:
    where = source_of(node, name)
    for index, value in enumerate(values):
        if isinstance(value, str):
            continue
        if value != value or (minimum is not None and value < minimum):
            raise ConfigError(
                f'parameter {name!r}: element {index} is {value}, below {minimum}{where}'
            )
        if maximum is not None and value > maximum:
            raise ConfigError(
                f'parameter {name!r}: element {index} is {value}, above {maximum}{where}'
            )


def realtime_priority(node: Node, default: int) -> None:
    """Let the thread that spins go before others, as the controller_manager does.

    The parameter `thread_priority` is the priority under SCHED_FIFO; 0 leaves the scheduler alone.
    Where the user may not, the node runs on without.
    """
    priority = declare(
        node,
        'thread_priority',
        default,
        'SCHED_FIFO priority of the cycle, 0: none; needs the right (rtprio in limits.conf)',
        read_only=True,
        minimum=0,
        maximum=99,
    )
    if not priority:
        return
    try:  # threads that this one starts later (of DDS) stay ordinary ones
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except OSError as error:
        node.get_logger().info(f'runs without real-time priority: {error.strerror}')


def robot_description(node: Node) -> str:
    """URDF text from the parameter `robot_description`, or from the file named by `urdf`.

    :raises ConfigError: neither is given, or the file cannot be read
    """
    declare(node, 'robot_description', '', 'URDF of the robot (XML text)', read_only=True)
    declare(node, 'urdf', '', 'URDF file, when robot_description is empty', read_only=True)
    return given_description(node)


def given_description(node: Node) -> str:
    """Return the URDF text of a node that has declared these parameters.

    :raises ConfigError: neither is given, or the file cannot be read
    """
    text, path = (node.get_parameter(name).value for name in ('robot_description', 'urdf'))
    if text:
        return str(text)
    if not path:
        raise ConfigError(
            f'node {node.get_name()!r} needs the robot: give the parameter '
            f'robot_description (URDF text) or urdf (file)'
        )
    try:
        return resource(str(path)).read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f'parameter urdf: cannot read {path!r}: {error}') from error


class Diagnostics:
    """Publishes the state of one node on /diagnostics."""

    def __init__(self, node: Node, hardware_id: str) -> None:
        """Create the publisher."""
        self._node = node
        self._hardware_id = hardware_id
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)

    def publish(self, level: bytes, message: str, values: Mapping[str, object]) -> None:
        """Publish one status.

        :param level: DiagnosticStatus.OK, WARN, ERROR or STALE
        :param message: one sentence for the operator
        :param values: details, shown as key and value
        """
        shown = dict(values)
        if isinstance(self._node, Guarded):
            shown |= self._node.refusals.details()
            if self._node.refusals.unexpected and level == DiagnosticStatus.OK:
                level = DiagnosticStatus.WARN
        status = DiagnosticStatus(
            level=level,
            name=self._node.get_fully_qualified_name().lstrip('/'),
            hardware_id=self._hardware_id,
            message=message,
            values=[KeyValue(key=key, value=str(value)) for key, value in shown.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)
