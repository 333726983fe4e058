# SPDX-License-Identifier: Apache-2.0
"""Node `feedforward`: additive torque for trajectories, from an identified model."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import SetBool, Trigger

from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.feedforward.trajectory_effort import TrajectoryPlanner
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque_limits import PlannedTorque
from robodyn_ros.control.torque_threshold import SILENCE, TorqueThreshold
from robodyn_ros.errors import ConfigError, ControlError, Fault
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.base.common import check_when_set, source_of
from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.feedforward.follow_goals import offer_goals
from robodyn_ros.nodes.feedforward.law import Law
from robodyn_ros.nodes.feedforward.torque_marker import TorqueMarker
from robodyn_ros.nodes.feedforward.trajectories import Trajectories
from robodyn_ros.nodes.robot.controller_facts import ControllerFacts
from robodyn_ros.nodes.robot.effort import (
    EffortParameters,
    convert_watched_torque,
    declare_torque_limit,
    read_torque_limit,
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
    ('ramp_up_time', 0.25, 'time in which a trajectory changes from the present torque to its '
     'full model torque [s]', {**FIXED, 'minimum': 0.001, 'maximum': 10.0}),
    ('ramp_down_time', 0.1, 'time from any torque to zero [s]',
     {**FIXED, 'minimum': 0.001, 'maximum': 2.0}),
    ('friction_fade_time', 0.5, 'standstill after which no friction torque remains; it is '
     'constant for half of it [s]', {**FIXED, 'minimum': 0.001, 'maximum': 60.0}),
    ('feedforward_scale', 1.0, 'share of the model torque that is applied',
     {'minimum': 0.0, 'maximum': 1.0}),
)  # fmt: skip
"""Parameters of the law: name, default, description, range."""
NODE: tuple[Row, ...] = (
    ('state_timeout', SILENCE, 'while torque is applied: longest time without a new joint state '
     '[s]; 0: joint states are not watched', {**ARRAY, 'maximum': 10.0}),
    ('check_controller', True, 'ask the controller for its joints, interfaces and state, and '
     'apply torque only if they fit; false: for targets that are not ros2_control controllers',
     FIXED),
    ('controller', '', 'name of the controller that receives the trajectories, with its namespace '
     'if it has another one; default: joint_trajectory_controller', FIXED),
    ('hold_at_end', False, 'keep the last torque after a trajectory instead of ramping to zero',
     FIXED),
    ('torque_state_rate', STATE_RATE, 'how often ~/torque_state is published [Hz]; changes of '
     'fault and enabled at once; 0: for each joint state', RATE_RANGE),
    ('enabled', True, 'apply torque when activated', FIXED),
    ('enable_after_kill', False, 'apply torque when activated also after a process of this node '
     'was killed with torque enabled', FIXED),
)  # fmt: skip
"""Parameters of the node, in the same form."""


class Feedforward(ModelNode):
    """Lifecycle, parameters and services; `Trajectories` plans and sends the torque."""

    hardware_id = 'robodyn feedforward'

    def __init__(self) -> None:
        """Declare parameters, offer topics and services, start with autostart."""
        super().__init__('feedforward')
        self._options = self.declare_rows(LAW)
        self._effort = EffortParameters(self)
        self._torque_max = declare_torque_limit(
            self, 'torque_max', 'a trajectory that needs more is refused'
        )
        self._threshold = declare_torque_limit(
            self, 'torque_threshold', 'additive or measured torque beyond it is a fault'
        )
        given = self._chosen = self.declare_rows(NODE)
        self._trajectories = Trajectories(
            self, given['controller'], state_rate=given['torque_state_rate']
        )
        self._goals = offer_goals(self, self._trajectories)
        self._facts: ControllerFacts | None = None
        if given['check_controller']:
            self._facts = ControllerFacts(self, self._trajectories.topic, self.start_when_ready)
        self._marker = TorqueMarker(self)
        self._killed = self._find_killed_process()
        self.create_service(SetBool, '~/enable', self._on_enable)
        self.create_service(Trigger, '~/reset', self._on_reset)
        check_when_set(self, self._on_set)
        self.autostart()

    def _find_killed_process(self) -> str:
        """Return a sentence if this is a restart after which torque is not enabled, or ''."""
        given = self._chosen
        if given['enable_after_kill'] or not given['enabled'] or not self._marker.earlier:
            return ''
        text = (
            f'torque is not enabled: this node was killed with torque enabled '
            f'({self._marker.earlier}). Bring the robot to rest and call ~/enable, or set '
            f'enable_after_kill'
        )
        self.get_logger().warning(text)
        return text

    @property
    def _wanted(self) -> bool:
        """True if torque is to be applied when the node is activated."""
        return self._chosen['enabled'] and not self._killed

    def waits(self) -> str:
        """Return what is not yet known about the controller, or ''."""
        if self._facts is None or self._facts.target is not None:
            return ''
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
        self._facts.target.check_trajectories(self.identified.joints)

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
        convert_watched_torque(model.joints, limits[0], self._effort)
        threshold = TorqueThreshold(model.joints, limits[0], partial(now, self))
        states = StateWatch(width=len(model.joints), timeout=self._chosen['state_timeout'])
        check = None
        if limits[1] is not None:
            check = PlannedTorque(torque, limits[1], model.model.joints)
        hold = self._chosen['hold_at_end']
        planner = TrajectoryPlanner(torque, settings, threshold, check, hold)
        self._trajectories.use(Law(planner, effort, states), settings.additive_torque_delay)

    def _log_limits(self, settings: FeedforwardSettings, *, from_urdf: bool) -> None:
        source = 'effort limits of the URDF' if from_urdf else self.source('max_torque')
        each = zip(settings.joints, settings.limit, settings.rate, strict=True)
        text = ', '.join(f'{name} {torque:.4g} (per s {rate:.4g})' for name, torque, rate in each)
        self.get_logger().info(f'additive torque is limited to [Nm or N] {text}: {source}')

    def set_values(self, values: Array) -> None:
        """Set another payload for later trajectories.

        :raises ControlError: values that cannot be used
        """
        self._trajectories.set_values(values)

    def payload_efforts(self, model: IdentifiedModel) -> list[float] | None:
        """Return the effort limits of the URDF, or max_torque if it has none.

        :raises ConfigError: max_torque is of a robot with another number of joints
        """
        limit: list[float] = self._options['max_torque']
        count = len(model.joints)
        if len(limit) not in (1, count):
            raise ConfigError(
                f'{model.source} has {count} joints ({", ".join(model.joints)}), max_torque has '
                f'{len(limit)} values{source_of(self, "max_torque")}: give the result of this '
                f'robot, or one value for all joints or for each'
            )
        known = None if limit == [0.0] else limit * (count if len(limit) == 1 else 1)
        return super().payload_efforts(model) or known

    def begin(self) -> None:
        """Start from zero."""
        self._check_controller()
        self._trajectories.begin(self._wanted)
        if self._wanted:
            self._marker.set()
        if self._facts is not None:
            self._facts.asking = False

    def finish(self) -> None:
        """Ramp to zero."""
        self._trajectories.finish()
        if self._goals is not None:
            self._goals.stop(self._trajectories.remaining)
        self._marker.clear()
        if self._facts is not None:
            self._facts.asking = True

    def shutdown_done(self) -> bool:
        """Return True when all goals of the action have ended."""
        return self._goals is None or not self._goals.busy

    def on_unexpected(self, reason: Fault) -> None:
        """Latch a fault: torque goes to zero."""
        if self.active:
            self._trajectories.trip(reason)

    def report(self) -> tuple[bytes, str, dict[str, object]]:
        """Return level, text and values for diagnostics: state, fault and refusals."""
        torque = self._trajectories
        details: dict[str, object] = {
            'state': torque.state.value, 'refused': torque.refused,
            'last_refusal': torque.refusal, 'enabled': torque.machine.enabled,
        }  # fmt: skip
        if torque.machine.fault:
            size = 'still applied' if torque.remaining > 0.0 else 'zero'
            return DiagnosticStatus.ERROR, f'torque is {size}: {torque.machine.fault}', details
        killed = f'active, but {self._killed}' if self._killed else ''
        if warning := '; '.join(filter(None, (killed, torque.refusal))):
            return DiagnosticStatus.WARN, warning, details
        if not torque.machine.enabled:
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
        self._trajectories.machine.enable()
        self._marker.set()
        self._killed = ''

    def _disable(self) -> None:
        self._trajectories.disable()
        self._marker.clear()

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Clear a fault; `~/enable` applies torque again."""
        response.message = self._trajectories.machine.reset()
        response.success = True
        return response

    def _on_set(self, new: Mapping[str, Any]) -> None:
        if 'feedforward_scale' in new:
            self._trajectories.set_scale(new['feedforward_scale'])
            self._options['feedforward_scale'] = new['feedforward_scale']


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(Feedforward, argv)


if __name__ == '__main__':
    sys.exit(main(sys.argv))
