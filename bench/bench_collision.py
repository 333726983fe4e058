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
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'bench')]

import numpy as np  # noqa: E402
from collision.contacts import KINDS, Contacts, drawn  # noqa: E402
from collision.lanes import recording_of, sessions  # noqa: E402
from collision.methods import Constant, Largest, Mapped, Method, ratio  # noqa: E402
from collision.motion import KINDS as MOTIONS  # noqa: E402
from collision.motion import Path as RobotPath  # noqa: E402
from collision.plant import START, Measured, Plant  # noqa: E402
from collision.robot import ROBOTS, Robot  # noqa: E402
from collision.roc import LOOK, RATES, Curve  # noqa: E402

import robodyn_ros as rd  # noqa: E402
from robodyn_ros.analysis.thresholds.session import Session  # noqa: E402
from robodyn_ros.control.collision.settings import CollisionSettings  # noqa: E402
from robodyn_ros.control.torque.model_torque import ModelTorque  # noqa: E402

SIDE_BY_SIDE = 120
LONGEST = 75.0
"""Time that robots side by side move, in [s]: a gigabyte of signals at 1 kHz."""
STEEP = 20.0


def simulated(
    robot: Robot, count: int, seconds: float, rate: float, random: np.random.Generator,
    contacts: bool = False, age: float | None = None,
) -> tuple[Measured, Contacts | None]:  # fmt: skip
    """Move robots of mixed motions and ages side by side."""
    paths = [RobotPath(robot, MOTIONS[k % len(MOTIONS)], seconds, random) for k in range(count)]
    ages = random.uniform(0.0, 5400.0, count) if age is None else np.full(count, age)
    drawn_contacts = drawn(robot, paths, seconds, random) if contacts else None
    plant = Plant(robot, paths, random, ages)
    return plant.run(seconds, round(1000.0 / rate), drawn_contacts), drawn_contacts


def in_turn(seconds: float) -> list[float]:
    """Return the times that robots side by side move in turn, for a time of all of them."""
    turns = max(1, math.ceil(seconds / SIDE_BY_SIDE / LONGEST))
    return [seconds / SIDE_BY_SIDE / turns] * turns


def identified(robot: Robot, rate: float, random: np.random.Generator) -> ModelTorque:
    """Identify a warm robot from four minutes of weaving and moves."""
    measured, _ = simulated(robot, 3, 80.0, rate, random, age=5400.0)
    model = rd.load_model(robot.urdf, friction=('coulomb', 'viscous', 'offset'))
    data = [recording_of(measured, k, 1.0 / rate, model.joint_names) for k in range(3)]
    result = rd.identify(data, model)
    print('  ' + ' '.join(result.summary().split())[:300])
    return ModelTorque(model, result.values, velocity_window=0.01)


@dataclass
class Residual:
    """A residual, and the methods that compare it with thresholds.

    :param of: returns the sessions of some robots; numbers of the given kind
    """

    of: Callable[[Measured, type], list[Session]]
    methods: dict[str, Method]


def learned(
    learning: Measured, torque: ModelTorque, settings: CollisionSettings, given: argparse.Namespace
) -> list[Residual]:
    """Learn the thresholds of all methods."""
    found = []
    for name, bandwidth in (('filtered', None), *(
        (f'observer {f:g} Hz', f) for f in given.bandwidth
    )):  # fmt: skip
        of = partial(sessions_of, torque=torque, settings=settings, bandwidth=bandwidth)
        parts, step = of(learning, np.float32), torque.friction_step
        start = time.perf_counter()
        whole = Mapped.learned(parts, step, settings.debounce)
        methods: dict[str, Method] = {
            f'map, {name}': whole,
            f'map without change, {name}': whole.without_change(),
            **{
                f'map, {name}, {rate:g}/h': Mapped.learned(
                    parts, step, settings.debounce, rate=rate
                )
                for rate in given.aim
            },
            f'constant, {name}': Constant.learned(parts, step, settings),
        }
        print(f'    learned in {time.perf_counter() - start:.1f} s')
        found.append(Residual(of, methods))
    largest = Largest.learned(tracking(learning, np.float64))
    return [*found, Residual(tracking, {'position error': largest})]


def sessions_of(
    measured: Measured, kind: type, *, torque: ModelTorque, settings: CollisionSettings
) -> list[Session]:
    """Return the sessions of a torque error."""
    return sessions(measured, torque, settings, kind)


def tracking(measured: Measured, kind: type) -> list[Session]:
    """Return sessions whose residual is the position error, in [rad]."""
    errors = np.abs(measured.reference - measured.position).astype(kind).swapaxes(0, 1)
    rows = np.ones(errors.shape[1], dtype=bool)
    time = np.arange(errors.shape[1], dtype=float)
    return [Session('', time, each, each, each, rows, rows) for each in errors]


