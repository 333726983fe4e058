# SPDX-License-Identifier: Apache-2.0
"""Base of every node of the suite: its parameters, and callbacks that cannot end the process."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.exceptions import (
    InvalidParameterTypeException,
    ParameterUninitializedException,
)
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock as ClockMessage

from robodyn_ros.errors import ConfigError, Fault, RobodynError
from robodyn_ros.faults import number_of
from robodyn_ros.node_parameters.names import nearest, parameter_names
from robodyn_ros.nodes.base.clock import CLOCK_QOS, SimulatedClock
from robodyn_ros.nodes.base.command_line import command_line, list_addressed
from robodyn_ros.nodes.base.refusals import BoundedLogger, Refusals, guard_callback, set_refusal
from robodyn_ros.nodes.base.strict_requests import check_parameters, check_transition, strict
from robodyn_ros.robot_file import RobotFile, load_robot

ROBOT = 'robot'
"""Parameter that names the robot file; every other source overrides it."""
GIVEN = 'parameter file or command line'
DEFAULT = 'default'
"""Source of a parameter that was not given."""
NOT_DECLARED = ('qos_overrides.', 'identification.', 'residual_torque.')
"""Names of rclpy, and blocks of a result file that programs read from the file."""
LIKENESS, LIKENESS_OF_FACTS = 0.8, 0.95
"""Likeness from which on another name is a slip; facts of a result have names that are alike."""

_Base: Any = Node if TYPE_CHECKING else object


class Guarded(_Base):
    """Common base of `SuiteNode` and `SuiteLifecycleNode`.

    Parameters: those of the robot file have the lowest priority; `source` returns the origin of
    a value, and `defaults` has the limits that were not given.

    Callbacks: a service, action or message that raises is refused with a sentence and counted.
    Errors that cannot be refused, and unexpected errors in message callbacks of the node itself,
    are counted and reported to `on_unexpected`.

    :cvar follows_clock: False for a simulation, which publishes /clock
    :ivar simulated_clock: with `use_sim_time`; `robodyn_ros.nodes.base.clock` reads it
    """

    follows_clock = True
    made: ClassVar[weakref.WeakSet[Guarded]] = weakref.WeakSet()
    """Nodes of the process, also those whose creation failed."""

    def __init__(self, name: str, **options: Any) -> None:
        """Create the node.

        :raises ConfigError: the robot file cannot be used
        """
        Guarded.made.add(self)
        self.refusals = Refusals(lambda text: self.get_logger().error(text))
        self.defaults: list[str] = []
        self._of_robot: dict[str, str] = {}
        self._reporting = False
        self._bounded: BoundedLogger | None = None
        self.simulated_clock: SimulatedClock | None = None
        super().__init__(name, **options)
        self.add_on_set_parameters_callback(self._keep_clock)
        given = self._parameter_overrides
        for parameter in [each for each, it in given.items() if it.value in ('null', '~')]:
            del given[parameter]  # `ros2 param dump` writes it for a parameter without a value
        # rcl prefers the key that comes first in its arguments, so that a file could win
        for parameter, value in command_line(sys.argv, self.get_name()).items():
            before = given[parameter].value if parameter in given else value
            if (list(before) if isinstance(value, list) else before) != value:
                given[parameter] = Parameter(parameter, value=value)
        text = (
            'robot of this package or path of a robot file, optionally with #VARIANT; parameters '
            'of every other source override those of the file'
        )
        descriptor = ParameterDescriptor(description=text, read_only=True)
        if robot := self._text_parameter(ROBOT, descriptor):
            self._add_robot(load_robot(robot), name)

    def _text_parameter(self, name: str, descriptor: ParameterDescriptor) -> str:
        try:
            return str(self.declare_parameter(name, '', descriptor).value)
        except InvalidParameterTypeException as error:
            raise ConfigError(f'parameter {name!r}: {error}') from error

    def _add_robot(self, robot: RobotFile, program: str) -> None:
        """Take the parameters of the robot file that were not given; effort counts as a unit."""
        given = self._parameter_overrides
        values = robot.parameters(program, effort='effort.unit' not in given)
        for parameter, (value, section) in values.items():
            if parameter not in given:
                given[parameter] = Parameter(parameter, value=value)
                self._of_robot[parameter] = section

    def _keep_clock(self, parameters: list[Parameter]) -> SetParametersResult:
        """Refuse another clock: timers and time-outs keep that of the start."""
        simulated = self.get_clock().ros_time_is_active
        if any(it.name == 'use_sim_time' and it.value != simulated for it in parameters):
            reason = 'use_sim_time is read at the start only: start the node again'
            return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def get_logger(self) -> Any:
        """Return the logger, which cuts long texts."""
        if self._bounded is None:
            self._bounded = BoundedLogger(super().get_logger().name)
        return self._bounded

    def source(self, parameter: str) -> str:
        """Return the origin of a parameter's value."""
        given = GIVEN if parameter in self._parameter_overrides else DEFAULT
        return self._of_robot.get(parameter, given)

    def get_parameter(self, name: str) -> Parameter:
        """Do as `Node.get_parameter`; without a value its type is NOT_SET.

        rclpy answers a request for all parameters, as of `ros2 param dump`, with none at all if
        one has no value.
        """
        try:
            return super().get_parameter(name)
        except ParameterUninitializedException:
            return Parameter(name)

    def log_defaults(self) -> None:
        """Log all limits that have their default value, in one line."""
        if self.defaults:
            self.get_logger().info(f'limits by default: {", ".join(self.defaults)}')

    def check_names(self) -> None:
        """Refuse given parameters that the node does not have: one may be a forgotten limit.

        What may be for another node (`/**`, or `-p` without the name of a node) is refused only
        if it is nearly one of this node; else it is ignored, with a warning unless another node of
        the suite has it. `load_robot` checks robot files.

        :raises ConfigError: an unknown name on the command line or in a section of this node, or
            a misspelt one
        """
        addressed = list_addressed(sys.argv, self.get_name())
        typed = command_line(sys.argv, self.get_name())
        elsewhere = frozenset().union(*parameter_names().values())
        known = self.get_parameters_by_prefix('')
        refused, ignored = [], []
        for name in self._parameter_overrides:
            of_file = name.startswith(NOT_DECLARED)
            slip = nearest(name, known, LIKENESS_OF_FACTS if of_file else LIKENESS)
            if name in known or (of_file and not slip):
                continue
            if name in addressed or (slip and name not in elsewhere):
                where = addressed.get(name, 'parameters of all nodes')
                like = nearest(name, known)
                refused.append(f'{where}: there is no parameter {name!r}; did you mean {like}?')
            elif name in typed or name not in elsewhere:
                ignored.append(name)
        if refused:
            raise ConfigError('; '.join(refused))
        if ignored:
            self.get_logger().warning(
                f'this node has no parameters {", ".join(ignored)}: they are ignored'
            )

    def on_unexpected(self, reason: Fault) -> None:
        """Reach a safe state after an error that belongs to no request."""

    def begin_shutdown(self) -> None:
        """Begin to reach a safe state, because the process is to end."""

    def shutdown_done(self) -> bool:
        """Return True if the process may end."""
        return True

    def destroy_node(self) -> None:
        """Destroy the node with what rclpy leaves of it, which would keep it in the graph."""
        for waitable in list(self.waitables):
            if isinstance(waitable, (ActionClient, ActionServer)):
                waitable.destroy()
        if isinstance(self, LifecycleNode):
            self._state_machine.destroy_when_not_in_use()
        super().destroy_node()

    def report_error(self, what: str, error: Exception) -> None:
        """Count an error that belongs to no request, and reach a safe state."""
        reason = self.refusals.unexpect(what, error)
        if self._reporting:  # the safe state itself raises
            return
        self._reporting = True
        try:
            self.on_unexpected(reason)
        except Exception as second:
            self.refusals.unexpect('while coming to a safe state', second)
        finally:
            self._reporting = False

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Any, *rest: Any, **options: Any
    ) -> Any:
        """Do as `Node.create_subscription`; a message whose callback raises is dropped.

        rclpy subscribes to /clock when the node has use_sim_time: the clock of the suite follows.
        """
        if msg_type is ClockMessage and self.simulated_clock is None and self.follows_clock:
            self.simulated_clock = SimulatedClock(self, callback, self._guard_timer)
            callback, rest = self.simulated_clock.take, (CLOCK_QOS,)

        def fail(error: Exception, *_: Any) -> None:
            if isinstance(error, RobodynError) or not _is_of_suite(callback):
                self.refusals.refuse(f'message on {topic}', error)
            else:
                self.report_error(f'message on {topic}', error)

        wrapped = guard_callback(callback, fail)
        return super().create_subscription(msg_type, topic, wrapped, *rest, **options)

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Any, *rest: Any, **options: Any
    ) -> Any:
        """Do as `Node.create_service`; a request whose callback raises is refused."""
        what = f'request of {srv_name}'
        checked = callback if _is_of_suite(callback) else strict(callback, check_parameters)
        wrapped = guard_callback(checked, self._refusing(what), partial(self.refusals.note, what))
        return super().create_service(srv_type, srv_name, wrapped, *rest, **options)

    def create_timer(self, period: float, callback: Any, *rest: Any, **options: Any) -> Any:
        """Do as `Node.create_timer`; an error of the callback is unexpected."""
        return super().create_timer(period, self._guard_timer(period, callback), *rest, **options)

    def _guard_timer(self, period: float, callback: Any) -> Any:
        """Wrap the callback of a timer: its error is unexpected."""

        def fail(error: Exception, *_: Any) -> None:
            self.report_error(f'timer of {period:.3g} s', error)

        return guard_callback(callback, fail)

    def add_waitable(self, waitable: Any) -> None:
        """Do as `Node.add_waitable`; goals of an action whose callbacks raise are refused."""
        if isinstance(waitable, ActionServer):
            self._guard_action(waitable)
        super().add_waitable(waitable)

    def _refusing(self, what: str) -> Callable[..., Any]:
        def fail(error: Exception, request: Any, response: Any) -> Any:
            return set_refusal(request, response, self.refusals.refuse(what, error))

        return fail

    def _guard_action(self, server: Any) -> None:
        what = f'goal of {server.action_type.__name__}'

        def answer(error: Exception, handle: Any) -> Any:
            reason = self.refusals.refuse(what, error)
            result = server.action_type.Result()
            for field in ('message', 'error_string'):
                if hasattr(result, field):
                    setattr(result, field, reason)
            if hasattr(result, 'fault_code'):
                result.fault_code = number_of(reason)
            if handle.is_active:
                handle.abort()
            return result

        def not_started(error: Exception, handle: Any) -> None:
            handle.execute(lambda same: answer(error, same))

        def reject(error: Exception, *_: Any) -> Any:
            self.refusals.refuse(what, error)
            return GoalResponse.REJECT

        def keep(error: Exception, *_: Any) -> Any:
            self.refusals.refuse(f'cancelling a {what}', error)
            return CancelResponse.REJECT

        noted = partial(self.refusals.note, what)
        server.register_execute_callback(guard_callback(server._execute_callback, answer, noted))
        server.register_handle_accepted_callback(
            guard_callback(server._handle_accepted_callback, not_started)
        )
        server.register_goal_callback(guard_callback(server._goal_callback, reject))
        server.register_cancel_callback(guard_callback(server._cancel_callback, keep))


class SuiteNode(Guarded, Node):
    """A node of the suite."""


class SuiteLifecycleNode(Guarded, LifecycleNode):
    """A lifecycle node of the suite; an unknown or impossible transition is refused."""

    def __init__(self, name: str, **options: Any) -> None:
        """Create the node."""
        super().__init__(name, **options)
        # rclpy makes the services of the lifecycle without create_service
        changing = self._service_change_state
        noted = partial(self.refusals.note, 'transition')
        callback = strict(changing.callback, partial(check_transition, self))
        changing.callback = guard_callback(callback, self._refusing('transition'), noted)
        for state, callback in self._callbacks.items():
            self._callbacks[state] = guard_callback(callback, self._transition_failed)

    def _transition_failed(self, error: Exception, *_: Any) -> Any:
        self.report_error('transition', error)
        return TransitionCallbackReturn.ERROR


def _is_of_suite(callback: Any) -> bool:
    """Return True if a callback belongs to this suite and not to rclpy."""
    return not str(getattr(callback, '__module__', '')).startswith('rclpy')
