# SPDX-License-Identifier: Apache-2.0
"""Optimisation problem of a motion: objective, decision variables and finished motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from robodyn_ros.errors import ModelError, MotionError
from robodyn_ros.excitation.collisions.check import Coverage
from robodyn_ros.excitation.cycles import CyclesRule, count_cycles
from robodyn_ros.excitation.design.candidate import Candidate
from robodyn_ros.excitation.design.criteria import Criterion, Options, random_states
from robodyn_ros.excitation.design.descent import Descent, StopError, descend
from robodyn_ros.excitation.design.family import (
    FourierFamily,
    MotionFamily,
    Sampled,
    SineSumFamily,
)
from robodyn_ros.excitation.design.rest_position import rest_position
from robodyn_ros.excitation.design.waypoints import WaypointFamily
from robodyn_ros.excitation.limits.bounds import (
    Bounds,
    ConservativeBounds,
    GridBounds,
    Margins,
    Room,
    scale_within,
)
from robodyn_ros.excitation.limits.constraints import (
    Excess,
    ModelRule,
    PathLimit,
    Rule,
    check_rest,
    first_broken,
)
from robodyn_ros.excitation.limits.joint_limits import CHECK_PERIOD, JointLimits
from robodyn_ros.excitation.motions.joint_moves import RISE
from robodyn_ros.excitation.trajectory import Array, Trajectory
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.sensitivity import has_exact_gradient

MotionKind = Literal['fourier', 'sines', 'waypoints']
MOTIONS: tuple[str, ...] = get_args(MotionKind)
SAMPLES = 200
"""Default number of samples for the criterion: 20 in a period of the tenth harmonic."""
_SHRINK = 0.7
"""Factor of the steps by which the motion of a joint is scaled down until rules are kept."""
_LEAST = 1.0 / 256.0
"""Smallest scale of the motion of a joint, and its first reduction on the fine grid."""
_HOPELESS = float(np.finfo(float).maxexp)
"""Value of the objective where the criterion is not defined: above the log10 of any number."""
_BLOCK_EFFORT, _DIFFERENCES_EFFORT, _RULE_EFFORT, _LEAST_EFFORT = 4.0, 10.0, 1.0, 0.3


@dataclass(frozen=True)
class Design:
    """Requirements of a motion.

    :param limits: of the model's joints; velocity and acceleration must be finite
    :param motion: 'fourier', 'sines' (sums of sines with free frequencies) or 'waypoints'
    :param duration: in [s]
    :param harmonics: of the series, sines in a sum, or half the number of via-points
    :param position: at both ends, (n,) in [rad] or [m]; None: the middle of the free ranges, see
        `rest_position`
    :param fly_by: of the via-points, see `JointMoves`; 0: a stop at each of them
    :param rise: of their moves' ramps, likewise; 0: trapezoids of speed
    :param conservative: keep Eq. 17 of the double-encoder document instead of the limits alone
    :param cycles: smallest number of cycles of each joint, if a motion of this kind has so many
    :param coverage: the collision rules, and what they do not check
    """

    model: DynamicModel
    limits: JointLimits
    criterion: Options = field(default_factory=Options)
    motion: MotionKind = 'fourier'
    duration: float = 20.0
    harmonics: int = 5
    position: Sequence[float] | None = None
    samples: int = SAMPLES
    margins: Margins = field(default_factory=Margins)
    fly_by: float = 1.0
    rise: float = RISE
    conservative: bool = False
    rules: tuple[PathLimit, ...] = ()
    cycles: float = 0.0
    coverage: Coverage = field(default_factory=Coverage, compare=False)


@dataclass(frozen=True)
class Smoothing:
    """Smoothing of the problem: samples, see `log_condition` and `GridBounds.gauge`."""

    samples: int
    sharpness: float
    hardness: float
    penalty: float = 1.0


CLOSE = Smoothing(samples=SAMPLES, sharpness=np.inf, hardness=600.0, penalty=300.0)
"""The last stage, with almost no smoothing."""


class DesignProblem:
    """A prepared design: minimise `objective`, then call `finish`."""

    def __init__(self, design: Design) -> None:
        """Prepare a design.

        :raises MotionError: the design is not possible; the message names the limit
        """
        names = design.model.joint_names
        self.limits = design.margins.narrow(design.limits.select(names))
        self.rules: tuple[Rule, ...] = (
            ModelRule(design.model),
            *(limit.rule(design.model) for limit in design.rules),
        )
        rules = self.rules if design.rules else ()
        self.position = rest_position(self.limits, design.position, rules)
        self.design = replace(design, position=tuple(self.position))  # workers need not choose
        room = Room.around(self.position, self.limits)
        self.family = _family(design, self.limits, self.position)
        self.bounds: Bounds = GridBounds(self.family, room)
        if design.conservative:
            if not isinstance(self.family, FourierFamily):
                raise MotionError('the conservative bounds (Eq. 17) are for Fourier motions only')
            self.bounds = ConservativeBounds(self.family, room)
        check_rest(self.rules, self.position)
        self._turning = CyclesRule(design.cycles, self.family.fastest())
        self.criterion = Criterion(design.model, design.criterion, reference=self._reference())
        self._check_samples()
        self._at: dict[int, Sampled] = {}

    def _reference(self) -> tuple[Array, Array, Array]:
        """Return random states within the limits; within the model's where these are disjoint."""
        limits, (lower, upper) = self.limits, self.design.model.position_limits().T
        spans = [np.where(np.isfinite(v), v, 1.0) for v in (limits.velocity, limits.acceleration)]
        q, qd, qdd = random_states(self.design.model, velocity=spans[0], acceleration=spans[1])
        low, high = np.maximum(lower, limits.lower), np.minimum(upper, limits.upper)
        inside = low + (q - lower) / (upper - lower) * (high - low)
        return np.where(low < high, inside, q), qd, qdd

    def _check_samples(self) -> None:
        rows = self.design.samples * len(self.family.joints)
        needed = len(self.criterion.columns)
        if rows < needed:
            raise MotionError(
                f'{self.design.samples} samples give {rows} equations for {needed} parameters: '
                f'at least {-(-needed // len(self.family.joints))} samples are needed'
            )

    def coarse_samples(self) -> int:
        """Return the number of samples for the first stages."""
        swings = self.family.fastest() * self.family.duration
        needed = 2 * len(self.criterion.columns) // len(self.family.joints)
        return min(self.design.samples, max(60, int(14 * swings), needed))

    def effort(self) -> float:
        """Estimate the time of an evaluation relative to an arm of six axes, by counts."""
        joints = len(self.family.joints)
        size = joints * (joints + 1) * self.coarse_samples() / (6 * 7 * 70)
        if self.design.criterion.blocks:
            size *= _BLOCK_EFFORT
        if not has_exact_gradient(self.design.model):
            size *= _DIFFERENCES_EFFORT
        return max(_LEAST_EFFORT, size) + _RULE_EFFORT * len(self.design.rules)

    def states(self, trajectory: Trajectory) -> tuple[Array, Array, Array]:
        """Return the states for the criterion."""
        motion = trajectory.sample(self._times(self.design.samples))
        return motion.position, motion.velocity, motion.acceleration

    def _times(self, samples: int) -> Array:
        return np.arange(samples, dtype=np.float64) * (self.family.duration / samples)

    def mend(self, x: Array, stop: Callable[[], bool]) -> Descent:
        """Move from x until the rules are kept, regardless of the criterion."""
        return self._descend(x, stop, 30, judged=False)

    def quicken(self, x: Array, stop: Callable[[], bool]) -> Descent:
        """Move from x until each joint completes enough cycles, then on to the best criterion."""
        return self._descend(x, stop, 100, turning=True)

    def _descend(
        self, x: Array, stop: Callable[[], bool], iterations: int, **options: bool
    ) -> Descent:
        stage = replace(CLOSE, samples=self.design.samples)

        def objective(x: Array) -> tuple[float, Array]:
            if stop():
                raise StopError
            return self.objective(x, stage, **options)

        return descend(objective, x, iterations=iterations)

    def objective(
        self, x: Array, stage: Smoothing, *, judged: bool = True, turning: bool = False
    ) -> tuple[float, Array]:
        """Return the smoothed criterion plus penalties of the motion of x, and the derivative.

        :param judged: False: the penalties alone
        :param turning: True: with the penalty of joints with too few cycles
        """
        sampled = self._prepare(stage.samples)
        deviation = sampled.deviation(x)
        gauge, pull = self.bounds.gauge(x, stage.hardness)
        states = self._states(deviation / gauge)
        try:
            value, by_state = 0.0, np.zeros((3, *states[0].shape))
            if judged:
                value, slopes = self.criterion.smooth(*states, stage.sharpness)
                by_state = np.array(slopes)
            for rule in (*self.rules, self._turning) if turning else self.rules:
                more, extra = rule.penalty(states)
                if more > 0.0:
                    value += stage.penalty * more
                    by_state += stage.penalty * np.array(extra)
        except ModelError:  # outside the workspace of a parallel robot
            return _HOPELESS, np.zeros(len(x))
        if not np.isfinite(value):
            return _HOPELESS, np.zeros(len(x))
        by_gauge = -(by_state * deviation).sum(axis=(0, 1)) / gauge**2
        return float(value), sampled.pull(x, by_state / gauge) + pull(by_gauge)

    def cost(self, x: Array, samples: int) -> float:
        """Return the criterion without smoothing, plus penalties, within the limits."""
        gauge, _ = self.bounds.gauge(x, CLOSE.hardness)
        states = self._states(self._prepare(samples).deviation(x) / gauge)
        try:
            value = self.criterion.value(*states)
            for rule in self.rules:
                value += CLOSE.penalty * rule.penalty(states)[0]
        except ModelError:
            return _HOPELESS
        return float(value) if np.isfinite(value) else _HOPELESS

    def _prepare(self, samples: int) -> Sampled:
        if samples not in self._at:
            self._at[samples] = self.family.prepare(self._times(samples))
        return self._at[samples]

    def _states(self, bounded: Array) -> tuple[Array, Array, Array]:
        return self.position + bounded[0], bounded[1], bounded[2]

    def finish(self, x: Array) -> Candidate:
        """Scale the motion of x so that it keeps every limit at all times, and evaluate it.

        :raises MotionError: even the smallest motion breaks a rule; the message names it
        """
        start = None
        if isinstance(self.bounds, ConservativeBounds):
            start = 1.0 / np.maximum(self.bounds.shares(x).max(axis=0), 1.0)
        scale = scale_within(self.family, x, self.limits, start)
        factors, sentence = self._factors(x, scale)
        if not factors.any():
            raise MotionError(f'even a very small motion breaks a limit: {sentence}')
        trajectory = self.family.motion(x, factors * scale)
        states = self.states(trajectory)
        value = self.criterion.value(*states)
        return Candidate(value, trajectory, float(factors.min()), sentence, self._slow(states[0]))

    def _slow(self, position: Array) -> str:
        """Return a sentence about the joint with the fewest cycles, if these are too few."""
        done = count_cycles(position)
        joint = int(np.argmin(done))
        if done[joint] >= self.design.cycles:
            return ''
        return (
            f'joint {self.family.joints[joint]} completes {done[joint]:.1f} cycles, expected are '
            f'{self.design.cycles:g}: more harmonics give more cycles'
        )

    def _factors(self, x: Array, scale: Array) -> tuple[Array, str]:
        """Return factors (n,) of the joints that keep every rule, and the active rule."""

        def violation(factors: Array, period: float) -> Excess:
            motion = self.family.motion(x, factors * scale).grid(period)
            return first_broken(self.rules, motion)

        factors, sentence = np.ones(len(self.family.joints)), ''
        for period in (0.1, 0.01):  # in [s]: a coarse grid shows most violations at low cost
            excess = violation(factors, period)
            sentence = sentence or excess.sentence
            while excess.size > 0.0 and factors.min() > _LEAST:
                factors, excess = _smaller(factors, excess, partial(violation, period=period))
        step = _LEAST
        while factors.max() > 0.0:
            excess = violation(factors, CHECK_PERIOD)
            if excess.size == 0.0:
                break
            sentence = sentence or excess.sentence
            factors, step = np.maximum(0.0, factors - step * factors), 2.0 * step
            if step > 1.0:
                return np.zeros_like(factors), sentence
        return factors, sentence


