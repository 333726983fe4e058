# SPDX-License-Identifier: Apache-2.0
"""Collision detection: delay against false alarms per hour, on simulated robots.

Robots of two kinds (`collision/robot.py`: industrial and cobot) have elastic gears, drives with
current noise and warming friction, and follow random moves, pick and place and weaving. A model is
identified from one of them by `robodyn identify`'s pipeline; thresholds are learned from further
robots, false alarms are counted on still others, and contacts happen on yet others: obstacles in
the way (stiff, soft), a point that is suddenly held (constrained), pushes at standstill, and
obstacles at a reversal. Each method's thresholds are scaled to each rate of false alarms, in the
same run; the last column is without scaling. A map with a rate in its name was learned for that
rate (`robodyn thresholds --false-alarms`).

`python bench/bench_collision.py [--hours H] [--contacts N] [--rate HZ] [--robot NAME] [--seed S]`.
Contacts count from 20 Nm/s (`collision/contacts.py`). Use a new seed for judging.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'bench')]

import numpy as np  # noqa: E402
from collision.contacts import KINDS, Contacts, drawn  # noqa: E402
from collision.methods import Constant, Mapped, debounced, observed  # noqa: E402
from collision.motion import KINDS as MOTIONS  # noqa: E402
from collision.motion import Path as RobotPath  # noqa: E402
from collision.plant import START, Measured, Plant  # noqa: E402
from collision.robot import ROBOTS, Robot  # noqa: E402
from collision.roc import RATES, Curve  # noqa: E402
from collision.series import recording_of, session  # noqa: E402

import robodyn_ros as rd  # noqa: E402
from robodyn_ros.analysis.thresholds.session import session_of  # noqa: E402
from robodyn_ros.control.collision.settings import CollisionSettings  # noqa: E402
from robodyn_ros.control.torque.model_torque import ModelTorque  # noqa: E402
from robodyn_ros.recording.recording import Recording  # noqa: E402

SIDE_BY_SIDE = 30
STEEP = 20.0


def simulated(
    robot: Robot, count: int, seconds: float, rate: float, random: np.random.Generator,
    contacts: int = 0, age: float | None = None,
) -> tuple[Measured, Contacts | None]:  # fmt: skip
    """Move robots of mixed motions and ages side by side."""
    paths = [RobotPath(robot, MOTIONS[k % len(MOTIONS)], seconds, random) for k in range(count)]
    ages = random.uniform(0.0, 5400.0, count) if age is None else np.full(count, age)
    drawn_contacts = drawn(robot, paths, seconds, random) if contacts else None
    plant = Plant(robot, paths, random, ages)
    return plant.run(seconds, round(1000.0 / rate), drawn_contacts), drawn_contacts


def identified(robot: Robot, rate: float, random: np.random.Generator) -> ModelTorque:
    """Identify a warm robot from four minutes of weaving and moves."""
    measured, _ = simulated(robot, 3, 80.0, rate, random, age=5400.0)
    model = rd.load_model(robot.urdf, friction=('coulomb', 'viscous', 'offset'))
    data = [recording_of(measured, k, 1.0 / rate, model.joint_names) for k in range(3)]
    result = rd.identify(data, model)
    print('  ' + ' '.join(result.summary().split())[:300])
    return ModelTorque(model, result.values, velocity_window=0.01)


def curves(
    robot: Robot, given: argparse.Namespace
) -> tuple[dict[str, Curve], np.ndarray, list[str]]:
    """Run everything; return the curves, the contacts' steepness and their kinds."""
    random = np.random.default_rng([11, given.seed, len(robot.name)])
    rate, period = given.rate, 1.0 / given.rate
    torque = identified(robot, min(rate, 250.0), random)
    settings = CollisionSettings(
        torque.joints, 1.0, period=period, filter_cutoff=min(given.cutoff, 0.4 * rate)
    )
    seconds = given.hours * 3600.0 / SIDE_BY_SIDE
    learning, _ = simulated(robot, 12, given.learn * 300.0, rate, random)
    healthy, _ = simulated(robot, SIDE_BY_SIDE, seconds, rate, random)
    length = given.contacts * 6.0 / 0.8 / SIDE_BY_SIDE
    touched, contacts = simulated(robot, SIDE_BY_SIDE, length, rate, random, contacts=1)
    assert contacts is not None

    def recordings(measured: Measured) -> list[Recording]:
        count = len(measured.position)
        return [recording_of(measured, k, period, torque.joints) for k in range(count)]

    sets = [recordings(each) for each in (learning, healthy, touched)]
    check(sets[0][0].slice(slice(0, 3000)), torque, settings)
    happened = [k for k in range(len(contacts.all)) if contacts.onset[k] >= 0]
    every, late = round(1000.0 / rate), round(START * rate)
    onsets = [(contacts.all[k].robot, -(-contacts.onset[k] // every) - late) for k in happened]
    found: dict[str, Curve] = {}

    def add(name: str, ratios: list[list[np.ndarray]]) -> None:
        found[name] = Curve.of(ratios[0], [(ratios[1][r], k) for r, k in onsets], period)

    for name, own in (('filtered', settings), *(
        (f'observer {f:g} Hz', observed(settings, f)) for f in given.bandwidth
    )):  # fmt: skip
        series = [[session(each, torque, own) for each in part] for part in sets]
        step = torque.friction_step
        start = time.perf_counter()
        mapped = Mapped.learned(series[0], step, own.debounce)
        print(f'    learned in {time.perf_counter() - start:.1f} s')
        add(f'map, {name}', [[mapped.ratio(s) for s in part] for part in series[1:]])
        for wanted in given.aim:
            aimed = Mapped.learned(series[0], step, own.debounce, rate=wanted)
            add(f'map, {name}, {wanted:g}/h', [[aimed.ratio(s) for s in p] for p in series[1:]])
        constant = Constant.learned(series[0], step, own)
        add(f'constant, {name}', [[constant.ratio(s) for s in part] for part in series[1:]])
    errors = [
        [np.abs(m.reference - m.position) for m in each]
        for each in map(_each, (learning, healthy, touched))
    ]
    most = np.max([error.max(axis=0) for error in errors[0]], axis=0)
    add('position error', [[debounced(e / most, 2) for e in part] for part in errors[1:]])
    return found, contacts.steepest[happened], [contacts.all[k].kind for k in happened]


def _each(measured: Measured) -> list[Measured]:
    """Split into single robots."""
    fields = ('position', 'velocity', 'torque', 'reference')
    return [
        Measured(*(getattr(measured, name)[k] for name in fields))
        for k in range(len(measured.position))
    ]


def check(data: Recording, torque: ModelTorque, settings: CollisionSettings) -> None:
    """Compare the series with the detector itself, sample by sample."""
    for own in (settings, observed(settings, 15.0)):
        series, detector = session(data, torque, own), session_of(data, torque, own)
        rows = series.used
        error = np.abs(series.residual - detector.residual)[rows].max()
        assert error < 1e-3 * series.residual[rows].max(), error
        assert (rows == detector.used).all()


def table(found: dict[str, Curve], steep: np.ndarray, kinds: Sequence[str]) -> None:
    """Print the figures."""
    chosen = steep >= STEEP
    print(f'  {chosen.sum()} of {len(steep)} contacts are steeper than {STEEP:g} Nm/s')
    first = next(iter(found.values()))
    print(f'  healthy {first.hours:.2f} h; found within 100 ms / median delay in ms')
    print(
        f'  {"false alarms per hour":26}'
        + ''.join(f'{rate:>12g}' for rate in RATES)
        + '   as learned'
    )
    for name, curve in found.items():
        cells = [curve.at(curve.scale(rate), chosen) for rate in RATES]
        own = curve.at(1.0, chosen)
        text = ''.join(f'{100 * s:6.1f}/{1e3 * d:5.0f}' for _, s, d in cells)
        print(f'  {name:26}{text}   {100 * own[1]:.1f}/{1e3 * own[2]:.0f} at {own[0]:.2f}/h')
    for kind in KINDS:
        some = chosen & (np.array(kinds) == kind)
        if not some.any():
            continue
        figures = {name: curve.at(curve.scale(0.0), some) for name, curve in found.items()}
        line = '; '.join(f'{n} {100 * f[1]:.0f}/{1e3 * f[2]:.0f}' for n, f in figures.items())
        print(f'  {kind} ({some.sum()}), no false alarm: {line}')


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hours', type=float, default=5.0, help='healthy motion, per robot')
    parser.add_argument('--learn', type=float, default=1.0, help='healthy hours to learn from')
    parser.add_argument('--contacts', type=int, default=1000, help='about so many, per robot')
    parser.add_argument('--rate', type=float, default=100.0, help='of the joint states, in Hz')
    parser.add_argument(
        '--cutoff', type=float, default=40.0, help='of the filtered residual, in Hz'
    )
    parser.add_argument(
        '--bandwidth', type=float, nargs='*', default=[15.0], help='observer, in Hz'
    )
    parser.add_argument('--robot', choices=list(ROBOTS), nargs='*', default=list(ROBOTS))
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument(
        '--aim', type=float, nargs='*', default=[0.1, 3.0, 10.0, 30.0, 100.0],
        help='false alarms per hour for which further maps are learned',
    )  # fmt: skip
    given = parser.parse_args()
    for name in given.robot:
        start = time.perf_counter()
        print(f'{name}, {given.rate:g} Hz, seed {given.seed}')
        table(*curves(ROBOTS[name], given))
        print(f'  {time.perf_counter() - start:.0f} s')
    return 0


if __name__ == '__main__':
    sys.exit(main())
