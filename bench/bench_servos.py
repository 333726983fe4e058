# SPDX-License-Identifier: Apache-2.0
"""Gains of position drives of random hobby arms, from commanded and measured positions alone.

Each arm is simulated by MuJoCo with planted gains of 2 to 20 Nm/rad, damping, friction, rotors, a
delay of 0 to 30 ms and encoders of 0.088 deg, once empty and once with 0.1 to 0.3 kg of which mass
and centre are known. Exits non-zero if the intervals do not hold 93 to 97 % of the gains, or if
the median error is above 2 %: `python bench/bench_servos.py [--plants 40] [--first 0]`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test/support'), str(ROOT / 'test/support/plants')]

from servo_arm import servo_arm  # noqa: E402

from robodyn_ros.analysis.gains.command_delay import with_delay  # noqa: E402
from robodyn_ros.analysis.gains.estimate import estimate_gains  # noqa: E402


def main() -> int:
    """Estimate all plants and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--plants', type=int, default=40)
    parser.add_argument('--first', type=int, default=0, help='seed of the first plant')
    parser.add_argument('--verbose', action='store_true', help='print each plant')
    arguments = parser.parse_args()
    inside, errors, delays, wrong = [], [], [], 0
    for seed in range(arguments.first, arguments.first + arguments.plants):
        plant, mass = servo_arm(seed), float(np.random.default_rng(seed).uniform(0.1, 0.3))
        runs = [plant.record(0.0, seed=seed), plant.record(mass, seed=seed)]
        (empty, loaded), _ = with_delay(runs, plant.model)
        found = empty.drive.delay[0] if empty.drive else 0.0
        delays.append(1e3 * abs(found - plant.delay))
        load = plant.load(mass)
        gains = estimate_gains(empty, loaded, plant.model, load, center_known=True)
        for gain, true in zip(gains.joints, plant.gain, strict=True):
            if np.isfinite([gain.low, gain.high]).all():
                inside.append(gain.low <= true <= gain.high)
            if gain.determined:
                errors.append(abs(gain.factor / true - 1.0))
        wrong += found == 0.0 and plant.delay > 0.0
        if arguments.verbose:
            ratios = [
                (gain.factor / true, gain.high / true)
                for gain, true in zip(gains.joints, plant.gain, strict=True)
            ]
            shown = ' '.join(f'{ratio:.3f} (up to {high:.3f})' for ratio, high in ratios)
            print(f'{seed}: delay {plant.delay:.4f}, found {found:.4f}; {shown}', flush=True)
    print(
        f'{len(inside)} intervals hold {np.mean(inside):.1%} of the gains ({sum(inside)}); '
        f'{len(errors)} determined, median error {np.median(errors):.2%}, largest '
        f'{np.max(errors):.1%}; delay: median error {np.median(delays):.1f} ms, largest '
        f'{np.max(delays):.1f} ms, {wrong} not determined'
    )
    return int(not (0.93 <= np.mean(inside) <= 0.97 and np.median(errors) <= 0.02))


if __name__ == '__main__':
    sys.exit(main())
