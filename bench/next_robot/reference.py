# SPDX-License-Identifier: Apache-2.0
"""References for an identification: an expert with hindsight, and plain weighted least squares.

Both use numpy and the model's regressor only, so that they stay the same when the package changes.

The expert mends the flaw of the recording: shifts late torque, leaves out repeated samples and
drives that are off, removes encoder noise at rest. Then it tries every cut-off frequency of
CUTOFFS, friction law of LAWS and weight of PRIORS, and takes the combination that is best *on the
truth*: no choice in that grid is better.
Friction goes through the same low pass as torque. Samples near standstill (below 2 % of a joint's
largest velocity) are left out. Samples are
condensed once for each cut-off: one matrix of products per joint, with the columns of all laws.
"""

from __future__ import annotations

import numpy as np

from next_robot.condensed import Columns, condensed
from next_robot.flaws import Arrays
from robodyn_ros.models.interface import Array, DynamicModel

CUTOFFS = (2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0)
"""Zero-phase Butterworth low pass of order 4, on positions and torques, in [Hz]."""
LAWS = {
    'none': (2,),
    'linear': (0, 1, 2),
    'stribeck': (0, 1, 2, 3),
    'root': (0, 1, 2, 4),
    'asymmetric': (0, 1, 2, 5),
    'load': (0, 1, 2, 6),
    'all': (0, 1, 2, 3, 4, 5, 6),
}
"""Columns of `condensed.friction_columns` in each law."""
PRIORS = (1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""Weight of the squared relative change of each link, against the mean squared residual in units
of its variance; 1e-9 only decides what the recording does not excite."""
PLAIN_CUTOFF = 10.0
"""Cut-off of plain weighted least squares, at most 0.2 times the sampling rate, in [Hz]."""


def expert(
    body: DynamicModel, signals: Arrays, truth: Array, joints: Array, size: Array
) -> tuple[float, str]:
    """Return the smallest relative error on the truth, and the choices that led to it.

    :param truth: `condensed.exact` of the other motion
    :param joints: numbers of the joints that move
    :param size: reference of relative errors, shape (n,)
    """
    best = (np.inf, 'too short')
    for cutoff in CUTOFFS:
        fit = condensed(body, signals, cutoff, share=0.02)
        if fit is None:
            continue
        fit = fit[joints]
        sigma = noise(Columns(len(body.parameters), len(joints), LAWS['all']), fit)
        for law, numbers in LAWS.items():
            columns = Columns(len(body.parameters), len(joints), numbers)
            matrix, target = columns.normal(fit, sigma)
            for weight in PRIORS:
                values = regularised(body, matrix, target, weight)
                error = columns.rms(truth[joints], values) / size[joints]
                found = float(np.sqrt(np.mean(error**2)))
                best = min(best, (found, f'{cutoff:g} Hz, {law}, prior {weight:g}'))
    return best


def noise(columns: Columns, fit: Array) -> Array:
    """Return the RMS residual of each joint by itself, shape (n,)."""
    found = np.zeros(columns.joints)
    for joint in range(columns.joints):
        square, side, total, _ = columns.blocks(fit, joint)
        left = total - side @ np.linalg.pinv(square, 1e-10, hermitian=True) @ side
        found[joint] = np.sqrt(max(left, 1e-8 * total, 1e-12))
    return found


def regularised(body: DynamicModel, matrix: Array, target: Array, weight: float) -> Array:
    """Return the values that fit best while the links stay near the prior, shape (k,)."""
    start, scale, ridge = np.zeros(len(target)), np.ones(len(target)), np.zeros(len(target))
    links, sizes = link_sizes(body)
    start[links], scale[links], ridge[links] = np.nan_to_num(body.prior())[links], sizes, weight
    scaled = matrix * scale[:, None] * scale
    # Rotors and friction have no prior: only rounding errors are regularised.
    ridge += 1e-12 * np.maximum(np.diag(scaled), 1.0)
    change = np.linalg.solve(scaled + np.diag(ridge), (target - matrix @ start) * scale)
    return np.asarray(start + scale * change)


def link_sizes(body: DynamicModel) -> tuple[Array, Array]:
    """Return the numbers of the links' parameters, and their sizes: mass times (0.2 m)^k."""
    prior, index = body.prior(), {item.name: k for k, item in enumerate(body.parameters)}
    links, sizes = [], []
    for name, number in index.items():
        link, _, suffix = name.rpartition('.')
        if suffix != 'rotor_inertia':
            power = {'m': 0, 'mx': 1, 'my': 1, 'mz': 1}.get(suffix, 2)
            links.append(number)
            sizes.append(prior[index[f'{link}.m']] * 0.2**power)
    return np.array(links), np.array(sizes)


def plain_wls(body: DynamicModel, signals: Arrays, truth: Array) -> Array:
    """Return the RMS errors (n,) of what 20 lines do: 10 Hz low pass, Coulomb and viscous, WLS."""
    rate = 1.0 / float(np.median(np.diff(signals['time'])))
    fit = condensed(body, signals, min(PLAIN_CUTOFF, 0.2 * rate), parallel=False)
    if fit is None:
        return np.full(len(truth), np.nan)
    columns, sigma = Columns(len(body.parameters), len(truth), LAWS['linear']), np.ones(len(truth))
    for _ in range(3):  # with the weights of the residuals before
        matrix, target = columns.normal(fit, sigma)
        length = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        inverse = np.linalg.pinv(matrix / length[:, None] / length, 1e-9, hermitian=True)
        values = inverse @ (target / length) / length
        sigma = np.maximum(columns.rms(fit, values), 1e-9)
    return columns.rms(truth, values)
