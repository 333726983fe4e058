# SPDX-License-Identifier: Apache-2.0
"""Identification quality: optimised motion against the published one and softMC's sines.

The same duration, rate and torque noise for all; a random robot per seed (physical inertias on the
geometry of the PUMA and the UR5). Least squares on the base parameters. Prints for each motion
medians and quartiles over the seeds: the mean relative standard deviation of the parameters, and
the RMS torque error, relative to the RMS torque, on 30 random validation motions. The noise is
proportional to each joint's torque, so the optimised motion's criterion divides by nominal
torques. Exits non-zero if it is not better in both medians: `python
bench/bench_excitation_quality.py`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test/support/plants')]

from published import JOINTS, robot, table1, table3  # noqa: E402
from robots import random_urdf  # noqa: E402

from robodyn_ros.excitation.advice import CLOSE, advise  # noqa: E402
from robodyn_ros.excitation.design.criteria import CRITERIA, Options, torque_weights  # noqa: E402
from robodyn_ros.excitation.design.optimize import optimise  # noqa: E402
from robodyn_ros.excitation.design.problem import Design, DesignProblem  # noqa: E402
from robodyn_ros.excitation.motions.sine import SineMotion  # noqa: E402
from robodyn_ros.excitation.trajectory import Trajectory  # noqa: E402
from robodyn_ros.models.base_parameters import base_parameters  # noqa: E402
from robodyn_ros.models.interface import Array  # noqa: E402
from robodyn_ros.models.serial.urdf import UrdfModel  # noqa: E402

NOISE = 0.02
"""Standard deviation of the torque noise, relative to each joint's RMS torque."""
VALIDATIONS = 30


def sines() -> SineMotion:
    """Return the sines of softMC: full ranges, frequencies 11 : 13 : 15 : ..., at the limits."""
    limits, shares = table1(), np.array([11.0, 13.0, 15.0, 17.0, 19.0, 21.0])

    def motion(frequency: Array) -> SineMotion:
        # The first half cycle starts at the middle of the ranges, so leads are short.
        return SineMotion(
            joints=JOINTS,
            start=0.98 * limits.lower,
            target=0.98 * limits.upper,
            frequency=frequency,
            duration=20.0,
        )

    slow = motion(1e-3 * shares)
    return motion(1e-3 * shares * advise(slow, limits).factor / CLOSE * 0.9)


def states(trajectory: Trajectory) -> tuple[Array, Array, Array]:
    motion = trajectory.sample(0.01 * np.arange(2000))
    return motion.position, motion.velocity, motion.acceleration


def random_values(seed: int) -> Array:
    """Return ten physical parameters for each of six links."""
    model = UrdfModel.from_xml(random_urdf(6, seed, types=('revolute',)), rotor_inertia=False)
    return model.prior()


def nominal(name: str) -> Array:
    """Return nominal torques (6,) in [Nm], from other robots than those of the comparison."""
    rows = states(table3())
    robots = [random_values(1000 + seed) for seed in range(20)]
    sizes = [np.sqrt((robot(name).torque(*rows, values) ** 2).mean(axis=0)) for values in robots]
    result: Array = np.median(sizes, axis=0)
    return result


def judge(name: str, motions: dict[str, Trajectory], seeds: int) -> dict[str, Array]:
    """Return deviation and error, shape (seeds, 2), per motion."""
    model = robot(name)
    base = base_parameters(model)
    problem = DesignProblem(Design(model, table1()))

    def matrix(trajectory: Trajectory) -> Array:
        return problem.criterion.matrix(*states(trajectory))

    matrices = {key: matrix(motion) for key, motion in motions.items()}
    random = np.random.default_rng(99)
    tests = [
        matrix(problem.finish(problem.family.start(random)).trajectory) for _ in range(VALIDATIONS)
    ]
    result: dict[str, list[tuple[float, float]]] = {key: [] for key in motions}
    for seed in range(seeds):
        truth = base.grouping @ random_values(seed)
        # The same sensor for all motions: noise relative to the torques of the validation motions.
        torques = np.concatenate([test @ truth for test in tests]).reshape(-1, 6)
        sigma = NOISE * np.sqrt((torques**2).mean(axis=0))
        for key, rows in matrices.items():
            weight = np.tile(1.0 / sigma, len(rows) // 6)[:, None]
            noise = np.random.default_rng(seed).normal(size=len(rows))
            measured = (rows @ truth) * weight[:, 0] + noise
            found, *_ = np.linalg.lstsq(rows * weight, measured, rcond=None)
            spread = np.sqrt(np.diag(np.linalg.inv((rows * weight).T @ (rows * weight))))
            error = np.concatenate([test @ (found - truth) for test in tests])
            result[key].append(
                (
                    float((spread / np.abs(truth)).mean()),
                    float(np.sqrt((error**2).mean() / (torques**2).mean())),
                )
            )
    return {key: np.array(rows) for key, rows in result.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--time', type=float, default=60.0)
    parser.add_argument('--seeds', type=int, default=20)
    parser.add_argument('--criterion', choices=CRITERIA, default='det')
    arguments = parser.parse_args()
    better = True
    for name in ('puma', 'ur5'):
        options = Options(arguments.criterion, torque_weights(nominal(name), 'divide'))
        design = Design(robot(name), table1(), criterion=options)
        best = optimise(design, seconds=arguments.time, processes=2)
        motions = {'optimised': best.trajectory, 'published': table3(), 'sines': sines()}
        found = judge(name, motions, arguments.seeds)
        for key, values in found.items():
            low, middle, high = np.percentile(values, [25, 50, 75], axis=0)
            print(
                f'{name:<5} {key:<10} mean relative standard deviation {middle[0]:8.2%} '
                f'({low[0]:.2%} to {high[0]:.2%})  torque error {middle[1]:8.4%} '
                f'({low[1]:.4%} to {high[1]:.4%})',
                flush=True,
            )
        ours = np.median(found['optimised'], axis=0)
        for key in ('published', 'sines'):
            other = found[key]
            wins = (found['optimised'] < other).mean(axis=0)
            ratio = ours / np.median(other, axis=0)
            better &= bool((ratio < 1.0).all())
            print(
                f'{name:<5} optimised / {key}: {ratio[0]:.3f} and {ratio[1]:.3f}; better on '
                f'{wins[0]:.0%} and {wins[1]:.0%} of {arguments.seeds} seeds',
                flush=True,
            )
    return 0 if better else 1


if __name__ == '__main__':
    sys.exit(main())
