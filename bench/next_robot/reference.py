"""References for an identification: an expert with hindsight, and plain weighted least squares.

Both use numpy and the model's regressor only, so that they stay the same when the package changes.

The expert mends the flaw of the recording (shifts late torque, leaves out repeated samples and
drives that are off), tries every cut-off frequency of CUTOFFS, friction law of LAWS and weight of
PRIORS, and takes the combination that is best *on the truth*: nobody can do better in that grid.
Samples near standstill (below 2 % of a joint's largest velocity) are left out. Samples are
condensed once for each cut-off: one matrix of products per joint, with the columns of all laws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import signal

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
"""Columns of `friction_columns` in each law."""
PRIORS = (1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""Weight of the squared relative change of each link, against the mean squared residual in units
of its variance; 1e-9 only decides what the recording does not excite."""
PLAIN_CUTOFF = 10.0
"""Cut-off of plain weighted least squares, at most 0.2 times the sampling rate, in [Hz]."""


def friction_columns(velocity: Array, load: Array) -> Array:
    """Return sign, velocity, 1, Stribeck, root, |velocity| and load of one joint, (N, 7)."""
    sign, speed = np.tanh(velocity / 0.005), np.abs(velocity)
    stribeck = sign * np.exp(-((velocity / 0.05) ** 2))
    columns = [sign, velocity, np.ones_like(velocity), stribeck]
    return np.stack([*columns, sign * np.cbrt(speed), speed, sign * np.abs(load)], axis=1)


def filtered(signals: Arrays, cutoff: float) -> tuple[tuple[Array, Array, Array], Array] | None:
    """Return motion and torque below a frequency, 8 samples per its period; None: too short."""
    rate = 1.0 / float(np.median(np.diff(signals['time'])))
    time = np.arange(signals['time'][0], signals['time'][-1], 1.0 / rate)
    margin = round(rate / cutoff)
    if cutoff > 0.4 * rate or len(time) < 4 * margin + 40:
        return None
    b, a = signal.butter(4, cutoff, fs=rate)
    smooth = []
    for name in ('position', 'torque'):
        columns = [np.interp(time, signals['time'], each) for each in signals[name].T]
        smooth.append(signal.filtfilt(b, a, np.stack(columns, axis=1), axis=0))
    velocity = np.gradient(smooth[0], 1.0 / rate, axis=0)
    acceleration = np.gradient(velocity, 1.0 / rate, axis=0)
    rows = slice(margin, -margin, max(1, int(rate / (8.0 * cutoff))))
    return (smooth[0][rows], velocity[rows], acceleration[rows]), smooth[1][rows]


def products(
    body: DynamicModel, motion: tuple[Array, Array, Array], torque: Array, share: float
) -> Array:
    """Return [Y | F | tau]^T [Y | F | tau] / N of each joint, shape (n, p + 8, p + 8).

    :param share: of a joint's largest velocity, below which its samples are left out
    """
    regressor = body.regressor(*motion)
    load = regressor @ np.nan_to_num(body.prior())
    found = []
    for joint in range(torque.shape[1]):
        velocity = motion[1][:, joint]
        used = np.abs(velocity) >= share * np.abs(velocity).max()
        friction = friction_columns(velocity[used], load[used, joint])
        rows = np.hstack([regressor[used, joint], friction, torque[used, joint, None]])
        found.append(rows.T @ rows / len(rows))
    return np.array(found)