def curves(
    robot: Robot, given: argparse.Namespace
) -> tuple[dict[str, Curve], np.ndarray, list[str]]:
    """Run everything; return the curves, the contacts' steepness and their kinds."""
    random = np.random.default_rng([12, given.seed, len(robot.name)])
    rate, period = given.rate, 1.0 / given.rate
    torque = identified(robot, min(rate, 250.0), random)
    settings = CollisionSettings(
        torque.joints, 1.0, period=period, filter_cutoff=min(given.cutoff, 0.4 * rate)
    )
    learning, _ = simulated(robot, 12, given.learn * 300.0, rate, random)
    residuals = learned(learning, torque, settings, given)
    found = {name: Curve(period) for each in residuals for name in each.methods}
    for seconds in in_turn(given.hours * 3600.0):
        healthy, _ = simulated(robot, SIDE_BY_SIDE, START + seconds, rate, random)
        for each in residuals:
            for part in each.of(healthy, np.float64):
                for name, method in each.methods.items():
                    found[name].add_healthy(ratio(part, method.threshold(part), method))
    steep: list[np.ndarray] = []
    kinds: list[str] = []
    for seconds in in_turn(given.contacts * 6.0 / 0.8):
        touched, contacts = simulated(robot, SIDE_BY_SIDE, 8.0 + seconds, rate, random, True)
        assert contacts is not None
        happened = np.flatnonzero(contacts.onset >= 0)
        for each in residuals:
            judge(each, touched, contacts, happened, found)
        steep.append(contacts.steepest[happened])
        kinds += [contacts.all[k].kind for k in happened]
    return found, np.concatenate(steep), kinds


def judge(
    residual: Residual, touched: Measured, contacts: Contacts, happened: np.ndarray,
    found: dict[str, Curve],
) -> None:  # fmt: skip
    """Add contacts to the curves."""
    parts = residual.of(touched, np.float64)
    robots = [contacts.all[k].robot for k in happened]
    for name, method in residual.methods.items():
        thresholds = {k: method.threshold(parts[k]) for k in set(robots)}
        ratios = {k: ratio(parts[k], thresholds[k], method) for k in set(robots)}
        every = round(1000.0 * found[name].period)
        for k, own in zip(happened, robots, strict=True):
            onset = -(-int(contacts.onset[k]) // every) - round(START * 1000.0 / every)
            found[name].add_contact(ratios[own], onset)
            if residual.of is not tracking:
                course = contacts.course[k, -int(contacts.onset[k]) % every :: every]
                threshold = thresholds[own][onset : onset + len(course)]
                found[name].ideal.append(float((course / threshold).max()))


def table(found: dict[str, Curve], steep: np.ndarray, kinds: Sequence[str]) -> None:
    """Print the figures."""
    chosen = steep >= STEEP
    print(f'  {chosen.sum()} of {len(steep)} contacts are steeper than {STEEP:g} Nm/s')
    first = next(iter(found.values()))
    print(f'  healthy {first.hours:.2f} h; found within 100 ms / median delay in ms')
    print(
        f'  {"false alarms per hour":34}'
        + ''.join(f'{rate:>12g}' for rate in RATES)
        + '   as learned'
    )
    for name, curve in found.items():
        cells = [curve.at(curve.scale(rate), chosen) for rate in RATES]
        own = curve.at(1.0, chosen)
        text = ''.join(f'{100 * s:6.1f}/{1e3 * d:5.0f}' for _, s, d in cells)
        print(f'  {name:34}{text}   {100 * own[1]:.1f}/{1e3 * own[2]:.0f} at {own[0]:.2f}/h')
    judged = {name: curve for name, curve in found.items() if curve.ideal}
    for kind in ('all', *KINDS):
        some = chosen & (np.array(kinds) == kind) if kind != 'all' else chosen
        if not some.any():
            continue
        figures = {name: curve.at(curve.scale(0.0), some) for name, curve in found.items()}
        line = '; '.join(f'{n} {100 * f[1]:.0f}/{1e3 * f[2]:.0f}' for n, f in figures.items())
        print(f'  {kind} ({some.sum()}), no false alarm: {line}')
        line = '; '.join(
            f'{n} {100 * c.ceiling(c.scale(0.0), some):.0f}' for n, c in judged.items()
        )
        print(f'    true torque above these thresholds within 100 ms: {line}')
    earlier(found, chosen)


def earlier(found: dict[str, Curve], chosen: np.ndarray) -> None:
    """Print how much later the position error is, at no false alarm."""
    delays = {name: curve.delays(curve.scale(0.0))[chosen] for name, curve in found.items()}
    late = np.minimum(delays.pop('position error'), LOOK)
    for name, delay in delays.items():
        both = np.isfinite(delay)
        factor = np.median(late[both] / delay[both])
        print(
            f'  position error later than {name}: {factor:.1f} times (median of {both.sum()} '
            f'contacts that this finds; not found in {LOOK:g} s counts as {LOOK:g} s)'
        )


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
        '--aim', type=float, nargs='*', default=[],
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
