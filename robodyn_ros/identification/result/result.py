# SPDX-License-Identifier: Apache-2.0
"""Result of an identification, and the model that is read from its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.result.content import ResultContent
from robodyn_ros.identification.result.facts import header_facts
from robodyn_ros.identification.result.fingerprint import fingerprint
from robodyn_ros.identification.result.methods import ResultMethods
from robodyn_ros.identification.result.verdict import Verdict, make_unknown_verdict
from robodyn_ros.models.gear_torque import GearTorqueLaw
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import Payload


@dataclass(frozen=True)
class IdentificationResult(ResultMethods, ResultContent):
    """Identified parameters, their source and their uncertainty; all values SI."""

    @property
    def carried(self) -> Payload | None:
        """The identified payload, if there is one."""
        return None if self.payload is None else self.payload.payload

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts of the identification, as its result file holds them."""
        return header_facts(self)

    @property
    def measured(self) -> tuple[Array, Array, Array] | None:
        """Time (N,), measured and model torque (N, n) of the kept signals, or None."""
        if self.signals is None:
            return None
        processed = self.signals.processed
        return processed.time, processed.torque, self.signals.predicted


@dataclass(frozen=True)
class IdentifiedModel(ResultMethods):
    """A model with identified values: all that feed-forward and collision monitoring need.

    :param values: parameter values, shape (p,), SI, in the order of `model.parameters`
    :param stddevs: shape (p,); NaN: not identifiable on its own
    :param payload: on top of the values, if the result has one
    :param facts: the block `identification` of the file: how the values were found
    :param residual: torque that the gear deflection explains, for robots with double encoders
    :param given_verdict: of the file; None: it has none, see `verdict`
    """

    model: DynamicModel
    values: Array
    stddevs: Array
    hash: str
    source: str = 'result'
    payload: Payload | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    residual: GearTorqueLaw | None = None
    given_verdict: Verdict | None = None

    @property
    def verdict(self) -> Verdict:
        """Verdict per joint and purpose."""
        return self.given_verdict or make_unknown_verdict(self.joints)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, in the order of the torque columns."""
        return self.model.joint_names

    @property
    def loaded_hash(self) -> str:
        """Fingerprint of the model with the payload of the result: `hash` without a payload."""
        if self.payload is None:
            return self.hash
        names = [item.name for item in self.payload.model.parameters]
        return fingerprint(self.hash, names, self.payload.values)

    @property
    def carried(self) -> Payload | None:
        """The payload of the result, if it has one."""
        return self.payload

    @property
    def gain_uncertainty(self) -> float:
        """Standard deviation of the torque gain, as a share.

        It is the share of torque that the model leaves unexplained, on the validation recording if
        there was one: no gain is known better than that.
        """
        left = [
            self.facts.get(key) for key in ('validation_relative_residual', 'relative_residual')
        ]
        known = [
            float(value) for value in left if isinstance(value, (int, float)) and isfinite(value)
        ]
        return known[0] if known else 0.0

    def refuse_payload(self) -> None:
        """Refuse a base result that has a payload itself.

        :raises IdentificationError: it has one
        """
        if self.payload is not None:
            given = self.facts.get('base_result')
            raise IdentificationError(
                f'the base result {self.source} has a payload itself, and the sum of both loads '
                f'would be identified: name the result of the robot without payload'
                f'{f" ({given})" if given else ""}'
            )

    @property
    def measured(self) -> None:
        """None: a result file holds no signals."""
        return None