@dataclass(frozen=True)
class Columns:
    """Columns of the parameters of a body and of a friction law per joint."""

    inertial: int
    joints: int
    law: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of parameters."""
        return self.inertial + self.joints * len(self.law)

    def blocks(self, fit: Array, joint: int) -> tuple[Array, Array, float, Array]:
        """Return Y^T Y, Y^T tau, tau^T tau of a joint, and which parameters these are of."""
        rows = np.array([*range(self.inertial), *(self.inertial + k for k in self.law)])
        first = self.inertial + joint * len(self.law)
        own = np.array([*range(self.inertial), *range(first, first + len(self.law))])
        block = fit[joint]
        return block[np.ix_(rows, rows)], block[rows, -1], float(block[-1, -1]), own

    def normal(self, fit: Array, sigma: Array) -> tuple[Array, Array]:
        """Return matrix and right side of the normal equations, joints weighted by 1 / sigma^2."""
        matrix, target = np.zeros((self.count, self.count)), np.zeros(self.count)
        for joint in range(self.joints):
            square, side, _, own = self.blocks(fit, joint)
            matrix[np.ix_(own, own)] += square / sigma[joint] ** 2
            target[own] += side / sigma[joint] ** 2
        return matrix, target

    def rms(self, fit: Array, values: Array) -> Array:
        """Return the RMS torque error of each joint, shape (n,)."""
        errors = np.zeros(self.joints)
        for joint in range(self.joints):
            square, side, total, own = self.blocks(fit, joint)
            mine = values[own]
            errors[joint] = np.sqrt(max(mine @ square @ mine - 2.0 * mine @ side + total, 0.0))
        return errors


def expert(
    body: DynamicModel, signals: Arrays, truth: Array, joints: Array, size: Array
) -> tuple[float, str]:
    """Return the smallest relative error on the truth, and the choices that led to it.

    :param truth: `products` of the other motion
    :param joints: numbers of the joints that move
    :param size: what errors are relative to, shape (n,)
    """
    best = (np.inf, 'too short')
    for cutoff in CUTOFFS:
        usable = filtered(signals, cutoff)
        if usable is None:
            continue
        fit = products(body, *usable, 0.02)[joints]
        sigma = _noise(Columns(len(body.parameters), len(joints), LAWS['all']), fit)
        for law, numbers in LAWS.items():
            columns = Columns(len(body.parameters), len(joints), numbers)
            matrix, target = columns.normal(fit, sigma)
            for weight in PRIORS:
                values = _regularised(body, matrix, target, weight)
                error = columns.rms(truth[joints], values) / size[joints]
                found = float(np.sqrt(np.mean(error**2)))
                best = min(best, (found, f'{cutoff:g} Hz, {law}, prior {weight:g}'))
    return best


def _noise(columns: Columns, fit: Array) -> Array:
    """Return the RMS residual of each joint by itself, shape (n,)."""
    found = np.zeros(columns.joints)
    for joint in range(columns.joints):
        square, side, total, _ = columns.blocks(fit, joint)
        left = total - side @ np.linalg.pinv(square, 1e-10, hermitian=True) @ side
        found[joint] = np.sqrt(max(left, 1e-8 * total, 1e-12))
    return found


def _regularised(body: DynamicModel, matrix: Array, target: Array, weight: float) -> Array:
    """Return the values that fit best while the links stay near the prior, shape (k,)."""
    prior, units = parameter_scale(body)
    start = np.concatenate([prior, np.zeros(len(target) - len(prior))])
    scale = np.concatenate([units, np.ones(len(target) - len(prior))])
    scaled = matrix * scale[:, None] * scale
    # What has no prior (rotors, friction) has the weight of rounding errors only.
    ridge = np.where(np.arange(len(target)) < len(prior), weight, 0.0)
    ridge = np.where(scale < _ROTOR, ridge, 0.0) + 1e-12 * np.maximum(np.diag(scaled), 1.0)
    change = np.linalg.solve(scaled + np.diag(ridge), (target - matrix @ start) * scale)
    return np.asarray(start + scale * change)


_ROTOR = 1e3
"""Scale of parameters without a prior."""


def parameter_scale(body: DynamicModel) -> tuple[Array, Array]:
    """Return prior and natural size of each parameter (p,): the link's mass times (0.2 m)^k."""
    prior = np.nan_to_num(body.prior())
    index = {item.name: number for number, item in enumerate(body.parameters)}
    scale = np.full(len(prior), _ROTOR)
    for name, number in index.items():
        link, _, suffix = name.rpartition('.')
        if suffix != 'rotor_inertia':
            power = {'m': 0, 'mx': 1, 'my': 1, 'mz': 1}.get(suffix, 2)
            scale[number] = prior[index[f'{link}.m']] * 0.2**power
    return prior, scale


def plain_wls(body: DynamicModel, signals: Arrays, truth: Array) -> Array:
    """Return the RMS errors (n,) of what 20 lines do: 10 Hz low pass, Coulomb and viscous, WLS."""
    rate = 1.0 / float(np.median(np.diff(signals['time'])))
    usable = filtered(signals, min(PLAIN_CUTOFF, 0.2 * rate))
    if usable is None:
        return np.full(len(truth), np.nan)
    fit = products(body, *usable, 0.0)
    columns, sigma = Columns(len(body.parameters), len(truth), LAWS['linear']), np.ones(len(truth))
    for _ in range(3):  # with the weights of the residuals before
        matrix, target = columns.normal(fit, sigma)
        length = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        inverse = np.linalg.pinv(matrix / length[:, None] / length, 1e-9, hermitian=True)
        values = inverse @ (target / length) / length
        sigma = np.maximum(columns.rms(fit, values), 1e-9)
    return columns.rms(truth, values)
