# SPDX-License-Identifier: Apache-2.0
"""Factors without a load: their ratios from the coupling of the arm, their scale from the URDF."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from robodyn_ros.analysis.gains.estimate import Gains
from robodyn_ros.analysis.gains.runs import condense_runs, drive_options, find_rigid
from robodyn_ros.analysis.gains.signal_fit import SignalFit, fit_signals, search_values
from robodyn_ros.analysis.gains.signal_model import SignalModel, of_joints
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.semidefinite import has_usable_inertials
from robodyn_ros.identification.steps.preparation import Task
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording

POSES = 500
"""Most poses at which the gravity torque is compared: it changes slowly."""


def gains_from_masses(
    empty: Recording, model: DynamicModel, *, options: IdentifyOptions | None = None
) -> Gains:
    """Estimate the factors from one recording and the masses and inertias of the URDF.

    The gravity torque has, in the mean over the motion, the size that the URDF gives. A common
    error of all masses of the URDF is in all factors, and not in their intervals.

    :raises IdentificationError: the model cannot be used, or the URDF has no possible masses
    """
    if not has_usable_inertials(model):
        raise IdentificationError(
            'the URDF has no possible masses and inertias to take the scale from: record the '
            'motion again with a weighed load, and give it with --payload-mass'
        )
    task = Task((empty,), model, options or drive_options(empty))
    base, runs = condense_runs(task)
    rigid = find_rigid(model, base)
    signals = SignalModel(
        len(model.joints), rigid, np.zeros((int(rigid.sum()), 0)), np.zeros(0), (False,)
    )
    rotors = np.array([each.name.endswith('rotor_inertia') for each in model.parameters])
    values = np.where(rotors, 0.0, np.nan_to_num(model.prior()))
    prior = base.values(values)[rigid]
    with threadpool_limits(limits=1, user_api='blas'):
        fit = _fit(signals, runs[0], prior)
    lifted = _gravity_rows(model, base, runs[0])[:, rigid]
    return Gains.of(task, base, signals, _scale(signals, lifted, prior, fit))


def _fit(model: SignalModel, run: Condensed, prior: Array) -> SignalFit:
    """Return the fit with the factor of one joint fixed, that which feels the URDF's torque most.

    Each joint starts with the factor that its signal has on the torque of the URDF.
    """
    values = np.zeros(model.size)
    values[model.arm] = prior
    every = np.arange(model.size)
    friction = every[model.load.stop :]
    moving = [k for k in range(model.joints) if run.factors[k].samples]
    for joint in moving:
        free = np.append(joint, friction)
        values[joint] = search_values(model, [of_joints(run, [joint])], values, free)[joint]
    felt = np.zeros(model.joints)
    for joint in moving:
        felt[joint] = np.linalg.norm(_torque(run, joint, model.rigid) @ prior)
    fixed = int(np.argmax(felt))
    if not felt[fixed] > 0.0 or values[fixed] == 0.0:
        raise IdentificationError('no joint that moves feels the masses of the URDF')
    free = np.delete(every, fixed)
    return fit_signals(model, [run], values, free)


def _torque(run: Condensed, joint: int, rigid: NDArray[np.bool_]) -> Array:
    """Return the condensed rows of a joint's torque in the rigid base values, shape (m, r)."""
    factor = run.factors[joint]
    rows = np.zeros((len(factor.triangle), len(rigid)))
    rows[:, factor.columns] = factor.triangle[:, :-1]
    return rows[:, rigid]


def _gravity_rows(model: DynamicModel, base: BaseParameters, run: Condensed) -> Array:
    """Return rows of the gravity torque of moving joints in the base values, shape (m, b)."""
    poses = np.concatenate([part.position for part in run.sample.few().segments])
    poses = poses[:: -(-len(poses) // POSES)]
    still = np.zeros_like(poses)
    moving = [factor.samples > 0 for factor in run.factors]
    rows = model.regressor(poses, still, still)[:, moving][:, :, base.columns]
    return np.asarray(rows.reshape(-1, base.rank))


def _scale(model: SignalModel, lifted: Array, prior: Array, fit: SignalFit) -> SignalFit:
    """Return the fit times the common factor that gives the gravity torque its size.

    The gravity torque of the fit's arm p is projected onto that of the prior p0:
    a = p0.Q p / p0.Q p0 with Q = G^T G. Then c a and p / a replace c and p. Rotors are not in the
    URDF, and have no gravity torque.

    :param lifted: rows G of the gravity torque, shape (m, r)
    :raises IdentificationError: there is none
    """
    weights = lifted.T @ (lifted @ prior)
    total = float(weights @ prior)
    if not total > 0.0:
        raise IdentificationError(
            'no joint lifts its links, so that the masses of the URDF give no scale: record the '
            'motion again with a weighed load'
        )
    weights /= total
    arm, factors = fit.values[model.arm], fit.values[model.signal_per_torque]
    size = float(weights @ arm)
    change = np.eye(model.size)
    change[model.signal_per_torque, model.signal_per_torque] *= size
    change[model.signal_per_torque, model.arm] = np.outer(factors, weights)
    change[model.arm, model.arm] /= size
    change[model.arm, model.arm] -= np.outer(arm, weights) / size**2
    values = fit.values.copy()
    values[model.signal_per_torque] *= size
    values[model.arm] /= size
    unknown = np.isnan(np.diag(fit.covariance))
    covariance = change @ np.nan_to_num(fit.covariance) @ change.T
    covariance[unknown], covariance[:, unknown] = np.nan, np.nan
    return replace(fit, values=values, covariance=covariance)
