# SPDX-License-Identifier: Apache-2.0
"""Intervals of factors from signal to torque on random plants, against the planted factors.

Each plant is one of three arms with masses 20 % off its URDF, factors of 0.2 to 5 of any sign,
rotors, friction that differs by 10 % between both runs, coloured noise of 1 to 3 % of each
signal, noise of the encoder, and a load of 1 to 5 kg. The centre of mass of every other load is
not given. Exits non-zero if the intervals do not hold 93 to 97 % of the factors, if the median
error of determined factors is above 2 %, or if a determined factor has another sign or an error
above 20 %:
`python bench/bench_gains.py [--plants 100] [--first 0]`.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import signal

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test/support/plants')]

from simulation import sines  # noqa: E402
from true_arm import truth  # noqa: E402

from robodyn_ros.analysis.gains.estimate import (  # noqa: E402
    REACH,
    Gains,
    estimate_gains,
)
from robodyn_ros.models.catalog import robot_model  # noqa: E402
from robodyn_ros.models.interface import Array, DynamicModel  # noqa: E402
from robodyn_ros.models.payload import Payload, payload_of  # noqa: E402
from robodyn_ros.recording.recording import Recording  # noqa: E402

ARMS = ('six_axis', 'ur10', 'lwr4')
SAMPLES, RATE = 3000, 100.0


@dataclass(frozen=True)
class LoadedPlant:
    """A plant with planted factors, and its recordings without and with load.

    :param factors: torque per unit of the signal, shape (n,)
    """

    model: DynamicModel
    factors: Array
    payload: Payload
    empty: Recording
    loaded: Recording
    center_known: bool

    def estimate(self) -> Gains:
        """Return the estimated factors."""
        return estimate_gains(
            self.empty, self.loaded, self.model, self.payload, center_known=self.center_known
        )


def make_plant(seed: int) -> LoadedPlant:
    """Return a random plant."""
    random = np.random.default_rng([38, seed])
    model = robot_model(ROOT / f'urdf/{ARMS[seed % len(ARMS)]}.urdf')
    count = len(model.joints)
    values = truth(model, seed)
    factors = np.exp(random.uniform(np.log(0.2), np.log(5.0), count))
    factors *= random.choice([-1.0, 1.0], count)
    mass, center = random.uniform(1.0, 5.0), REACH * random.normal(size=3)
    center_known = bool(seed % 2)
    side = random.uniform(0.05, 0.15, 3) ** 2
    box = mass * (side.sum() - side) / 12.0
    inertia = [box[0], 0.0, 0.0, box[1], 0.0, box[2]]
    load = payload_of(model, mass, center_of_mass=center, inertia=inertia)
    given = payload_of(model, mass, center_of_mass=center if center_known else ())

    def record(added: Array, friction: float, name: str) -> Recording:
        time, q, qd, qdd = sines(count, SAMPLES, rate=RATE, seed=seed, size=0.7)
        other = np.array(['friction' in each.name for each in model.parameters])
        changed = np.where(other, friction * values, values + added)
        current = model.torque(q, qd, qdd, changed) / factors
        white = random.normal(size=(SAMPLES + 500, count))
        noise = signal.lfilter([1.0], [1.0, -0.9], white, axis=0)[500:]
        share = random.uniform(0.01, 0.03, count)
        current += share * current.std(axis=0) * noise / noise.std(axis=0)
        encoder = q + 2e-6 * random.normal(size=q.shape)
        return Recording(time, model.joint_names, encoder, current, source=name)

    none = np.zeros(len(values))
    runs = record(none, 1.0, 'empty'), record(load.added, random.uniform(0.9, 1.1), 'loaded')
    return LoadedPlant(model, factors, given, *runs, center_known)


def main() -> int:
    """Estimate all plants and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--plants', type=int, default=100)
    parser.add_argument('--first', type=int, default=0, help='seed of the first plant')
    arguments = parser.parse_args()
    inside, errors, spreads = [], [], []
    count = 0
    for seed in range(arguments.first, arguments.first + arguments.plants):
        plant = make_plant(seed)
        for gain, true in zip(plant.estimate().joints, plant.factors, strict=True):
            count += 1
            if np.isfinite([gain.low, gain.high]).all():
                inside.append(gain.low <= true <= gain.high)
            if gain.determined:
                errors.append(abs(gain.factor / true - 1.0))
                spreads.append((seed, gain.joint.name, gain.factor, true))
    covered, median, wrong = np.mean(inside), np.median(errors), np.max(errors)
    print(
        f'{count} joints: {len(inside)} intervals hold {covered:.1%} of the factors '
        f'({sum(inside)}); {len(errors)} determined, median error {median:.2%}, largest '
        f'{wrong:.1%}'
    )
    return int(not (0.93 <= covered <= 0.97 and median <= 0.02 and wrong <= 0.2))


if __name__ == '__main__':
    sys.exit(main())
