# SPDX-License-Identifier: Apache-2.0
"""Selected friction law against every fixed one, on plants with other friction.

Links of the robots are scaled by up to 20 % from their URDF. Plants have one kind of friction each
(Stribeck, load-dependent, asymmetric, |v|^(1/3), a ripple over the position, ...), delayed torque,
coarse encoders, correlated noise, and slow, fast, short and long motions at 100 Hz to 1 kHz. They
are identified from one recording. The figure is the residual on ten other motions of other speed,
size and region, relative to the noise floor. For each plant the default is compared with plain WLS
(linear friction, no prior) and with every fixed law. The result is the largest ratio of the
selected law to the best fixed one: `python bench/bench_plants.py [--plants 24] [--first 0] [--laws
...]`.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import signal

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test/support/plants')]

from bench_generalisation import truth  # noqa: E402
from robots import random_urdf  # noqa: E402

from robodyn_ros.identification.options import IdentifyOptions  # noqa: E402
from robodyn_ros.identification.pipeline import identify  # noqa: E402
from robodyn_ros.models.catalog import robot_model  # noqa: E402
from robodyn_ros.models.interface import Array, DynamicModel  # noqa: E402
from robodyn_ros.recording.recording import Recording  # noqa: E402

FRICTION = ('linear', 'stribeck', 'load', 'asymmetric', 'root', 'ripple', 'presliding', 'none')
FIXED = ('linear', 'power', 'asymmetric', 'smooth', 'stribeck', 'smooth,load', 'bidirectional')
MOTIONS = 10


@dataclass(frozen=True)
class Plant:
    """Random robot and its measurement, by number."""

    number: int
    robot: str
    friction: str
    rate: float
    seconds: float
    speed: float
    late: int
    bits: int
    pole: float
    noise: float

    @classmethod
    def of(cls, number: int) -> Plant:
        """Return the plant of a number: robots and friction in turn, all else at random."""
        random = np.random.default_rng([17, number])
        robots = ('random 3', 'scara', 'six_axis', 'random 5', 'ur10')
        return cls(
            number=number,
            robot=robots[number % len(robots)],
            friction=FRICTION[number % len(FRICTION)],
            rate=float(random.choice([100.0, 250.0, 500.0, 1000.0])),
            seconds=float(random.choice([10.0, 30.0, 60.0])),
            speed=float(random.choice([0.3, 1.0, 2.0])),
            late=int(random.choice([0, 0, 0, 1, 3, 5])),
            bits=int(random.choice([13, 16, 20])),
            pole=float(random.choice([0.0, 0.9])),
            noise=float(random.choice([0.005, 0.02, 0.05])),
        )

    def model(self, friction: str | None) -> DynamicModel:
        """Return the model of the robot with a friction law; None: without friction."""
        kind, _, axes = self.robot.partition(' ')
        urdf: str | Path = ROOT / 'urdf' / f'{kind}.urdf'
        if axes:
            urdf = random_urdf(int(axes), 40 + self.number, types=('revolute',))
        return robot_model(urdf, friction=() if friction is None else friction.split(','))

    def friction_torque(self, q: Array, qd: Array, rigid: Array, size: Array) -> Array:
        """Return the friction torque; size (n,): scale of the rigid-body torque."""
        random = np.random.default_rng([19, self.number])
        count = q.shape[1]
        coulomb = size * random.uniform(0.1, 0.5, count)
        viscous = size * random.uniform(0.05, 0.3, count)
        knee = random.uniform(0.01, 0.1, count)
        sign, share = np.tanh(qd / 0.003), random.uniform(0.2, 0.6, count)
        plain = coulomb * sign + viscous * qd
        extra = {
            'linear': 0.0,
            'stribeck': share * coulomb * sign * np.exp(-((qd / knee) ** 2)),
            'load': share * np.abs(rigid) * sign,
            'asymmetric': share * (coulomb + viscous * np.abs(qd)) * (qd > 0.0),
            'root': share * size * np.sign(qd) * np.abs(qd) ** (1.0 / 3.0),
            'ripple': share * coulomb * (sign * np.sin(7.0 * q) + 0.3 * np.sin(31.0 * q)),
            'presliding': coulomb * (np.tanh(qd / knee) - sign),
            'none': -0.95 * plain,
        }
        return np.asarray(plain + extra[self.friction])


def motion(joints: int, count: int, rate: float, random: np.random.Generator, speed: float):
    """Return q, qd, qdd (N, n) of five sines per joint, around a random centre."""
    time_, width = np.arange(count)[:, None, None] / rate, (joints, 5)
    w = 2.0 * np.pi * speed * 0.13 * np.arange(1, 6)
    size = random.uniform(0.2, 0.7, width) / np.sqrt(np.arange(1, 6))
    angle = w * time_ + random.uniform(0.0, 2.0 * np.pi, width)
    centre = random.uniform(-0.5, 0.5, joints)
    q = centre + (size * np.sin(angle)).sum(axis=2)
    velocity = (size * w * np.cos(angle)).sum(axis=2)
    return q, velocity, -(size * w**2 * np.sin(angle)).sum(axis=2)


def torque_of(plant: Plant, body: DynamicModel, values: Array, moved: tuple[Array, ...]) -> Array:
    """Return the torque of the plant; the ratio of friction to rigid-body torque is constant."""
    rigid = body.torque(*moved, values)
    reference = np.random.default_rng([23, plant.number])
    typical = body.torque(*motion(rigid.shape[1], 400, 20.0, reference, 1.0), values)
    size = np.sqrt(np.mean(typical**2, axis=0))
    return rigid + plant.friction_torque(moved[0], moved[1], rigid, size)


def recorded(plant: Plant, body: DynamicModel, values: Array) -> Recording:
    """Return the recording for the identification."""
    random = np.random.default_rng([29, plant.number])
    count, joints = round(plant.seconds * plant.rate), len(body.joints)
    moved = motion(joints, count + plant.late, plant.rate, random, plant.speed)
    torque = torque_of(plant, body, values, moved)
    error = noise(plant, torque, random)
    step = 2.0 * np.pi / 2**plant.bits
    return Recording(
        time=np.arange(count) / plant.rate,
        joints=body.joint_names,
        position=np.round(moved[0][plant.late :] / step) * step,
        torque=(torque + error)[: len(torque) - plant.late],
        source=f'plant {plant.number}',
    )


def noise(plant: Plant, torque: Array, random: np.random.Generator) -> Array:
    """Return the torque noise, relative to the torque of each joint."""
    white = random.normal(size=torque.shape)
    gain = np.sqrt(1.0 - plant.pole**2)
    coloured = signal.lfilter([gain], [1.0, -plant.pole], white, axis=0)
    return np.asarray(plant.noise * np.sqrt(np.mean(torque**2, axis=0)) * coloured)


def judged(plant: Plant, laws: list[tuple[str, str, IdentifyOptions]]) -> dict[str, float]:
    """Return the RMS residual over ten motions, relative to the noise, for each option."""
    body = plant.model(None)
    values = truth(body, plant.number)
    recording = recorded(plant, body, values)
    tests = []
    for seed in range(MOTIONS):
        random = np.random.default_rng([31, plant.number, seed])
        moved = motion(
            len(body.joints), 1000, 50.0, random, plant.speed * random.uniform(0.7, 1.4)
        )
        torque = torque_of(plant, body, values, moved)
        tests.append((moved, torque, noise(plant, torque, random)))
    found = {}
    for name, law, options in laws:
        result = identify(recording, plant.model(law), options=options)
        if not result.has_estimate:
            found[name] = np.inf
            continue
        ratio = []
        for moved, torque, error in tests:
            own = torque - result.model.torque(*moved, result.values)
            size = np.sqrt(np.mean(torque**2, axis=0))
            ratio.append(np.mean(((own + error) / size) ** 2))
        found[name] = float(np.sqrt(np.mean(ratio)))
        if name == 'auto':
            print(
                f'  auto: {result.friction.law}, {result.selection.estimate}, '
                f'{"success" if result.success else "FAILED"} '
                f'{sorted({f.code for f in result.findings if f.severity == "error"})} '
                f'{[f.joint for f in result.findings if f.code == "time_offset"]}'
            )
    return found


def main() -> int:
    """Check plants; exit non-zero if the selected law is much worse than a fixed one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--plants', type=int, default=24)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--laws', nargs='+', default=list(FIXED))
    arguments = parser.parse_args()
    ways = [('auto', 'auto', IdentifyOptions())]
    ways.append(('plain WLS', 'linear', IdentifyOptions(consistent='no', time_offset='no')))
    ways += [(law, law, IdentifyOptions()) for law in arguments.laws]
    worst = 0.0
    for number in range(arguments.first, arguments.first + arguments.plants):
        begin, plant = time.perf_counter(), Plant.of(number)
        print(plant, flush=True)
        found = judged(plant, ways)
        best = min(value for name, value in found.items() if name != 'auto')
        worst = max(worst, found['auto'] / best)
        shown = ', '.join(f'{name} {value:.2%}' for name, value in found.items())
        print(
            f'  {shown}; auto over best {found["auto"] / best:.3f} '
            f'({time.perf_counter() - begin:.0f} s)',
            flush=True,
        )
    print(f'worst ratio of auto to the best fixed way: {worst:.3f}')
    return 0 if worst <= 1.5 else 1


if __name__ == '__main__':
    sys.exit(main())
