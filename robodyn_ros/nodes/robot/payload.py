# SPDX-License-Identifier: Apache-2.0
"""Payload of feed-forward and collision monitor, at start and at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter

from robodyn_ros.control.payload_limit import PayloadLimit
from robodyn_ros.errors import ControlError, ModelError
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array
from robodyn_ros.models.payload import Payload, PayloadModel, payload_of
from robodyn_ros.nodes.base.common import declare, declare_open
from robodyn_ros.srv import SetPayload

BLOCK_KEYS = ('parameter_names', 'parameter_units', 'parameter_values', 'parameter_stddevs')
"""Parameters `payload.*` of a result file with payload."""


class CarriedPayload:
    """Parameters `payload.*` and the service `~/set_payload` of a node with a model.

    At start the payload is that of the parameters, or else that of the result. A payload above
    max_payload is refused.
    """

    def __init__(self, node: Node, set_values: Callable[[Array], None]) -> None:
        """Declare the parameters and offer the service.

        :param set_values: called with the parameter values (p,) of the model with another payload
        :raises ConfigError: a parameter of the wrong type
        """
        self._set_values = set_values
        self._model: IdentifiedModel | None = None
        self._limit: PayloadLimit | None = None
        self.payload: Payload | None = None
        kinds = Parameter.Type
        rows: list[tuple[str, Any, str]] = [
            ('mass', kinds.DOUBLE, 'payload at start [kg]; default: as in the result'),
            ('center_of_mass', kinds.DOUBLE_ARRAY, 'URDF robots: its centre, in the frame [m]'),
            ('inertia', kinds.DOUBLE_ARRAY, 'its inertia [kg m^2]: Ixx, Ixy, Ixz, Iyy, Iyz, Izz '
             'about the centre of mass for URDF robots, else one about the last rotary axis'),
            ('frame', '', 'URDF robots: link that carries the payload; default: the last'),
        ]  # fmt: skip
        self._given = {
            name: declare(node, f'payload.{name}', kind, text, read_only=True)
            for name, kind, text in rows
        }
        self._most = float(declare(
            node, 'max_payload', 0.0, 'largest mass of a payload [kg]; 0: the largest that the '
            'effort limits of the joints can carry',
            read_only=True, limit=True, minimum=0.0,
        ))  # fmt: skip
        text = 'of an identified payload, if result_file is empty'
        self._block = declare_block(node, 'payload', BLOCK_KEYS, text, read_only=True)
        node.create_service(SetPayload, '~/set_payload', self._on_set)

    @property
    def block(self) -> dict[str, Any]:
        """Block `payload` of a result that was loaded as a parameter file, or empty."""
        if 'parameter_names' not in self._block:
            return {}
        return {'payload': {'frame': self._given['frame'], **self._block}}

    def at_start(
        self, model: IdentifiedModel, effort: Sequence[float] | None
    ) -> tuple[Payload | None, PayloadLimit | None]:
        """Return the payload of the parameters or else of the result, and the limit of payloads.

        :param effort: effort limits of the joints, shape (n,), in [Nm] or [N]; None: not known
        :raises RobodynError: a payload that the model or the robot cannot carry
        """
        payload = model.payload
        if self._given['mass'] is not None:
            payload = payload_of(
                model.model,
                self._given['mass'],
                center_of_mass=self._given['center_of_mass'],
                inertia=self._given['inertia'],
                frame=self._given['frame'],
            )
        limit = self._limit_of(model, effort)
        if payload is not None and limit is not None:
            limit.check(payload)
        return payload, limit

    def _limit_of(
        self, model: IdentifiedModel, effort: Sequence[float] | None
    ) -> PayloadLimit | None:
        """Return the limit of payloads; None: the model cannot carry one."""
        try:
            carried = PayloadModel(arm=model.model)
        except ModelError:
            return None
        return PayloadLimit(carried, model.values, effort=effort, max_payload=self._most)

    def use(
        self, model: IdentifiedModel, payload: Payload | None, limit: PayloadLimit | None
    ) -> None:
        """Set the model whose torque the law computes."""
        self._model, self.payload, self._limit = model, payload, limit

    def forget(self) -> None:
        """Forget the model."""
        self._model = self._limit = self.payload = None

    def add(self, change: Payload) -> None:
        """Add a payload that was picked up, or one of negative mass that was put down.

        :raises RobodynError: the robot cannot carry it
        """
        assert self._model is not None
        self._carry(self._model, change.on(self.payload))

    def _carry(self, model: IdentifiedModel, payload: Payload) -> None:
        if self._limit is not None:
            self._limit.check(payload)
        self._set_values(add_payload(model, payload))
        self.payload = payload

    def _on_set(
        self, request: SetPayload.Request, response: SetPayload.Response
    ) -> SetPayload.Response:
        if self._model is None:
            text = 'there is no model yet that could carry a payload'
            raise ControlError(text, fault='no_model')
        payload = payload_of(
            self._model.model,
            request.mass,
            center_of_mass=list(request.center_of_mass),
            inertia=list(request.inertia),
            frame=request.frame,
        )
        self._carry(self._model, payload)
        response.success = True
        response.message = f'payload of {request.mass:g} kg'
        if request.mass and not np.any(payload.added):
            response.message += ', which this model does not feel'
        return response


def declare_block(
    node: Node, prefix: str, keys: Sequence[str], text: str, *, read_only: bool = False
) -> dict[str, Any]:
    """Declare the parameters of a block of a result file, and return those that are given."""
    given = {
        key: declare_open(node, f'{prefix}.{key}', f'{key} {text}', read_only=read_only)
        for key in keys
    }
    return {key: value for key, value in given.items() if value is not None}


def add_payload(model: IdentifiedModel, payload: Payload | None) -> Any:
    """Return the parameter values of a model with a payload, shape (p,)."""
    return model.values if payload is None else model.values + payload.added
