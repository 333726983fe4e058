"""Node `feedforward`: additive torque from an identified model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger

from robodyn_ros.control.feedforward.additive_torque import AdditiveTorque, FeedforwardSettings
from robodyn_ros.control.feedforward.delivery import Delivery
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.torque.gear_torque import MeasuredResidual
from robodyn_ros.control.torque.gravity_free import GravityFree
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque.standstill import FADE_TIME
from robodyn_ros.control.torque_limits import PlannedTorque
from robodyn_ros.errors import ConfigError, ControlError, RobodynError
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.common import declare, run
from robodyn_ros.nodes.feedforward.streaming import StreamingMode
from robodyn_ros.nodes.feedforward.torque_marker import TorqueMarker
from robodyn_ros.nodes.feedforward.trajectory import TrajectoryMode
from robodyn_ros.nodes.robot.controller_facts import ControllerFacts
from robodyn_ros.nodes.robot.effort import (
    EffortParameters,
    declare_torque_limit,
    read_torque_limit,
    watched_torque,
)
from robodyn_ros.nodes.robot.model_node import ModelNode, effort_limits, expanded
from robodyn_ros.nodes.robot.torque_watch import SILENCE, TorqueWatch


class Feedforward(ModelNode):
    """Lifecycle, parameters and services; the work is done by the mode."""

    hardware_id = 'robodyn feedforward'

    def __init__(self) -> None:
        """Declare parameters, offer topics and services, start if told to."""
        super().__init__('feedforward')
        self._options = self._declare()
        self._effort = EffortParameters(self)
        self._torque_max = declare_torque_limit(
            self, 'torque_max', 'trajectory mode: a trajectory that needs more is refused'
        )
        self._residual_scale = float(declare(
            self, 'residual_scale', 0.5, 'streaming mode: share of the residual torque of a '
            'result with double encoders that is applied; 0: none',
            read_only=True, limit=True, minimum=0.0, maximum=1.0,
        ))  # fmt: skip
        self._threshold = declare_torque_limit(
            self, 'torque_threshold', 'additive or measured torque beyond it is a fault'
        )
        self._state_timeout = float(declare(
            self, 'state_timeout', SILENCE, 'while torque is applied: longest time without a new '
            'joint state [s]; 0: joint states are not watched',
            read_only=True, limit=True, minimum=0.0, maximum=10.0,
        ))  # fmt: skip
        check = bool(declare(
            self, 'check_controller', True, 'ask the controller for its joints, interfaces and '
            'state, and apply torque only when they fit; false: for targets that are no '
            'ros2_control controller',
            read_only=True, limit=True,
        ))  # fmt: skip
        self._mode = self._make_mode(check)
        self._facts = self._ask() if check else None
        self._enabled = bool(
            declare(
                self, 'enabled', True, 'apply torque when activated', read_only=True, limit=True
            )
        )
        self._killed = self._left_by_a_killed_process()
        self.create_service(SetBool, '~/enable', self._on_enable)
        self.create_service(Trigger, '~/reset', self._on_reset)
        self.add_on_set_parameters_callback(self._on_set)
        self.autostart()

    def _left_by_a_killed_process(self) -> str:
        """Say that this is a restart, after which torque is not applied at once, or nothing."""
        anew = declare(
            self, 'enable_after_kill', False, 'apply torque when activated also after a process '
            'of this node was killed with torque enabled',
            read_only=True, limit=True,
        )  # fmt: skip
        self._marker = TorqueMarker(self)
        if anew or not self._enabled or not self._marker.found:
            return ''
        text = (
            f'torque is not enabled: this node was killed with torque enabled '
            f'({self._marker.found}). Bring the robot to rest and call ~/enable, or set '
            f'enable_after_kill'
        )
        self.get_logger().warning(text)
        return text

    def _declare(self) -> dict[str, Any]:
        fixed: dict[str, Any] = {'read_only': True}
        array: dict[str, Any] = {'read_only': True, 'minimum': 0.0}
        rows: list[tuple[str, Any, str, dict[str, Any]]] = [
            ('period', 0.002, 'servo period [s]', {**fixed, 'minimum': 1e-4, 'maximum': 0.1}),
            ('additive_torque_delay', 3, 'cycles between a command and its effect',
             {**fixed, 'minimum': 0, 'maximum': 1000}),
            ('max_torque', [0.0], 'largest additive torque [Nm or N]; one value or one per joint; '
             '0: the effort limits of the URDF', array),
            ('max_torque_rate', [0.0], 'largest change of it [Nm/s or N/s]; 0: max_torque in '
             '50 ms', array),
            ('ramp_up_time', 0.25, 'from zero to full model torque, and from one payload or '
             'feedforward_scale to another [s]',
             {**fixed, 'minimum': 0.001, 'maximum': 10.0}),
            ('ramp_down_time', 0.1, 'from any torque to zero [s]',
             {**fixed, 'minimum': 0.001, 'maximum': 2.0}),
            ('friction_fade_time', FADE_TIME, 'standstill after which no friction torque remains; '
             'it stays for half of it [s]', {**fixed, 'minimum': 0.001, 'maximum': 60.0}),
            ('feedforward_scale', 1.0, 'share of the model torque that is applied',
             {'minimum': 0.0, 'maximum': 1.0}),
        ]  # fmt: skip
        return {
            name: declare(self, name, *rest, limit=True, **options)
            for name, *rest, options in rows
        }

    def _make_mode(self, check: bool) -> StreamingMode | TrajectoryMode:
        mode = declare(
            self, 'mode', 'trajectory', 'trajectory or streaming', read_only=True, limit=True
        )
        hold = declare(
            self, 'hold_at_end', False,
            'trajectory mode: keep the last torque after a trajectory instead of ramping to zero',
            read_only=True, limit=True,
        )  # fmt: skip
        timeout = declare(
            self, 'reference_timeout', 0.0,
            'streaming mode: longest pause between usable references [s], at least 0.002; 0: '
            '3 times the longest recent pause, from 0.04 to 0.2 s',
            read_only=True, minimum=0.0, maximum=1.0, limit=True,
        )  # fmt: skip
        if 0.0 < timeout < 0.002:
            raise ConfigError(
                f"parameter 'reference_timeout' must be 0 or from 0.002 to 1 s, got {timeout}"
            )
        if mode == 'streaming' and self._torque_max is not None:
            raise ConfigError(
                "parameter 'torque_max' is for planned motions: with mode streaming use "
                'torque_threshold'
            )
        if mode == 'streaming':
            return StreamingMode(self, timeout, ask=check, changed=self.start_when_ready)
        if mode != 'trajectory':
            raise ConfigError(f"parameter 'mode' must be trajectory or streaming, got {mode!r}")
        declared = self._effort.declaration
        return TrajectoryMode(self, hold_at_end=bool(hold), declaration=declared, ask=check)

    def _ask(self) -> ControllerFacts:
        streaming = isinstance(self._mode, StreamingMode)
        interfaces = 'interface_name' if streaming else 'command_interfaces'
        return ControllerFacts(self, self._mode.topic, interfaces, self.start_when_ready)

    def waits(self) -> str:
        """Say that the controller has not told what it commands yet, or takes no commands."""
        if self._facts is None:
            return ''
        if self._facts.target is not None:
            waiting = self._mode.target.waiting
            streaming = isinstance(self._mode, StreamingMode)
            wanted = streaming and self._enabled and not self._killed
            return f'waits to apply torque: {waiting}' if wanted and waiting else ''
        return (
            f'waits for controller {self._facts.name}, which does not say what it commands yet '
            f'(no controller of ros2_control there: check_controller: false)'
        )

    def _check_controller(self) -> None:
        """Refuse a controller that does not fit the model.

        :raises ControlError: or one that has not answered
        """
        if self._facts is None or self.identified is None:
            return
        if self._facts.target is None:
            raise ControlError(self.waits())
        joints = self.identified.joints
        if isinstance(self._mode, StreamingMode):
            self._facts.target.check_efforts(joints)
        else:
            self._facts.target.check_trajectories(joints)

    def build(self, model: IdentifiedModel, torque: ModelTorque) -> None:
        """Make the law for a model."""
        values = dict(self._options)
        limit, rate = values['max_torque'], values['max_torque_rate']
        values['max_torque'] = expanded(effort_limits(model.model) if limit == [0.0] else limit)
        values['max_torque_rate'] = None if rate == [0.0] else expanded(rate)
        settings = FeedforwardSettings(joints=model.joints, **values)
        effort = self._effort.for_joints(model.model.joints)
        effort.check_limit(settings.limit)
        self._log_limits(settings, from_urdf=limit == [0.0])
        whole = torque
        if effort.gravity_excluded.any():
            self.get_logger().info('effort without gravity: gravity torque is left to the driver')
            torque = GravityFree(torque, effort.gravity_excluded)
        threshold = read_torque_limit(
            'torque_threshold', self._threshold, model.joints, self._effort
        )
        watched_torque(model.joints, threshold, self._effort)
        watch = None if threshold is None else TorqueWatch(model.joints, threshold)
        states = StateWatch(width=len(model.joints), timeout=self._state_timeout)
        if isinstance(self._mode, StreamingMode):
            residual = self._residual(model, settings)
            law = AdditiveTorque(torque=torque, settings=settings, residual=residual)
            self._mode.use(law, effort, states, watch)
            return
        limit = read_torque_limit('torque_max', self._torque_max, model.joints, self._effort)
        check = None if limit is None else PlannedTorque(whole, limit, model.model.joints)
        self._mode.use(torque, settings, effort, states, watch=watch, check=check)

    def _log_limits(self, settings: FeedforwardSettings, *, from_urdf: bool) -> None:
        source = 'effort limits of the URDF' if from_urdf else self.source('max_torque')
        each = zip(settings.joints, settings.limit, settings.rate, strict=True)
        text = ', '.join(f'{name} {torque:.4g} (per s {rate:.4g})' for name, torque, rate in each)
        self.get_logger().info(f'additive torque is limited to [Nm or N] {text}: {source}')

    def _residual(
        self, model: IdentifiedModel, settings: FeedforwardSettings
    ) -> MeasuredResidual | None:
        """Torque by the deflection of the gears, if the result has it and it is wanted."""
        if model.residual is None or not self._residual_scale:
            return None
        self.get_logger().info(
            f'residual torque of joints NAME_motor in joint_states, scale {self._residual_scale:g}'
        )
        return MeasuredResidual(
            model.residual,
            period=settings.period,
            scale=self._residual_scale,
            fade_time=settings.ramp_down_time,
        )

    def set_values(self, values: Array) -> None:
        """Take another payload: now in streaming mode, for the trajectories to come in the other.

        :raises ControlError: values that cannot be used
        """
        self._mode.set_values(values)

    def payload_efforts(self, model: IdentifiedModel) -> list[float] | None:
        """Effort limits of the URDF; where it has none, max_torque."""
        limit: list[float] = self._options['max_torque']
        known = None if limit == [0.0] else limit * (len(model.joints) if len(limit) == 1 else 1)
        return super().payload_efforts(model) or known

    def begin(self) -> None:
        """Start from zero."""
        self._check_controller()
        enabled = self._enabled and not self._killed
        self._mode.begin(enabled)
        if enabled:
            self._marker.set()
        self._warn_of_unknown_state()
        if self._facts is not None:
            self._facts.asking = False

    def _warn_of_unknown_state(self) -> None:
        target = self._mode.target
        streaming = isinstance(self._mode, StreamingMode)
        if self._facts is not None and streaming and target.delivery is Delivery.UNKNOWN:
            self.get_logger().warning(
                f'the state of {target.name} is unknown: neither list_controllers of its '
                f'controller manager (package controller_manager_msgs) nor its get_state answers'
            )

    def finish(self) -> None:
        """Ramp to zero."""
        self._mode.finish()
        self._marker.clear()
        if self._facts is not None:
            self._facts.asking = True

    def on_unexpected(self, reason: str) -> None:
        """Latch a fault: torque goes to zero."""
        if self.active:
            self._mode.trip(reason)

    def report(self) -> tuple[bytes, str, dict[str, object]]:
        """Return level, text and values for diagnostics: state, fault and refusals."""
        mode = self._mode
        delivery = mode.target.delivery.name.lower()
        details = {**mode.details(), 'enabled': mode.enabled, 'delivery': delivery}
        if mode.fault:
            now = 'still applied' if mode.applied else 'zero'
            return DiagnosticStatus.ERROR, f'torque is {now}: {mode.fault}', details
        killed = f'active, but {self._killed}' if self._killed else ''
        if warning := '; '.join(filter(None, (killed, mode.target.problem, mode.warning))):
            return DiagnosticStatus.WARN, warning, details
        if not mode.enabled:
            text = 'active, but additive torque is not enabled: call ~/enable'
            return DiagnosticStatus.WARN, text, details
        return DiagnosticStatus.OK, 'active', details

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """Ramp the torque in or out; the node stays active."""
        response.success = self.active
        response.message = 'the node is not active'
        if self.active:
            try:
                (self._enable if request.data else self._disable)()
                response.message = 'enabled' if request.data else 'disabled'
            except RobodynError as error:
                response.success, response.message = False, str(error)
        return response

    def _enable(self) -> None:
        self._mode.enable()
        self._marker.set()
        self._killed = ''

    def _disable(self) -> None:
        self._mode.disable()
        self._marker.clear()

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Clear a fault; `~/enable` applies torque again."""
        response.message = self._mode.reset()
        response.success = True
        return response

    def _on_set(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == 'feedforward_scale':
                try:
                    self._mode.set_scale(parameter.value)
                except ControlError as error:
                    return SetParametersResult(successful=False, reason=str(error))
                self._options['feedforward_scale'] = parameter.value
        return SetParametersResult(successful=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(Feedforward, argv)


if __name__ == '__main__':
    sys.exit(main(sys.argv))
