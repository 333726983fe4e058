# SPDX-License-Identifier: Apache-2.0
"""Rules for a motion in addition to joint limits: torque, space, self-collision.

A rule computes the violation by a motion (`excess`, with a message) and a smooth penalty for the
optimiser (`penalty`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.errors import ModelError, MotionError
from robodyn_ros.excitation.limits.joint_limits import rise_between
from robodyn_ros.excitation.trajectory import Array, Motion
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.kinematics import kinematics_of
from robodyn_ros.models.sensitivity import STEP, state_gradient
from robodyn_ros.models.serial.chain import LinkTree
from robodyn_ros.models.serial.urdf import rigid_part

States = tuple[Array, Array, Array]
Points = Callable[[Array], Array]
"""Points (N, F, 3) in [m] of F frames at joint positions (N, n)."""

STEEP = 100.0
"""Factor of all penalties."""


@dataclass(frozen=True)
class Excess:
    """Violation of a limit, relative to the limit (0: satisfied), with a message."""

    size: float = 0.0
    sentence: str = ''


class Rule(ABC):
    """One rule."""

    @abstractmethod
    def excess(self, motion: Motion) -> Excess:
        """Return the violation by the samples of a motion."""

    def penalty(self, states: States) -> tuple[float, States]:
        """Return a smooth penalty of states (N, n), zero within the rule, and its derivatives."""
        shape = states[0].shape
        return 0.0, (np.zeros(shape), np.zeros(shape), np.zeros(shape))


class TorqueRule(Rule):
    """Limit of joint torques by a prior model: softMC's TorqueMax."""

    def __init__(self, model: DynamicModel, values: Array, limits: Array) -> None:
        """Store model, parameter values (p,) and largest torques (n,) in [Nm] or [N].

        :raises MotionError: an unknown value, or a limit that is not above zero
        """
        self._model, self._values = model, np.array(values, dtype=float)
        self._limits = np.array(limits, dtype=float)
        if not np.isfinite(self._values).all():
            name = model.parameters[int(np.argmin(np.isfinite(self._values)))].name
            raise MotionError(f'torque limits need a prior model: {name} has no value')
        if self._limits.shape != (len(model.joints),) or not (self._limits > 0.0).all():
            raise MotionError(
                f'torque limits must be {len(model.joints)} numbers above 0, got {limits}'
            )
        self._gradient = state_gradient(model)

    def excess(self, motion: Motion) -> Excess:
        """Compare the prior model's torque, including its rise between samples."""
        torque = self._model.torque(
            motion.position, motion.velocity, motion.acceleration, self._values
        )
        size = np.abs(torque) + rise_between(torque)
        share = size / self._limits
        row, joint = np.unravel_index(int(np.argmax(share)), share.shape)
        if share[row, joint] <= 1.0:
            return Excess()
        axis = self._model.joints[int(joint)]
        return Excess(
            float(share[row, joint] - 1.0),
            f'joint {axis.name!r} needs {size[row, joint]:.4g} {axis.torque_unit} at '
            f't = {motion.time[row]:.3f} s, the torque limit is '
            f'{self._limits[joint]:.4g} {axis.torque_unit}',
        )

    def penalty(self, states: States) -> tuple[float, States]:
        """Return the mean square of the excess over 98 % of the limits."""
        torque = self._model.torque(*states, self._values)
        over = np.maximum(np.abs(torque) / self._limits - 0.98, 0.0)
        if not over.any():
            return 0.0, super().penalty(states)[1]
        by_torque = 2.0 * STEEP / len(over) * over * np.sign(torque) / self._limits
        weights = by_torque[:, :, None] * self._values
        return float(STEEP / len(over) * (over**2).sum()), self._gradient(weights, *states)


class SpaceRule(Rule):
    """Limit of frames to a Cartesian box above the floor, in the robot's base frame."""

    def __init__(
        self, names: Sequence[str], points: Points, lower: Sequence[float], upper: Sequence[float]
    ) -> None:
        """Store names and positions of the frames, and the box.

        :param lower: x, y, z in [m]; -inf: no limit; z is the floor
        :param upper: x, y, z in [m]
        :raises MotionError: an empty box
        """
        self._names, self._points = tuple(names), points
        self._lower, self._upper = (np.array(side, dtype=float) for side in (lower, upper))
        shaped = self._lower.shape == self._upper.shape == (3,)
        if not shaped or not (self._lower < self._upper).all():
            raise MotionError(
                f'a box needs x, y, z of its lower corner below those of its upper one, got '
                f'{list(lower)} and {list(upper)}'
            )

    def excess(self, motion: Motion) -> Excess:
        """Compare the places of the frames, also between samples, with the box; sizes in [m]."""
        places = self._points(motion.position)
        rise = rise_between(places)
        over = np.maximum(self._lower - places, places - self._upper) + rise
        row, frame, axis = np.unravel_index(int(np.argmax(over)), over.shape)
        if over[row, frame, axis] <= 0.0:
            return Excess()
        low, high = self._lower[axis], self._upper[axis]
        return Excess(
            float(over[row, frame, axis]),
            f'frame {self._names[frame]!r} is at {"xyz"[axis]} = '
            f'{places[row, frame, axis]:.4g} m at t = {motion.time[row]:.3f} s, '
            f'allowed is {low:.4g} to {high:.4g} m',
        )

    def penalty(self, states: States) -> tuple[float, States]:
        """Return the mean square of the distances outside a box that is 5 mm smaller, in [m]."""
        position = states[0]
        places = self._points(position)
        over = np.maximum(places - self._upper + 5e-3, 0.0)
        over -= np.maximum(self._lower - places + 5e-3, 0.0)
        _, (by_q, by_qd, by_qdd) = super().penalty(states)
        if not over.any():
            return 0.0, (by_q, by_qd, by_qdd)
        factor = STEEP / len(over)
        for joint in range(position.shape[1]):
            moved = position.copy()
            moved[:, joint] += STEP
            change = (self._points(moved) - places) / STEP
            by_q[:, joint] = 2.0 * factor * (over * change).sum(axis=(1, 2))
        return float(factor * (over**2).sum()), (by_q, by_qd, by_qdd)


