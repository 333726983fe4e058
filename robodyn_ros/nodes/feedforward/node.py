# SPDX-License-Identifier: Apache-2.0
"""Node `feedforward`: additive torque from an identified model."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import SetBool, Trigger

from robodyn_ros.control.feedforward.additive_torque import AdditiveTorque
from robodyn_ros.control.feedforward.delivery import Delivery
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.torque.gear_torque import MeasuredGearTorque
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque_limits import PlannedTorque
from robodyn_ros.control.torque_threshold import SILENCE, TorqueThreshold
from robodyn_ros.errors import ConfigError, ControlError, Fault
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.common import check_when_set
from robodyn_ros.nodes.base.spinning import run
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
from robodyn_ros.nodes.robot.model_node import ModelNode, Row, effort_limits, single
from robodyn_ros.nodes.robot.publish_rate import RATE_RANGE, STATE_RATE

FIXED: dict[str, Any] = {'read_only': True}
ARRAY: dict[str, Any] = {'read_only': True, 'minimum': 0.0}
LAW: tuple[Row, ...] = (
    ('period', 0.002, 'servo period [s]', {**FIXED, 'minimum': 1e-4, 'maximum': 0.1}),
    ('additive_torque_delay', 3, 'cycles between a command and its effect',
     {**FIXED, 'minimum': 0, 'maximum': 1000}),
    ('max_torque', [0.0], 'largest additive torque [Nm or N]; one value or one per joint; '
     '0: the effort limits of the URDF', ARRAY),
    ('max_torque_rate', [0.0], 'largest change of it [Nm/s or N/s]; 0: max_torque in '
     '50 ms', ARRAY),
    ('ramp_up_time', 0.25, 'time from zero to full model torque, and from one payload or '
     'feedforward_scale to another [s]', {**FIXED, 'minimum': 0.001, 'maximum': 10.0}),
    ('ramp_down_time', 0.1, 'time from any torque to zero [s]',
     {**FIXED, 'minimum': 0.001, 'maximum': 2.0}),
    ('friction_fade_time', 0.5, 'standstill after which no friction torque remains; it is '
     'constant for half of it [s]', {**FIXED, 'minimum': 0.001, 'maximum': 60.0}),
    ('feedforward_scale', 1.0, 'share of the model torque that is applied',
     {'minimum': 0.0, 'maximum': 1.0}),
)  # fmt: skip
"""Parameters of the law: name, default, description, range."""
NODE: tuple[Row, ...] = (
    ('residual_scale', 0.5, 'streaming mode: share of the gear torque of a result with double '
     'encoders that is applied; 0: none', {**ARRAY, 'maximum': 1.0}),
    ('state_timeout', SILENCE, 'while torque is applied: longest time without a new joint state '
     '[s]; 0: joint states are not watched', {**ARRAY, 'maximum': 10.0}),
    ('check_controller', True, 'ask the controller for its joints, interfaces and state, and '
     'apply torque only if they fit; false: for targets that are not ros2_control controllers',
     FIXED),
    ('mode', 'trajectory', 'trajectory or streaming', FIXED),
    ('controller', '', 'name of the controller that receives the commands, with its namespace if '
     'it has another one; default: joint_trajectory_controller, in streaming mode '
     'forward_effort_controller', FIXED),
    ('hold_at_end', False, 'trajectory mode: keep the last torque after a trajectory instead of '
     'ramping to zero', FIXED),
    ('reference_timeout', 0.0, 'streaming mode: longest pause between usable references [s], at '
     'least 0.002; 0: 3 times the longest recent pause, from 0.04 to 0.2 s',
     {**ARRAY, 'maximum': 1.0}),
    ('torque_state_rate', STATE_RATE, 'how often ~/torque_state is published [Hz]; changes of '
     'fault, delivery and enabled at once; 0: in each cycle', RATE_RANGE),
    ('enabled', True, 'apply torque when activated', FIXED),
    ('enable_after_kill', False, 'apply torque when activated also after a process of this node '
     'was killed with torque enabled', FIXED),
)  # fmt: skip
"""Parameters of the node, in the same form."""


class Feedforward(ModelNode):
    """Lifecycle, parameters and services; the mode computes and sends the torque."""

    hardware_id = 'robodyn feedforward'

    def __init__(self) -> None:
        """Declare parameters, offer topics and services, start with autostart."""
        super().__init__('feedforward')
        self._options = self.declared(LAW)
        self._effort = EffortParameters(self)
        self._torque_max = declare_torque_limit(
            self, 'torque_max', 'trajectory mode: a trajectory that needs more is refused'
        )
        self._threshold = declare_torque_limit(
            self, 'torque_threshold', 'additive or measured torque beyond it is a fault'
        )
        given = self._chosen = self.declared(NODE)
        self._mode = self._make_mode()
        self._facts: ControllerFacts | None = None
        if given['check_controller']:
            self._facts = ControllerFacts(
                self, self._mode.topic, self._mode.interfaces, self.start_when_ready
            )
        self._marker = TorqueMarker(self)
        self._killed = self._left_by_a_killed_process()
        self.create_service(SetBool, '~/enable', self._on_enable)
        self.create_service(Trigger, '~/reset', self._on_reset)
        check_when_set(self, self._on_set)
        self.autostart()

    def _left_by_a_killed_process(self) -> str:
        """Return a sentence if this is a restart after which torque is not enabled, or ''."""
        given = self._chosen
        if given['enable_after_kill'] or not given['enabled'] or not self._marker.found:
            return ''
        text = (
            f'torque is not enabled: this node was killed with torque enabled '
            f'({self._marker.found}). Bring the robot to rest and call ~/enable, or set '
            f'enable_after_kill'
        )
        self.get_logger().warning(text)
        return text

    def _make_mode(self) -> StreamingMode | TrajectoryMode:
        given = self._chosen
        mode, timeout, ask = given['mode'], given['reference_timeout'], given['check_controller']
        if 0.0 < timeout < 0.002:
            raise ConfigError(
                f"parameter 'reference_timeout' must be 0 or from 0.002 to 1 s, got {timeout}"
            )
        if mode == 'streaming' and self._torque_max is not None:
            raise ConfigError(
                "parameter 'torque_max' is for planned motions: with mode streaming use "
                'torque_threshold'
            )
        named: dict[str, Any] = {'state_rate': given['torque_state_rate']}
        if given['controller']:
            named['controller'] = given['controller']
        if mode == 'streaming':
            return StreamingMode(self, timeout, ask=ask, changed=self.start_when_ready, **named)
        if mode != 'trajectory':
            raise ConfigError(f"parameter 'mode' must be trajectory or streaming, got {mode!r}")
        declared = self._effort.declaration
        hold = given['hold_at_end']
        return TrajectoryMode(self, hold_at_end=hold, declaration=declared, ask=ask, **named)

    @property
    def _streaming(self) -> bool:
        return isinstance(self._mode, StreamingMode)

    @property
    def _wanted(self) -> bool:
        """True if torque is to be applied when the node is activated."""
        return self._chosen['enabled'] and not self._killed

    def waits(self) -> str:
        """Return what is not yet known about the controller, or why it accepts no commands."""
        if self._facts is None:
            return ''
        if self._facts.target is not None:
            waiting = self._mode.target.waiting
            applies = self._streaming and self._wanted
            return f'waits to apply torque: {waiting}' if applies and waiting else ''
        return (
            f'waits for controller {self._facts.name}, which has not reported its joints and '
            f'interfaces (if it is not a ros2_control controller: check_controller: false)'
        )

    def _check_controller(self) -> None:
        """Refuse a controller that does not fit the model."""
        if self._facts is None or self.identified is None:
            return
        if self._facts.target is None:
            raise ControlError(self.waits(), fault='node_missing')
        joints = self.identified.joints
        if self._streaming:
            self._facts.target.check_efforts(joints)
        else:
            self._facts.target.check_trajectories(joints)

    def build(self, model: IdentifiedModel, torque: ModelTorque) -> None:
        """Make the law for a model."""
        values = dict(self._options)
        limit, rate = values['max_torque'], values['max_torque_rate']
        values['max_torque'] = single(effort_limits(model.model) if limit == [0.0] else limit)
        values['max_torque_rate'] = None if rate == [0.0] else single(rate)
        settings = FeedforwardSettings(joints=model.joints, refused=tuple(self.refused), **values)
        effort = self._effort.for_joints(model.model.joints)
        effort.check_limit(settings.limit)
        self._log_limits(settings, from_urdf=limit == [0.0])
        if effort.command_gravity_excluded.any():
            self.get_logger().info('commands have no gravity: the robot adds it (effort.*)')
        torque.exclude_gravity(effort.command_gravity_excluded)
        limits = [
            read_torque_limit(name, given, model.joints, self._effort)
            for name, given in (
                ('torque_threshold', self._threshold), ('torque_max', self._torque_max)
            )
        ]  # fmt: skip
        watched_torque(model.joints, limits[0], self._effort)
        threshold = TorqueThreshold(model.joints, limits[0])
        states = StateWatch(width=len(model.joints), timeout=self._chosen['state_timeout'])
        if isinstance(self._mode, StreamingMode):
            gears = self._gear_torque(model, settings)
            law = AdditiveTorque(torque=torque, settings=settings, gear_torque=gears)
            self._mode.use(law, effort, states, threshold)
            return
        most = limits[1]
        check = None if most is None else PlannedTorque(torque, most, model.model.joints)
        self._mode.use(torque, settings, effort, states, threshold, check=check)

    def _log_limits(self, settings: FeedforwardSettings, *, from_urdf: bool) -> None:
        source = 'effort limits of the URDF' if from_urdf else self.source('max_torque')
        each = zip(settings.joints, settings.limit, settings.rate, strict=True)
        text = ', '.join(f'{name} {torque:.4g} (per s {rate:.4g})' for name, torque, rate in each)
        self.get_logger().info(f'additive torque is limited to [Nm or N] {text}: {source}')

    def _gear_torque(
        self, model: IdentifiedModel, settings: FeedforwardSettings
    ) -> MeasuredGearTorque | None:
        """Return the torque by deflection of the gears, if the result has it and it is applied."""
        scale = self._chosen['residual_scale']
        if model.residual is None or not scale:
            return None
        self.get_logger().info(
            f'gear torque of joints NAME_motor in joint_states, scale {scale:g}'
        )
        return MeasuredGearTorque(
            model.residual, period=settings.period, scale=scale, fade_time=settings.ramp_down_time
        )

    def set_values(self, values: Array) -> None:
        """Set another payload: immediately in streaming mode, else for later trajectories.

        :raises ControlError: values that cannot be used
        """
        self._mode.set_values(values)

    def payload_efforts(self, model: IdentifiedModel) -> list[float] | None:
        """Return the effort limits of the URDF, or max_torque if it has none."""
        limit: list[float] = self._options['max_torque']
        known = None if limit == [0.0] else limit * (len(model.joints) if len(limit) == 1 else 1)
        return super().payload_efforts(model) or known

    def begin(self) -> None:
        """Start from zero."""
        self._check_controller()
        wanted = self._wanted
        self._mode.begin(wanted)
        if wanted:
            self._marker.set()
        if self._facts is None:
            return
        self._facts.asking = False
        target = self._mode.target
        if self._streaming and target.delivery is Delivery.UNKNOWN:
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

    def shutdown_done(self) -> bool:
        """Return True when all goals of the action have ended."""
        return not self._mode.busy

    def on_unexpected(self, reason: Fault) -> None:
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
            (self._enable if request.data else self._disable)()
            response.message = 'enabled' if request.data else 'disabled'
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

    def _on_set(self, new: Mapping[str, Any]) -> None:
        if 'feedforward_scale' in new:
            self._mode.set_scale(new['feedforward_scale'])
            self._options['feedforward_scale'] = new['feedforward_scale']


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(Feedforward, argv)


if __name__ == '__main__':
    sys.exit(main(sys.argv))
