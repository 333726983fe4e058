# SPDX-License-Identifier: Apache-2.0
"""Check of estimated factors: the mass of another known load, from its recording."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robodyn_ros.analysis.gains.estimate import NORMAL, Gains, signal_model
from robodyn_ros.analysis.gains.runs import carry, condense_runs
from robodyn_ros.analysis.gains.signal_fit import fit_signals
from robodyn_ros.analysis.gains.signal_model import SignalModel, of_joints
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.physical.semidefinite import weigh_rows
from robodyn_ros.models.interface import Array, Indices
from robodyn_ros.models.payload import Payload
from robodyn_ros.recording.recording import Recording


@dataclass(frozen=True)
class KnownLoad:
    """Mass of a load by the factors, against the weighed one.

    :param mass, stddev: in [kg]
    :param given: weighed mass, in [kg]
    """

    mass: float
    stddev: float
    given: float

    @property
    def half_width(self) -> float:
        """Half of the interval of 95 %, in [kg]."""
        return NORMAL * self.stddev

    @property
    def agrees(self) -> bool:
        """True if the weighed mass is inside the interval of 95 %."""
        return abs(self.mass - self.given) <= self.half_width


def check_load(
    gains: Gains, recording: Recording, payload: Payload, *, center_known: bool
) -> KnownLoad:
    """Estimate the load of another recording from the joints whose factors are determined.

    Its inertia is estimated too, and its centre of mass if it is not known. The interval includes
    the uncertainty of the factors and of the arm, and that each factor is another one in each run
    (temperature, speed): at 95 % by at most the share of its signal that the model does not
    explain, as a larger change would be seen.

    :param payload: with its weighed mass
    :raises IdentificationError: these joints do not determine the mass
    """
    task = replace(gains.task, recordings=(recording,))
    arm = gains.fit.values[gains.model.arm]
    carried = carry(gains.base, gains.model.rigid, payload.added)
    base, (run,) = condense_runs(task, [arm + carried])
    model = signal_model(task.model, base, payload, center_known=center_known, loaded=(True,))
    run = of_joints(run, [k for k, each in enumerate(gains.joints) if each.determined])
    known = np.arange(model.load.start)  # factors and arm, in the same places as in the fit
    values = np.zeros(model.size)
    values[known] = gains.fit.values[known]
    free = np.arange(model.load.start, model.size)
    fit = fit_signals(model, [run], values, free)
    passed = _propagate(model, run, fit.values, free, fit.sigma[0])
    uncertain = np.nan_to_num(gains.fit.covariance[np.ix_(known, known)])
    factors = model.signal_per_torque
    changes = _relative_residual(run, fit.sigma[0]) * values[factors] / NORMAL
    uncertain[factors, factors] += np.diag(changes**2)
    variance = (fit.covariance[np.ix_(free, free)] + passed @ uncertain @ passed.T)[0, 0]
    if not np.isfinite(variance):
        raise IdentificationError(
            f'{recording.source}: the joints with a factor do not determine the mass of the load'
        )
    share, mass = float(fit.values[free[0]]), payload.mass
    return KnownLoad(share * mass, float(np.sqrt(variance)) * mass, mass)


def _relative_residual(run: Condensed, sigma: Array) -> Array:
    """Return residual over RMS signal of each joint (n,); 0 without samples."""
    lengths = np.array([np.linalg.norm(each.triangle[:, -1]) for each in run.factors])
    counts = np.array([each.samples for each in run.factors])
    return np.asarray(np.where(counts, sigma * np.sqrt(counts) / np.maximum(lengths, 1e-300), 0.0))


def _propagate(
    model: SignalModel, run: Condensed, values: Array, free: Indices, sigma: Array
) -> Array:
    """Return the change of the free values by a change of factors and arm, shape (k, f + r)."""
    every = np.arange(model.size)
    rows, _ = weigh_rows(model.linearise(0, run, values, every), model.size, sigma)
    result = np.linalg.lstsq(rows[:, free], rows[:, : model.load.start], rcond=1e-9)[0]
    return np.asarray(-result, dtype=np.float64)