class PathLimit(ABC):
    """Plain description of a rule, from which the rule is made for a model."""

    @abstractmethod
    def rule(self, model: DynamicModel) -> Rule:
        """Make the rule.

        :raises MotionError: this model cannot keep it, or invalid values
        """


@dataclass(frozen=True)
class TorqueLimit(PathLimit):
    """Largest torques (n,) in [Nm] or [N], by a prior model (its description) and its values.

    Without description the prior model is that of the motion.
    """

    values: tuple[float, ...]
    limits: tuple[float, ...]
    description: Mapping[str, object] | None = None

    def rule(self, model: DynamicModel) -> Rule:
        """Make the rule."""
        prior = model if self.description is None else build_model(self.description)
        if prior.joint_names != model.joint_names:
            raise MotionError(
                f'the prior model has the joints {list(prior.joint_names)}, the motion '
                f'{list(model.joint_names)}'
            )
        return TorqueRule(prior, np.array(self.values), np.array(self.limits))


@dataclass(frozen=True)
class SpaceLimit(PathLimit):
    """A box, corners in [m] in the base frame, for frames: links of the URDF, or 'tool'."""

    frames: tuple[str, ...]
    lower: tuple[float, float, float] = (-np.inf, -np.inf, -np.inf)
    upper: tuple[float, float, float] = (np.inf, np.inf, np.inf)

    def rule(self, model: DynamicModel) -> Rule:
        """Make the rule."""
        points = frame_points(model, self.frames)
        return SpaceRule(self.frames, points, self.lower, self.upper)


def frame_points(model: DynamicModel, frames: Sequence[str]) -> Points:
    """Return the places of links of the model's URDF, or of the 'tool' of a SCARA or DELTA.

    :raises MotionError: no such frame, or no kinematics of such a model
    """
    body = rigid_part(model)
    try:
        if body is not None:
            chain = LinkTree(body)
            chain.places(np.zeros((1, len(model.joints))), frames)
            return lambda q: chain.places(q, frames)
        robot = kinematics_of(model)
    except ModelError as error:
        raise MotionError(f'a Cartesian limit cannot be kept: {error}') from error
    if tuple(frames) != ('tool',):
        raise MotionError(f"of this robot only the frame 'tool' is known, got {list(frames)}")
    return lambda q: robot.forward(q)[:, None, :3]


class ModelRule(Rule):
    """Rule that the model is defined along the motion: a parallel robot reaches all positions."""

    def __init__(self, model: DynamicModel) -> None:
        """Store the model."""
        self._model = model

    def excess(self, motion: Motion) -> Excess:
        """Evaluate the model every few samples."""
        rows = slice(None, None, max(1, len(motion.time) // 200))
        try:
            regressor = self._model.regressor(
                motion.position[rows], motion.velocity[rows], motion.acceleration[rows]
            )
        except ModelError as error:
            return Excess(1.0, f'the model is not defined there: {error}')
        if not np.isfinite(regressor).all():
            return Excess(1.0, 'the model is not defined there: its regressor is not finite')
        return Excess()


def first_broken(rules: Sequence[Rule], motion: Motion) -> Excess:
    """Return the excess of the first rule that a motion breaks, or zero."""
    for rule in rules:
        excess = rule.excess(motion)
        if excess.size > 0.0:
            return excess
    return Excess()


def check_rest(rules: Sequence[Rule], position: Array) -> None:
    """Refuse a position (n,) at which a rule is broken even at rest.

    :raises MotionError: naming the rule, and the option for another position
    """
    still = np.zeros((1, len(position)))
    excess = first_broken(rules, Motion(np.zeros(1), position[None], still, still))
    if excess.size > 0.0:
        raise MotionError(
            f'no motion is possible from {np.round(position, 3).tolist()}, even at rest a limit '
            f'is broken: {excess.sentence}; choose another start and end with --position '
            f'(optimise.position of the node), one value in rad or m for each joint'
        )
