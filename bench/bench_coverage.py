# SPDX-License-Identifier: Apache-2.0
"""Coverage of 95 % confidence intervals over simulated runs, per estimator and noise spectrum.

Each run is a recording of another motion with other noise, processed and fitted by the steps of
`identify`. The coverage is the share of true base parameters within 1.96 stated standard
deviations. Steps without effect on them (diagnosis, torque errors) are skipped, except for
regularised estimates ('default'): these are complete identifications, with a URDF whose
links have errors of up to 20 %.

Noise is 3 % of each joint's RMS torque, with the spectra below, independent between joints or
with a correlation of 0.8; 'robust' also gets pushes in 4 % of the samples. Derivatives are given
in every other run and computed from the positions in the others, with default low pass
and decimation. Exits non-zero if a case is not between 93 and 97 %; regularised ones may be above:
`python bench/bench_coverage.py [--runs 500] [--estimator wls] [--colour ar0.9] [--robot 2]`.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy import signal

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test/support/plants')]

from robots import random_urdf  # noqa: E402
from simulation import sines  # noqa: E402
from true_arm import truth  # noqa: E402

from robodyn_ros.identification.factors.condense import Condensed  # noqa: E402
from robodyn_ros.identification.factors.passes import condense_parts  # noqa: E402
from robodyn_ros.identification.fit.robust import Robust  # noqa: E402
from robodyn_ros.identification.fit.weighting import (  # noqa: E402
    fit_condensed,
    robust_weights,
)
from robodyn_ros.identification.options import IdentifyOptions  # noqa: E402
from robodyn_ros.identification.pipeline import identify  # noqa: E402
from robodyn_ros.identification.signals.segments import segments_of  # noqa: E402
from robodyn_ros.models.base_parameters import base_parameters  # noqa: E402
from robodyn_ros.models.catalog import robot_model  # noqa: E402
from robodyn_ros.models.interface import Array, DynamicModel  # noqa: E402
from robodyn_ros.recording.recording import Recording  # noqa: E402

SAMPLES, RATE, NOISE, TOGETHER = 3000, 100.0, 0.03, 0.8
SETTLING = 1000

ESTIMATORS = {
    'wls': IdentifyOptions(consistent='no'),
    'ols': IdentifyOptions(consistent='no', estimator='ols'),
    'covariance': IdentifyOptions(consistent='no', estimator='covariance'),
    'robust': IdentifyOptions(consistent='no', estimator='robust'),
    'huber': IdentifyOptions(consistent='no', estimator='robust', loss='huber'),
    'default': IdentifyOptions(),
}
DRAWN = ('default',)

COLOURS = {
    'white': ([1.0], [1.0]),
    'ar0.5': ([1.0], [1.0, -0.5]),
    'ar0.9': ([1.0], [1.0, -0.9]),
    'ar0.98': ([1.0], [1.0, -0.98]),
    'mean of 8': (np.ones(8), [1.0]),
    'resonance': ([1.0], [1.0, -2.0 * 0.97 * np.cos(2.0 * np.pi * 7.0 / RATE), 0.97**2]),
}
"""Filters of white noise, numerator and denominator."""


def noise(random: np.random.Generator, joints: int, colour: str, together: float) -> Array:
    """Return noise (N, n) of variance 1."""
    mixed = (1.0 - together) * np.eye(joints) + together
    white = random.normal(size=(SAMPLES + SETTLING, joints)) @ np.linalg.cholesky(mixed).T
    response = signal.lfilter(*COLOURS[colour], np.eye(1, 2000)[0])
    values = signal.lfilter(*COLOURS[colour], white, axis=0)[SETTLING:]
    return np.asarray(values / np.linalg.norm(response))


def recorded(
    model: DynamicModel, values: Array, estimator: str, colour: str, together: float, seed: int
) -> Recording:
    """Return a recording of a random motion."""
    random, joints = np.random.default_rng([9, seed]), len(model.joints)
    stamps, q, qd, qdd = sines(joints, SAMPLES, rate=RATE, seed=seed)
    torque = model.torque(q, qd, qdd, values)
    size = np.sqrt(np.mean(torque**2, axis=0))
    torque += NOISE * size * noise(random, joints, colour, together)
    if estimator in ('robust', 'huber'):
        for start in random.integers(0, SAMPLES - 60, 2):
            torque[start : start + 60] += 0.5 * size
    given = {'velocity': qd, 'acceleration': qdd} if seed % 2 else {}
    return Recording(
        time=stamps, joints=model.joint_names, position=q, torque=torque, source='run', **given
    )


def errors(
    model: DynamicModel, values: Array, estimator: str, colour: str, together: float, seed: int
) -> Array:
    """Return errors of base parameters, divided by stated standard deviations, shape (b,)."""
    recording = recorded(model, values, estimator, colour, together, seed)
    options, base = ESTIMATORS[estimator], base_parameters(model)
    if estimator in DRAWN:
        result = identify(recording, model, options=options)
        return np.asarray((result.base_values - base.values(values)) / result.base_stddevs)
    parts = segments_of(recording, model.joint_names, options)
    condensed = condense_parts(model, parts, base, options)

    def weigh(robust: Robust) -> Condensed:
        weights = robust_weights(model, base, robust)
        return condense_parts(model, parts, base, options, weights)

    fit = fit_condensed(condensed, options, weigh).fit
    return np.asarray((fit.values - base.values(values)) / fit.stddevs)


def main() -> int:
    """Run the selected cases in two processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=500)
    parser.add_argument('--estimator', choices=ESTIMATORS, nargs='+', default=list(ESTIMATORS))
    parser.add_argument('--colour', choices=COLOURS, nargs='+', default=list(COLOURS))
    parser.add_argument('--together', type=float, nargs='+', default=[0.0, TOGETHER])
    parser.add_argument('--robot', type=int, default=2, help='axes of the random robot')
    arguments = parser.parse_args()
    model = robot_model(random_urdf(arguments.robot, 70, types=('revolute',)))
    values, good = truth(model), True
    cases = [(e, c) for e in arguments.estimator for c in arguments.colour]
    with Pool(2) as pool:
        for estimator, colour in cases:
            for together in arguments.together:
                begin = time.perf_counter()
                run = partial(errors, model, values, estimator, colour, together)
                found = np.array(pool.map(run, range(arguments.runs), chunksize=10))
                inside = np.abs(found) < 1.96
                each, high = inside.mean(axis=0), 1.0 if estimator in DRAWN else 0.97
                good &= bool(0.93 <= inside.mean() <= high)
                print(
                    f'{estimator:<10} {colour:<9} correlation {together:3.1f}  coverage '
                    f'{inside.mean():.2%}  (single parameters {each.min():.1%} to '
                    f'{each.max():.1%}; {time.perf_counter() - begin:.0f} s)',
                    flush=True,
                )
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