def _smaller(
    factors: Array, excess: Excess, broken: Callable[[Array], Excess]
) -> tuple[Array, Excess]:
    """Scale down the joint with the largest effect; all joints if no single one has an effect."""
    best, least = factors, excess
    for joint in range(len(factors)):
        trial = factors.copy()
        trial[joint] *= _SHRINK
        result = broken(trial)
        if result.size < least.size:
            best, least = trial, result
    if best is factors:
        best = _SHRINK * factors
        least = broken(best)
    return best, least


def _family(design: Design, limits: JointLimits, position: Array) -> MotionFamily:
    place: dict[str, Any] = {
        'joints': limits.joints,
        'position': position,
        'duration': design.duration,
    }
    count = design.harmonics
    if design.motion == 'fourier':
        return FourierFamily(harmonics=count, **place)
    if design.motion == 'waypoints':
        return WaypointFamily(points=2 * count, rise=design.rise, fly_by=design.fly_by, **place)
    if design.motion != 'sines':
        raise MotionError(f'there is no motion {design.motion!r} to optimise, there are {MOTIONS}')
    reach = np.minimum(limits.upper - position, position - limits.lower)
    # the document's bound on frequencies; without a limit it is 1
    figures = [np.where(np.isfinite(v), v, 1.0) for v in (limits.acceleration, reach)]
    highest = np.sqrt(figures[0] / figures[1]) / (2.0 * np.pi)
    return SineSumFamily(sines=count, highest=highest, **place)
