# SPDX-License-Identifier: Apache-2.0
"""Factor from each drive's signal to torque, from one motion without and with a known load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from robodyn_ros.analysis.gains.runs import (
    carry,
    condense_runs,
    drive_options,
    find_rigid,
    variants,
)
from robodyn_ros.analysis.gains.signal_fit import SignalFit, fit_signals, search_values
from robodyn_ros.analysis.gains.signal_model import SignalModel, of_joints
from robodyn_ros.errors import IdentificationError, RobodynError
from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.steps.preparation import Task
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel, Indices, Joint
from robodyn_ros.models.payload import Payload
from robodyn_ros.recording.recording import Recording

REACH = 0.1
"""Distance in [m] from the frame's origin that the centre of mass of a load is within at 68 %, if
it is not given; the square of it times the mass is that of its inertia."""

CLEAR = 5.0
"""Standard deviations from which on a joint's signal shows the load: chance reaches them in one of
a million joints, so that no joint starts with the wrong sign."""

CONTRADICTED = 3.0
"""Largest RMS residual of a signal, over that of the signal fitted alone: friction with load makes
up to 2, more is another arm or load than the model has."""

USUAL = 1.1
"""The same ratio by noise alone: a signal fitted alone takes a part of its noise. What is above it
widens the interval."""

DIFFERENT = 3.0
"""Standard deviations by which both halves of the recordings differ significantly."""

NORMAL = 1.96
"""Standard deviations on each side that 95 % of a normal distribution are within."""

NARROW = 0.1
"""Largest distance of the ends of a 95 % interval from the value, as a share of it, of a factor
that counts as determined: the interval is then at most 20 % wide."""


@dataclass(frozen=True)
class JointGain:
    """Factor of one joint.

    :param joint: the joint
    :param factor: torque per unit of the signal, in [Nm] or [N]; NaN: nothing is known
    :param low, high: ends of its 95 % interval; infinite or NaN: unbounded
    :param why: reason why it is not determined; empty: it is
    """

    joint: Joint
    factor: float
    low: float
    high: float
    why: str = ''

    @property
    def determined(self) -> bool:
        """True if the factor can be used."""
        return not self.why

    @classmethod
    def of(cls, joint: Joint, inverse: float, stddev: float) -> JointGain:
        """Make it from the signal per torque and its standard deviation."""
        if not np.isfinite(inverse) or inverse == 0.0:
            return cls(joint, np.nan, -np.inf, np.inf, 'no signal follows its motion')
        size = NORMAL * stddev
        if not size < abs(inverse):
            return cls(joint, 1.0 / inverse, -np.inf, np.inf, 'even the sign is not determined')
        low, high = sorted((1.0 / (inverse - size), 1.0 / (inverse + size)))
        why = '' if size <= NARROW * abs(inverse) else 'its interval is wider than 20 %'
        return cls(joint, 1.0 / inverse, low, high, why)


@dataclass(frozen=True)
class Gains:
    """Factors of all joints, and what they come from.

    :param joints: in the order of the model
    :param model, fit: unknowns of the signals and their estimate
    :param base: base parameters of the arm
    """

    joints: tuple[JointGain, ...]
    model: SignalModel
    fit: SignalFit
    base: BaseParameters
    task: Task

    @classmethod
    def of(cls, task: Task, base: BaseParameters, model: SignalModel, fit: SignalFit) -> Gains:
        """Make them from a fit."""
        worst = int(np.argmax(fit.misfit))
        stddevs = fit.stddevs[model.signal_per_torque] * np.maximum(fit.misfit / USUAL, 1.0)
        joints = tuple(
            JointGain.of(joint, float(fit.values[k]), float(stddevs[k]))
            for k, joint in enumerate(task.model.joints)
        )
        if fit.misfit[worst] > CONTRADICTED:
            why = (
                f'the signal of joint {task.model.joint_names[worst]} contradicts the others: '
                f'its residual is {fit.misfit[worst]:.1f} times that without them (limit '
                f'{CONTRADICTED:g}), so check mass and centre of the load, and the URDF'
            )
            joints = tuple(replace(each, why=why) for each in joints)
        return cls(joints, model, fit, base, task)

    @property
    def determined(self) -> tuple[JointGain, ...]:
        """Joints whose factor can be used."""
        return tuple(each for each in self.joints if each.determined)


def estimate_gains(
    empty: Recording,
    loaded: Recording,
    model: DynamicModel,
    payload: Payload,
    *,
    center_known: bool,
    options: IdentifyOptions | None = None,
) -> Gains:
    """Estimate the factors from two recordings, whose torque is the signal of the drives.

    The mass of the payload is known, and its centre of mass if `center_known`. What is not known
    of its ten values is estimated too, as are the parameters of the arm, and the friction of each
    run.

    :param empty, loaded: without and with the payload; the same motion is best
    :param model: of the arm, with friction
    :raises IdentificationError: the model cannot be used, or no joint feels the load
    """
    task = Task((empty, loaded), model, options or drive_options(empty))
    known, loads = center_known, (False, True)
    with threadpool_limits(limits=1, user_api='blas'):
        base, runs = condense_runs(task)
        signals = signal_model(model, base, payload, center_known=known, loaded=loads)
        first = _fit(signals, runs)
        # Friction grows with the torque, which is known now.
        arms = [signals.body(run, first.values) for run in (0, 1)]
        base, runs = condense_runs(task, arms)
        signals = signal_model(model, base, payload, center_known=known, loaded=loads)
        start, free = _unit_load(signals)
        places = slice(0, signals.load.stop)
        start[places] = first.values[places]
        fit = _with_halves(fit_signals(signals, runs, start, free), signals, task, arms)
        for other in variants(task):
            _, runs = condense_runs(other, arms)
            fit = _widen(
                fit, signals, fit_signals(signals, runs, fit.values, free).values - fit.values
            )
    return Gains.of(task, base, signals, fit)


def load_spread(mass: float, count: int) -> Array:
    """Return the usual size (count,) of a load's values besides its mass, which is infinite."""
    return np.array([np.inf, *(REACH * mass,) * 3, *(REACH**2 * mass,) * 6])[:count]


