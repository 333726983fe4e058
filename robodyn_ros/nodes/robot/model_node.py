# SPDX-License-Identifier: Apache-2.0
"""Lifecycle node with an identified model: base of feed-forward and collision monitor."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn

from robodyn_ros.control.robot_check import FACTS, check_possible
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ConfigError, ControlError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.identification.result.verdict import PURPOSES
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.nodes.base.allowed import AllowedDirectories
from robodyn_ros.nodes.base.clock import start_timer
from robodyn_ros.nodes.base.common import Diagnostics, declare, plain, realtime_priority
from robodyn_ros.nodes.base.refusals import sentence
from robodyn_ros.nodes.base.suite_node import ROBOT, SuiteLifecycleNode
from robodyn_ros.nodes.robot.payload import CarriedPayload, add_payload, declare_block
from robodyn_ros.nodes.robot.same_robot import check_same_robot
from robodyn_ros.paths import resource
from robodyn_ros.srv import LoadModel

MODEL_KEYS = (
    'format',
    'description',
    'joints',
    'parameter_names',
    'parameter_units',
    'parameter_values',
    'parameter_stddevs',
    'hash',
)
"""Parameters `dynamic_model.*` of a result file."""

VERDICT_KEYS = (
    'joints',
    'moved',
    'error',
    'other_error',
    'expected_error',
    'tested',
    *(f'{name}{end}' for name in (*PURPOSES, 'inertials', 'payload') for end in ('', '_reasons')),
    'hash',
)
"""Parameters `identification.verdict.*` of a result file."""

Row = tuple[str, Any, str, dict[str, Any]]
"""Name, default, description and options of a parameter, see `declare`."""


class ModelNode(SuiteLifecycleNode):
    """Node that loads a result, configures and activates itself, and reports diagnostics.

    A subclass gives `build` (from model to law), `begin`, `finish` and `report`. An error during
    a transition is logged as one sentence, and the state of the node does not change.
    """

    hardware_id = ''
    purpose = 'feedforward'
    """Purpose in the verdict of a result."""
    consequence = 'it gets no torque'
    """Consequence for a joint that is not usable for this purpose, in messages."""

    def __init__(self, name: str) -> None:
        """Declare the parameters of both nodes."""
        super().__init__(name)
        self.identified: IdentifiedModel | None = None
        self.refused: dict[str, str] = {}
        self.active = False
        self._configured = False
        self._starting = False
        self._problem = 'not configured'
        declare(self, 'result_file', '', 'result YAML of an identification')
        self._allowed = AllowedDirectories(self, 'result_file')
        self._hash = declare(
            self, 'model_hash', '', 'hash of the only model that is accepted',
            read_only=True, limit=True,
        )  # fmt: skip
        text = 'of the identified model, if result_file is empty'
        declare_block(self, 'dynamic_model', MODEL_KEYS, text, read_only=True)
        declare_block(self, 'identification', FACTS, text, read_only=True)
        declare_block(self, 'identification.verdict', VERDICT_KEYS, text)
        self._allowed_joints = declare(
            self, 'allowed_joints', [''], 'joints that are used although the result calls them '
            'not usable', read_only=True, limit=True,
        )  # fmt: skip
        self._carried = CarriedPayload(self, self.set_values)
        self._autostart = bool(
            declare(self, 'autostart', False, 'configure and activate', read_only=True, limit=True)
        )
        self._window = single(declare(
            self, 'velocity_window', [0.01], 'Coulomb friction is a straight line within this '
            'speed [rad/s or m/s]; one value or one per joint', minimum=0.0, limit=True,
        ))  # fmt: skip
        realtime_priority(self, 40)
        self._diagnostics = Diagnostics(self, self.hardware_id)
        start_timer(self, 1.0, self._diagnose)
        self.create_service(LoadModel, '~/load_model', self._on_load)

    def declare_rows(self, rows: Sequence[Row]) -> dict[str, Any]:
        """Declare parameters, and return their values."""
        return {
            name: declare(self, name, default, text, limit=True, **options)
            for name, default, text, options in rows
        }

    def autostart(self) -> None:
        """Configure and activate if the parameter says so, when the node is complete."""
        if not self._autostart:
            return
        if self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self._starting = True
            self.start_when_ready()

    def start_when_ready(self) -> None:
        """Activate a node with autostart, unless it waits for something or was active before."""
        if not self._starting or self.active:
            return
        self._problem = self.waits()
        if not self._problem:
            self.trigger_activate()

    def waits(self) -> str:
        """Return what a node with autostart waits for, or ''."""
        return ''

    def build(self, model: IdentifiedModel, torque: ModelTorque) -> None:
        """Make the law for a model.

        :raises RobodynError: settings that do not fit it
        """
        raise NotImplementedError

    def begin(self) -> None:
        """Start.

        :raises RobodynError: the node must not start
        """

    def finish(self) -> None:
        """Bring the law to its safe state, while publishers are still active."""

    def set_values(self, values: Array) -> None:
        """Set the parameter values with another payload in the law, shape (p,).

        :raises ControlError: values that cannot be used
        """
        raise NotImplementedError

    def payload_efforts(self, model: IdentifiedModel) -> list[float] | None:
        """Return the effort limits that bound the payload, (n,), in [Nm] or [N]; None: unknown."""
        limits = effort_limits(model.model)
        return None if limits == [0.0] else limits

    def report(self) -> tuple[bytes, str, dict[str, object]]:
        """Return level, sentence and details of the diagnostics while active."""
        return DiagnosticStatus.OK, 'active', {}

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load the model and build the law."""
        result = self._attempt('configured', self._configure, super().on_configure, state)
        self._configured = result == TransitionCallbackReturn.SUCCESS
        return result

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start."""
        result = self._attempt('activated', self.begin, super().on_activate, state)
        self.active = result == TransitionCallbackReturn.SUCCESS
        self._starting &= not self.active
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Bring the law to its safe state, then stop publishing."""
        self._stop()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the model."""
        self.identified = None
        self._carried.forget()
        self._configured = self._starting = False
        self._problem = 'not configured'
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Bring the law to its safe state."""
        self._stop()
        self._starting = False
        return super().on_shutdown(state)

    def begin_shutdown(self) -> None:
        """Bring the law to its safe state after SIGINT or SIGTERM (blocks for the ramp)."""
        self._stop()

    def _stop(self) -> None:
        if self.active:
            try:
                self.finish()
            finally:
                self.active = False

    def _attempt(
        self, word: str, action: Any, then: Any, state: LifecycleState
    ) -> TransitionCallbackReturn:
        try:
            action()
        except Exception as error:
            self._problem = f'cannot be {word}: {sentence(error)}'
            self.refusals.say(self._problem)
            return TransitionCallbackReturn.FAILURE
        self._problem = ''
        answer: TransitionCallbackReturn = then(state)
        return answer

    def _configure(self) -> None:
        if self.identified is None:
            self.identified = self._load()
        self._use(self.identified)

    def _use(self, model: IdentifiedModel) -> None:
        if self._hash and model.hash != self._hash:
            raise ConfigError(
                f'the model of {model.source} has the hash {model.hash}, the parameter model_hash '
                f'accepts only {self._hash}'
            )
        check_same_robot(str(self.get_parameter(ROBOT).value), model.model, model.source)
        check_possible(model)
        payload, limit = self._carried.at_start(model, self.payload_efforts(model))
        self.refused = self._find_refused(model)
        values = add_payload(model, payload)
        torque = ModelTorque(model.model, values, velocity_window=self._window)
        self.build(model, torque)
        self._carried.use(model, payload, limit)
        self.get_logger().info(f'model of {model.source}, hash {model.hash[:12]}')

    def _find_refused(self, model: IdentifiedModel) -> dict[str, str]:
        """Return the joints that the verdict refuses, with the reasons; not if it refuses all."""
        refused = model.verdict.list_refused(self.purpose, self._allowed_joints)
        for joint, reason in refused.items():
            self.get_logger().warning(f'{self._not_usable(joint)} ({reason})')
        if len(refused) == len(model.joints):
            reasons = '; '.join(dict.fromkeys(refused.values()))
            raise ConfigError(
                f'{model.source} has no usable joint ({reasons}): identify again, or name joints '
                f'in allowed_joints'
            )
        return refused

    def _not_usable(self, joint: str) -> str:
        return f'joint {joint} is not usable, {self.consequence}'

    def _load(self) -> IdentifiedModel:
        path = str(self.get_parameter('result_file').value)
        if path:
            return load_identified_model(resource(path))
        values = self._block('dynamic_model', MODEL_KEYS)
        if not values:
            raise ConfigError(
                'no identified model: give the parameter result_file, load the result as a '
                'parameter file, or call ~/load_model'
            )
        facts = dict(self._block('identification', FACTS))
        verdict = self._block('identification.verdict', VERDICT_KEYS)
        facts |= {'verdict': verdict} if verdict else {}
        block = {'dynamic_model': values, 'identification': facts, **self._carried.block}
        return load_identified_model(block)

    def _block(self, prefix: str, keys: Sequence[str]) -> Mapping[str, Any]:
        values = {key: self.get_parameter(f'{prefix}.{key}').value for key in keys}
        return {key: plain(value) for key, value in values.items() if value is not None}

    def _on_load(
        self, request: LoadModel.Request, response: LoadModel.Response
    ) -> LoadModel.Response:
        """Load another result, unless active. With autostart the node then activates."""
        self._allowed.resolve(request)
        if self.active:
            text = 'the node is active: deactivate it before loading another model'
            raise ControlError(text, fault='active')
        model = load_identified_model(resource(request.result_file))
        self._use(model)
        self.identified = model
        response.success = True
        response.message = f'model of {model.source}, hash {model.hash}'
        if self._autostart and self._configured:
            self._starting = True
            self.start_when_ready()
        else:
            self.autostart()
        return response

    def _diagnose(self) -> None:
        if self.active:
            level, message, values = self.report()
            if self.refused and level == DiagnosticStatus.OK:
                level = DiagnosticStatus.WARN
                message = '; '.join((message, *map(self._not_usable, self.refused)))
        else:
            level = DiagnosticStatus.ERROR if self._problem else DiagnosticStatus.OK
            message, values = self._problem or 'inactive', {}
        if self.identified is not None:
            values['model'] = self.identified.source
            values['model_hash'] = self.identified.hash
            values['not_usable'] = ', '.join(self.refused)
        if self._carried.payload is not None:
            values['payload_mass'] = self._carried.payload.mass
        self._diagnostics.publish(level, message, values)


def single(value: Any) -> Any:
    """Return the element of a list of one, which is for all joints; otherwise the value."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def effort_limits(model: DynamicModel) -> list[float]:
    """Return the effort limits of the URDF in a model, in [Nm] or [N]; [0.0] if one is missing."""
    body = rigid_part(model)
    if body is None:
        return [0.0]
    known = {joint.name: joint.effort for joint in body.urdf.joints}
    limits = [float(known[name]) for name in model.joint_names]
    return limits if all(0.0 < v < math.inf for v in limits) else [0.0]
