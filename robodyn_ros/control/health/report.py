# SPDX-License-Identifier: Apache-2.0
"""Report on the health of a model: cause, size, and one sentence with what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from robodyn_ros.control.health.explanation import Explanation
from robodyn_ros.control.health.hypotheses import Cause
from robodyn_ros.models.interface import Array
from robodyn_ros.models.payload import Payload, PayloadModel

UNKNOWN = np.full(3, np.nan)
"""Position [m] that is not known."""


@dataclass(frozen=True)
class HealthReport:
    """Explanation of the torque error, in numbers and in a sentence.

    :param cause: UNKNOWN until there was enough motion
    :param motion: evaluated time of motion, in [s]
    :param removed: share of the squared torque error that the cause explains, held out
    :param share: explained torque relative to the threshold of the worst joint
    :param mass: change of the payload's mass, in [kg]; NaN: another cause, or not known
    :param mass_interval: half of its 95 % interval, in [kg]
    :param center_of_mass: of the change, in the frame of the last link, shape (3,), in [m]
    :param center_of_mass_interval: half of its 95 % intervals, shape (3,), in [m]
    :param dry_friction: change relative to the model's, shape (n,); empty: another cause
    :param gain: change of the torque gain, shape (n,); empty: another cause
    """

    cause: Cause
    message: str
    motion: float = 0.0
    removed: float = 0.0
    share: float = 0.0
    joint: str = ''
    mass: float = float('nan')
    mass_interval: float = float('nan')
    center_of_mass: Array = field(default_factory=UNKNOWN.copy)
    center_of_mass_interval: Array = field(default_factory=UNKNOWN.copy)
    dry_friction: Array = field(default_factory=lambda: np.empty(0))
    gain: Array = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Reporter:
    """Writer of reports about explanations.

    :param friction_step: dry friction of the model, shape (n,), in [Nm] or [N]
    :param noise: noise of the torque error relative to its threshold
    :param relevant: smallest explained torque, relative to the threshold, that is reported
    :param gain_uncertainty: standard deviation of the torque gain, as a share
    :param payload: payload of this model; None: it has none
    """

    joints: Sequence[str]
    friction_step: Array
    noise: float
    relevant: float
    gain_uncertainty: float
    payload: PayloadModel | None

    def report(self, explanation: Explanation, motion: float) -> HealthReport:
        """Return the report of an explanation.

        :param motion: evaluated time of motion, in [s]
        """
        torque = self.noise * explanation.torque
        worst = int(np.argmax(torque))
        share, joint = float(torque[worst]), self.joints[worst]
        size = (motion, explanation.removed, share, joint)
        if explanation.cause == Cause.NONE or share < self.relevant:
            return HealthReport(Cause.NONE, _fit_text(explanation, share, joint), *size)
        if explanation.cause == Cause.PAYLOAD and self.payload is not None:
            return self._payload(self.payload, explanation, size)
        if explanation.cause == Cause.FRICTION:
            return self._friction(explanation, size)
        return self._gain(explanation, size)

    def _payload(
        self, model: PayloadModel, explanation: Explanation, size: tuple[float, float, float, str]
    ) -> HealthReport:
        payload = Payload(model=model, values=explanation.values, stddevs=explanation.spread)
        mass = payload.mass
        gain = self.gain_uncertainty * explanation.values
        spread = 2.0 * np.hypot(explanation.spread, gain)
        place, near = UNKNOWN, UNKNOWN
        if len(explanation.values) == 10 and abs(mass) > spread[0]:
            place, near = explanation.values[1:4] / mass, 2.0 * explanation.spread[1:4] / abs(mass)
        interval = float(spread[0]) if np.isfinite(mass) else float('nan')
        return HealthReport(
            Cause.PAYLOAD, _payload_text(mass, interval), *size, mass, interval, place, near
        )

    def _friction(
        self, explanation: Explanation, size: tuple[float, float, float, str]
    ) -> HealthReport:
        known = self.friction_step > 0.0
        change = np.full(len(known), np.nan)
        np.divide(explanation.values[::2], self.friction_step, out=change, where=known)
        _, _, share, joint = size
        ratio = change[list(self.joints).index(joint)]
        how = (
            'changed'
            if not np.isfinite(ratio)
            else f'is {abs(ratio):.0%} {"lower" if ratio < 0.0 else "higher"} than identified'
        )
        text = (
            f'friction of {joint} {how} and takes {share:.0%} of its threshold: identify again, '
            f'or include this temperature in the thresholds'
        )
        return HealthReport(Cause.FRICTION, text, *size, dry_friction=change)

    def _gain(
        self, explanation: Explanation, size: tuple[float, float, float, str]
    ) -> HealthReport:
        _, _, share, joint = size
        gain, offset = explanation.values[::2], explanation.values[1::2]
        number = list(self.joints).index(joint)
        text = (
            f'torque feedback of {joint} changed by {gain[number]:+.0%} and {offset[number]:+.3g} '
            f'(takes {share:.0%} of its threshold): check the drive, then identify again'
        )
        return HealthReport(Cause.GAIN, text, *size, gain=gain)


def _fit_text(explanation: Explanation, share: float, joint: str) -> str:
    if explanation.cause == Cause.NONE and share > 0.5:  # of the threshold, as root mean square
        return (
            f'nothing explains the torque error of {joint} ({share:.0%} of its threshold): a '
            f'contact, or a change during the last seconds'
        )
    return 'the model fits'


def _payload_text(mass: float, interval: float) -> str:
    if not abs(mass) > interval:  # NaN too
        return 'the load at the tool changed: give it with ~/set_payload, or identify the payload'
    what = 'attached' if mass > 0.0 else 'missing'
    return (
        f'payload {abs(mass):.2g} +- {interval:.1g} kg {what}? Give it with ~/set_payload, or '
        f'identify again'
    )