def signal_model(
    model: DynamicModel,
    base: BaseParameters,
    payload: Payload,
    *,
    center_known: bool,
    loaded: tuple[bool, ...],
) -> SignalModel:
    """Return the model; the first value of its load is the share of the known part."""
    rigid = find_rigid(model, base)
    mixing = carry(base, rigid, payload.model.matrix)
    first = 4 if center_known else 1
    spread = np.append(np.inf, load_spread(payload.mass, mixing.shape[1])[first:])
    mixing = np.column_stack([mixing @ payload.values, mixing[:, first:]])
    return SignalModel(len(model.joints), rigid, mixing, spread, loaded)


def _fit(model: SignalModel, runs: Sequence[Condensed]) -> SignalFit:
    """Return the fit of all joints, started from those whose signal alone shows the load."""
    alone = [_fit_alone(model, runs, joint) for joint in range(model.joints)]
    clear = [k for k, each in enumerate(alone) if each.sure] or [
        k for k, each in enumerate(alone) if each.clarity > CLEAR
    ]
    if not clear:
        raise IdentificationError(
            'no joint feels the load: the signals of both runs agree within their noise. Use a '
            'heavier load, or a motion in which it is lifted'
        )
    values, free = _unit_load(model)
    values[clear] = [alone[k].value for k in clear]
    linear, friction = free[free >= model.joints], free[free >= model.load.stop]
    values = search_values(model, _only(runs, clear), values, np.append(clear, linear))
    added = sorted(set(range(model.joints)) - set(clear), key=lambda k: -alone[k].clarity)
    for joint in added:  # each starts from what is known of the arm by then
        values = search_values(model, _only(runs, [joint]), values, np.append(joint, friction))
        here, usual = values[joint], float(np.median(np.abs(values[clear])))
        point = alone[joint].value or usual
        clear.append(joint)
        change = np.eye(model.size)[joint]
        starts = [values + (value - here) * change for value in (-here, point, -point)]
        free_now = np.append(clear, linear)
        values = search_values(model, _only(runs, clear), values, free_now, starts)
    return fit_signals(model, runs, values, free)


def _only(runs: Sequence[Condensed], joints: Sequence[int]) -> list[Condensed]:
    return [of_joints(run, joints) for run in runs]


def _with_halves(
    fit: SignalFit, model: SignalModel, task: Task, arms: Sequence[Array]
) -> SignalFit:
    """Add to the covariance what the two halves of the recordings differ by, where significant.

    Noise is in the covariance already. Where the halves differ by more, the signal has what the
    model lacks, such as a friction that changes, and half the difference is an error of the mean.
    """
    estimates = []
    _, free = _unit_load(model)
    for half in (0, 1):
        parts = []
        for each in task.recordings:
            middle = len(each) // 2
            parts.append(each.slice(slice(middle) if half == 0 else slice(middle, None)))
        try:
            _, runs = condense_runs(replace(task, recordings=tuple(parts)), arms)
            estimates.append(fit_signals(model, runs, fit.values, free))
        except RobodynError:  # a half is too short, or at rest
            return fit
    first, second = estimates
    places = model.signal_per_torque
    half_way = 0.5 * (first.values - second.values)[places]
    expected = 0.5 * np.hypot(first.stddevs, second.stddevs)[places]
    extra = np.where(np.abs(half_way) > DIFFERENT * expected, half_way**2, 0.0)
    return _widen(fit, model, np.sqrt(extra))


def _widen(fit: SignalFit, model: SignalModel, errors: Array) -> SignalFit:
    """Return the fit with further errors (n,) of the signals per torque in its covariance."""
    covariance, places = fit.covariance.copy(), model.signal_per_torque
    covariance[places, places] += np.diag(errors[places] ** 2)
    return replace(fit, covariance=covariance)


def _unit_load(model: SignalModel) -> tuple[Array, Indices]:
    """Return unknowns that are zero but for the known part of the load, and the free places."""
    values = np.zeros(model.size)
    values[model.load.start] = 1.0
    return values, np.flatnonzero(values == 0.0)


class _Alone(NamedTuple):
    """Signal per torque of one joint, from what a point as load adds to its signal.

    :param clarity: standard deviations that it differs from zero by
    :param sure: it does so too where centre of mass and inertia are free, and by a similar value
    """

    value: float = 0.0
    clarity: float = 0.0
    sure: bool = False


def _fit_alone(model: SignalModel, runs: Sequence[Condensed], joint: int) -> _Alone:
    """Fit one joint without the others: it has parameters of the arm for itself.

    The share of the known load is the factor over the assumed one: 1, then that of a point.
    """
    runs = _only(runs, [joint])
    if not all(run.factors[joint].samples for run in runs):
        return _Alone()
    values, _ = _unit_load(model)
    place, others = model.load.start, np.arange(model.load.stop, model.size)
    values[joint] = 1.0
    point = fit_signals(
        model, runs, values, np.concatenate([np.arange(model.joints, place + 1), others])
    )
    value = values[joint] = float(point.values[place])
    if value == 0.0 or not np.isfinite(point.stddevs[place]):
        return _Alone()
    body = fit_signals(model, runs, values, np.arange(model.joints, model.size))
    share = float(body.values[place])
    sure = share > CLEAR * body.stddevs[place] and 0.5 < share < 2.0
    return _Alone(value, abs(value) / float(point.stddevs[place]), bool(sure))
