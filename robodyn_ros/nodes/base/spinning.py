# SPDX-License-Identifier: Apache-2.0
"""Spinning of a node until a signal, and its clean end."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from robodyn_ros.errors import RobodynError
from robodyn_ros.nodes.base.suite_node import Guarded


def run(
    create: Callable[[], Guarded], argv: Sequence[str] | None = None, *, coroutines: bool = False
) -> int:
    """Create a node, spin it until SIGINT or SIGTERM, and end the process.

    The process ends with code 0, with 1 after an exception, which is printed, or with 2 if the
    node could not be created; before, the node has left the graph. Arguments that ROS does not
    take are refused: a robot must not move by defaults because of a wrong flag.

    :param create: builds the node; a `RobodynError` it raises is printed as one sentence
    :param coroutines: the node has services that are coroutines, which the events executor
        (rclpy 7.1) cannot run
    :return: 2, if the arguments are refused
    """
    argv = sys.argv if argv is None else argv
    try:
        if others := _not_for_ros(argv):
            return _print_usage(others)
        # rclpy's own handlers would close the context before a node could publish its last zero
        rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # rcl has no class of its own for a file that it cannot use
        print(f'error: {" ".join(str(error).split())}', file=sys.stderr)
        return 2
    # a thread that computes gives way to a callback after 1 ms, not 5: each callback waits for the
    # interpreter several times
    sys.setswitchinterval(1e-3)
    stop = _StopRequest()
    code = 0
    try:
        executor = SingleThreadedExecutor() if coroutines else make_executor()
        _run(partial(_create, create), stop, executor)
    except RobodynError as error:
        print(f'error: {error}', file=sys.stderr)
        code = 2
    except Exception:
        traceback.print_exc()
        code = 1
    finally:
        rclpy.try_shutdown()
    # Everything is closed. The destructors of Fast DDS and of the events executor crash one
    # process in thirty ("malloc_consolidate()"), and a second Ctrl-C would kill it there.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _not_for_ros(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that are not between `--ros-args` and `--`, without the program.

    rcl takes `robot:=mine` as a remapping there, so that the robot would move by defaults.
    """
    ros, others = False, []
    for argument in arguments[1:]:
        if argument in ('--ros-args', '--'):
            ros = argument == '--ros-args'
        elif not ros:
            others.append(argument)
    return others


def _print_usage(others: Sequence[str]) -> int:
    """Say how to give parameters, because of arguments that ROS does not take."""
    usage = 'usage: NODE --ros-args -p robot:=NAME --params-file FILE -p PARAMETER:=VALUE'
    if not {'-h', '--help'}.isdisjoint(others):
        print(f'{usage}\nall parameters: docs/reference/parameters.md')
        return 0
    print(f'error: {" ".join(others)} cannot be used; {usage}', file=sys.stderr)
    return 2


def _run(create: Callable[[], Guarded], stop: _StopRequest, executor: Executor) -> None:
    """Create the node, spin it until the stop request, and destroy it."""
    node = create()
    node.log_defaults()
    executor.add_node(node)
    settle_garbage_collector()
    try:
        _spin(executor, node, stop)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        signal.alarm(10)  # ends a process that hangs from here on
        executor.remove_node(node)
        executor.shutdown()
        _leave(node.destroy_node)


def _create(create: Callable[[], Guarded]) -> Guarded:
    """Create the node and check what was given; if that fails, it leaves the graph."""
    try:
        node = create()
        try:
            node.check_names()
        except BaseException:
            node.begin_shutdown()  # with autostart it is active
            raise
        return node
    except BaseException:
        for node in list(Guarded.made):
            with suppress(Exception):
                _leave(partial(Guarded.destroy_node, node))
        raise


def _leave(destroy: Callable[[], None]) -> None:
    """Destroy a node, and after a moment the participant, with a hidden node that has no parts.

    The end of each part and node is announced. Who takes an announcement after the end of the
    participant (rmw_dds_common 3.1) has the node of that announcement in its graph for ever.
    """
    last = rclpy.create_node(
        '_leaving', use_global_arguments=False, enable_rosout=False,
        start_parameter_services=False,
        parameter_overrides=[Parameter('start_type_description_service', value=False)],
    )  # fmt: skip
    try:
        destroy()
    finally:
        with last.handle:  # in use, so that it outlives its parts
            last.destroy_node()
            time.sleep(0.1)


def settle_garbage_collector() -> None:
    """Exclude the objects of start-up from garbage collection: a full run takes 13 ms."""
    gc.collect()
    gc.freeze()


def make_executor() -> Executor:
    """Return the events executor (a third of the CPU time), or else a single-threaded one."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


class _StopRequest(Future):
    """Future that is done after SIGINT or SIGTERM.

    It does not use the callbacks of `Future`: they need a lock, and signal handlers must not wait.
    A thread wakes the executor: Python runs a handler only when the executor returns.
    """

    def __init__(self) -> None:
        super().__init__()
        self.requested = False
        self._wake: Callable[[Future], None] | None = None
        self._waking = threading.Lock()
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        threading.Thread(target=self._wait, args=(reader,), daemon=True).start()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def done(self) -> bool:
        return self.requested

    def add_done_callback(self, callback: Callable[[Future], None]) -> None:
        with self._waking:
            self._wake = callback
        if self.requested:
            callback(self)

    def remove_done_callback(self, callback: Callable[[Future], None]) -> bool:
        self.forget()
        return True

    def forget(self) -> None:
        """Remove the callback: its executor is about to end."""
        with self._waking:
            self._wake = None

    def _on_signal(self, number: int, frame: object) -> None:
        self.requested = True

    def _wait(self, reader: int) -> None:
        while os.read(reader, 1)[0] not in (signal.SIGINT, signal.SIGTERM):
            pass
        self.requested = True
        with self._waking:
            if self._wake is not None:
                self._wake(self)


def _spin(executor: Executor, node: Guarded, stop: _StopRequest) -> None:
    """Spin until the stop request, then let the node reach its safe state."""
    # Executor.spin of the events executor runs neither Python's signal handlers nor, in rclpy
    # 7.1.6, a timer before the first other event. spin_once returns after every callback, which
    # costs a node with 2000 messages per second 4 % of a core. With this call, signal handlers
    # run with the next callback or after the timeout. A shorter timeout would leak more: each
    # call leaves 32 bytes behind (rclpy 7.1.6).
    in_a_row = 0
    try:
        while rclpy.ok() and not stop.requested:
            begin = time.monotonic()
            try:
                executor.spin_until_future_complete(stop, timeout_sec=1.0)
                in_a_row = 0
            except Exception as error:  # of rclpy itself: a message that it cannot read
                # within a millisecond an executor cannot have done anything else
                in_a_row = in_a_row + 1 if time.monotonic() - begin < 1e-3 else 0
                if in_a_row > 1000 or not rclpy.ok():
                    raise
                node.report_error('while waiting for messages', error)
    finally:  # after an exception too: the commanded torque must not remain
        stop.forget()
        _come_to_rest(executor, node)


def _come_to_rest(executor: Executor, node: Guarded) -> None:
    """Let a node reach its safe state."""
    if rclpy.ok():
        node.begin_shutdown()
        deadline = time.monotonic() + 5.0  # launch kills a process 10 s after SIGINT
        while not node.shutdown_done() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.01)
