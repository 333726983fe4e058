# SPDX-License-Identifier: Apache-2.0
"""Identification in simulation, validated on ten other motions, for every serial robot in urdf/.

One recording of 40 s with realistic noise: torque noise of 2 % of each joint's RMS torque, half of
it white, half below 10 Hz, encoders of 20 bits, positions only. The prior is the URDF; each link
of the robot has another scale, by up to 20 %. On ten other motions with other noise, the relative
residual is divided by that of the true parameters (the noise floor). Exits non-zero above 1.2:
`python bench/bench_generalisation.py [--estimator NAME ...] [--motions 10]`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy import signal

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test/support/plants')]

from simulation import random_values, sines  # noqa: E402

from robodyn_ros.identification.options import METHODS, IdentifyOptions  # noqa: E402
from robodyn_ros.identification.pipeline import identify  # noqa: E402
from robodyn_ros.models.catalog import robot_model  # noqa: E402
from robodyn_ros.models.interface import Array, DynamicModel  # noqa: E402
from robodyn_ros.recording.recording import Recording  # noqa: E402

ROBOTS = ('puma', 'six_axis', 'ur10', 'lwr4', 'ns16', 'scara', 'scara3', 'axis', 'single_axis')
SAMPLES, RATE, NOISE, STEP = 8000, 200.0, 0.02, 2.0 * np.pi / 2**20
ALLOWED = 1.2


def truth(model: DynamicModel, seed: int = 0) -> Array:
    """Return values of a robot whose links are scaled by up to 20 % from the URDF."""
    random, values = np.random.default_rng(seed), random_values(model)
    scale: dict[str, float] = {}
    for index, item in enumerate(model.parameters):
        body, _, suffix = item.name.rpartition('.')
        if not suffix.endswith(('inertia', 'friction', 'offset')):
            values[index] *= scale.setdefault(body, random.uniform(0.8, 1.2))
    return values


def record(model: DynamicModel, values: Array, seed: int) -> tuple[Recording, float]:
    """Return a recording of a motion, and the relative residual of the true parameters on it."""
    random = np.random.default_rng([3, seed])
    time, q, qd, qdd = sines(len(model.joints), SAMPLES, rate=RATE, seed=seed)
    torque = model.torque(q, qd, qdd, values)
    white, coloured = random.normal(size=(2, *torque.shape))
    pole = np.exp(-2.0 * np.pi * 10.0 / RATE)
    coloured = signal.lfilter([np.sqrt(1.0 - pole**2)], [1.0, -pole], coloured, axis=0)
    error = NOISE * np.sqrt(np.mean(torque**2, axis=0)) * (white + coloured) / np.sqrt(2.0)
    measured = torque + error
    recording = Recording(
        time=time,
        joints=model.joint_names,
        position=np.round(q / STEP) * STEP,
        torque=measured,
        source=f'motion {seed}',
    )
    return recording, float(np.linalg.norm(error) / np.linalg.norm(measured))


def worst(name: str, options: IdentifyOptions, motions: int) -> tuple[float, float]:
    """Return the largest and mean ratio of residual to noise floor on other motions."""
    model = robot_model(ROOT / 'urdf' / f'{name}.urdf')
    values = truth(model)
    result = identify(record(model, values, 0)[0], model, options=options)
    ratios = []
    for seed in range(1, motions + 1):
        other, floor = record(model, values, seed)
        _, q, qd, qdd = sines(len(model.joints), SAMPLES, rate=RATE, seed=seed)
        error = other.torque - result.model.torque(q, qd, qdd, result.values)
        ratios.append(np.linalg.norm(error) / np.linalg.norm(other.torque) / floor)
    return float(max(ratios)), float(np.mean(ratios))


def main() -> int:
    """Check every robot with every selected estimator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--estimator', choices=METHODS, nargs='+', default=['wls'])
    parser.add_argument('--motions', type=int, default=10)
    arguments = parser.parse_args()
    good = True
    for name in ROBOTS:
        for estimator in arguments.estimator:
            options = IdentifyOptions(estimator=estimator)
            largest, mean = worst(name, options, arguments.motions)
            good &= largest <= ALLOWED
            print(
                f'{name:<12} {estimator:<10} residual over noise floor on other motions: '
                f'{mean:.3f} in the mean, {largest:.3f} at most',
                flush=True,
            )
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
