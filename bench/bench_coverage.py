"""Coverage of 95 % confidence intervals over simulated runs, per estimator and colour of noise.

Each run is a recording of another motion with other noise, identified as users do it; counted is
how often a base parameter's true value lies within 1.96 standard deviations. Noise is a share of
each joint's RMS torque, white or autoregressive of first order (pole at the sampling rate), for
'covariance' correlated between the joints, for 'robust' with pushes in 4 % of the samples. Exits
non-zero if a case is not between 93 and 97 %:
`python bench/bench_coverage.py [--runs 500] [--estimator wls] [--pole 0.9]`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy import signal

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test')]

from robots import random_urdf  # noqa: E402
from simulation import arm, base_values, sines  # noqa: E402

from robodyn_ros.identification.options import METHODS, IdentifyOptions  # noqa: E402
from robodyn_ros.identification.pipeline import identify  # noqa: E402
from robodyn_ros.models.interface import Array, DynamicModel  # noqa: E402
from robodyn_ros.recording.recording import Recording  # noqa: E402

JOINTS, SAMPLES, RATE, NOISE = 2, 3000, 100.0, 0.03


def noise(random: np.random.Generator, pole: float, together: bool) -> Array:
    """Noise (N, n) of variance 1."""
    values = random.normal(size=(SAMPLES + 1000, JOINTS))
    if together:
        values[:, 1] = 0.8 * values[:, 0] + 0.6 * values[:, 1]
    gain = np.sqrt(1.0 - pole**2)
    result: Array = signal.lfilter([gain], [1.0, -pole], values, axis=0)[1000:]
    return result


def run(
    model: DynamicModel, truth: Array, seed: int, estimator: str, pole: float, given: bool
) -> Array:
    """Errors of the base parameters in standard deviations, shape (b,)."""
    random = np.random.default_rng([9, seed])
    time, q, qd, qdd = sines(JOINTS, SAMPLES, rate=RATE, seed=seed)
    torque = model.torque(q, qd, qdd, truth)
    size = np.sqrt(np.mean(torque**2, axis=0))
    torque += NOISE * size * noise(random, pole, estimator == 'covariance')
    if estimator == 'robust':
        for start in random.integers(0, SAMPLES - 60, 2):
            torque[start : start + 60] += 0.5 * size
    derivatives = {'velocity': qd, 'acceleration': qdd} if given else {}
    recording = Recording(
        time=time, joints=model.joint_names, position=q, torque=torque, **derivatives
    )
    options = IdentifyOptions(estimator=estimator, consistent='no')
    result = identify(recording, model, options=options)
    errors: Array = (result.base_values - base_values(model, truth)) / result.base_stddevs
    return errors


def main() -> int:
    """Run the cases asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=500)
    parser.add_argument('--estimator', choices=METHODS, action='append')
    parser.add_argument('--pole', type=float, action='append')
    arguments = parser.parse_args()
    model, truth = arm(random_urdf(JOINTS, 70, types=('revolute',)))
    good = True
    for estimator in arguments.estimator or METHODS:
        for pole in arguments.pole or (0.0, 0.5, 0.9, 0.97):
            for given in (True, False):
                errors = np.array(
                    [run(model, truth, k, estimator, pole, given) for k in range(arguments.runs)]
                )
                inside = np.abs(errors) < 1.96
                good &= 0.93 <= inside.mean() <= 0.97
                each = inside.mean(axis=0)
                print(
                    f'{estimator:<10} pole {pole:4.2f}  derivatives '
                    f'{"given" if given else "computed":<8}  coverage {inside.mean():.2%}  '
                    f'(single parameters {each.min():.1%} to {each.max():.1%})',
                    flush=True,
                )
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
