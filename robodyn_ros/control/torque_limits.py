# SPDX-License-Identifier: Apache-2.0
"""TorqueMax: limit of the torque of planned motions.

softMC document, section "softMC torque related properties". `torque_threshold` limits the torque
during a motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn_ros.control.checks import per_joint
from robodyn_ros.control.effort.joint_effort import EffortConversion
from robodyn_ros.control.feedforward.torque_plan import TorquePlan
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ConfigError, ControlError
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.long_work import Steps
from robodyn_ros.models.friction_terms import FRICTION_PARAMETERS
from robodyn_ros.models.interface import Array, DynamicModel, Joint, sample_blocks
from robodyn_ros.models.springs import SPRING_PARAMETERS

FROM_DRIVE = {
    'rated': ('rated_current', 'constant'),
    'peak': ('rated_current', 'peak_current', 'constant'),
}
"""Limits by drive facts: MICONT and MIPEAK at the joint; a rated torque replaces MICONT."""


@dataclass(frozen=True)
class PeakTorque:
    """Largest absolute torque of each joint in a motion, and its time.

    :param torque: shape (n,), in [Nm] or [N]
    :param time: shape (n,), in [s]
    """

    joints: tuple[str, ...]
    torque: Array
    time: Array


@dataclass(frozen=True)
class PlannedTorque:
    """torque_max: the largest torque that a trajectory may need.

    :param torque: complete model torque, with gravity
    :param limit: shape (n,), in [Nm] or [N]
    """

    torque: ModelTorque
    limit: Array
    joints: Sequence[Joint]

    def check(self, plan: TorquePlan) -> Steps[None]:
        """Refuse a plan, in steps.

        :raises ControlError: naming joint, time and torque
        """
        units = [joint.torque_unit for joint in self.joints]
        for block in sample_blocks(len(plan.time)):
            motion = (plan.position[block], plan.velocity[block], plan.acceleration[block])
            peak = peak_of(self.torque.joints, plan.time[block], self.torque.complete(*motion))
            check_planned(peak, self.limit, units)
            yield


def torque_limit(
    name: str, given: Any, joints: Sequence[str], conversion: EffortConversion | None = None
) -> Array | None:
    """Convert a parameter to a limit, shape (n,), in [Nm] or [N]; None: it is not given.

    :param given: None, one number or one per joint; or `rated` or `peak`: the torque at the joint
        by the drive's rated torque, or its rated or peak current
    :param conversion: with the drive facts, for `rated` and `peak`
    :raises ConfigError: an invalid word or number, too many or few, or a missing fact
    """
    if given is None:
        return None
    if isinstance(given, str):
        return _from_drive(name, given, joints, conversion)
    values = [given] if isinstance(given, (int, float)) else list(given)
    if any(isinstance(value, (bool, str)) for value in values):
        raise ConfigError(f'{name} must be numbers in Nm or N, got {given}')
    try:
        return per_joint(name, values[0] if len(values) == 1 else values, joints)
    except ControlError as error:
        raise ConfigError(str(error)) from error


def _from_drive(
    name: str, word: str, joints: Sequence[str], conversion: EffortConversion | None
) -> Array:
    if word not in FROM_DRIVE:
        raise ConfigError(
            f'{name} must be torques in Nm or N, or one of {", ".join(FROM_DRIVE)}, got {word!r}'
        )
    if conversion is None:
        raise ConfigError(f'{name}: {word} needs the drive facts: declare effort.*')
    drives = conversion.drives
    known = (drives.rated_torque > 0.0) & (word == 'rated')
    for fact in FROM_DRIVE[word]:
        missing = ~(known | (getattr(drives, fact) > 0.0))
        if missing.any():
            joint = joints[int(missing.argmax())]
            wanted = 'torque_constant or effort.force_constant' if fact == 'constant' else fact
            other = ', or its effort.rated_torque' if word == 'rated' else ''
            raise ConfigError(f'{name}: {word} needs effort.{wanted} of joint {joint!r}{other}')
    return drives.continuous_torque() if word == 'rated' else drives.peak()


def prior_torque(model: DynamicModel) -> tuple[ModelTorque, list[str]]:
    """Make the torque of a model from its a-priori values, without friction and springs.

    :return: the torque, and the names of the parameters that are set to zero
    :raises ConfigError: a parameter of the robot's bodies has no value
    """
    values = model.prior()
    unknown = [model.parameters[index].name for index in np.flatnonzero(np.isnan(values))]
    left_out = FRICTION_PARAMETERS | SPRING_PARAMETERS
    other = [name for name in unknown if name.rsplit('.', 1)[-1] not in left_out]
    if other:
        raise ConfigError(
            f'torque_max needs a model with values, and {other[0]} has none: give the parameter '
            f'result_file'
        )
    return ModelTorque(model, np.nan_to_num(values)), unknown


def peak_torque(
    torque: ModelTorque, trajectory: Trajectory, *, spacing: float = 0.002
) -> PeakTorque:
    """Compute the largest model torque of a trajectory on a fine grid, block by block.

    :param trajectory: moves at least the joints of the model, in any order
    :param spacing: of the grid, in [s]
    :raises ControlError: a joint of the model does not move, or the torque is not finite
    """
    for joint in torque.joints:
        if joint not in trajectory.joints:
            raise ControlError(f'the motion has no joint {joint!r}, which the model has')
    columns = [trajectory.joints.index(joint) for joint in torque.joints]
    count = max(2, int(np.ceil(trajectory.duration / spacing)) + 1)
    time = np.linspace(0.0, trajectory.duration, count)
    best = PeakTorque(torque.joints, np.zeros(len(columns)), np.zeros(len(columns)))
    for block in sample_blocks(count):
        motion = trajectory.sample(time[block])
        signals = (motion.position, motion.velocity, motion.acceleration)
        values = torque.torque(*(signal[:, columns] for signal in signals))
        if not np.isfinite(values).all():
            raise ControlError('the model torque of the motion is not finite')
        peak = peak_of(torque.joints, motion.time, values)
        larger = peak.torque > best.torque
        best.torque[larger], best.time[larger] = peak.torque[larger], peak.time[larger]
    return best


def peak_of(joints: Sequence[str], time: Array, torque: Array) -> PeakTorque:
    """Find the largest absolute torque in samples.

    :param time: shape (N,), in [s]
    :param torque: shape (N, n), in [Nm] or [N]
    """
    rows = np.abs(torque).argmax(axis=0)
    return PeakTorque(tuple(joints), np.abs(torque[rows, np.arange(len(rows))]), time[rows])


def check_planned(peak: PeakTorque, limit: Array, units: Sequence[str] = ()) -> None:
    """Refuse a motion that needs more than torque_max, naming the joint with the largest excess.

    NaN counts as an excess.

    :param limit: shape (n,), in [Nm] or [N], in the order of the joints of `peak`
    :raises ControlError: naming joint, time, torque and limit
    """
    joint = int(np.argmax(peak.torque / limit))
    if not peak.torque[joint] <= limit[joint]:
        unit = units[joint] if units else 'Nm or N'
        raise ControlError(
            f'the motion needs {peak.torque[joint]:.4g} {unit} of joint {peak.joints[joint]!r} '
            f'at {peak.time[joint]:.3f} s, torque_max is {limit[joint]:.4g}',
            fault='torque_max',
        )
