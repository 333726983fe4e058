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
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'bench')]

import numpy as np  # noqa: E402
from collision.contacts import KINDS, Contacts, drawn  # noqa: E402
from collision.lanes import recording_of, sessions  # noqa: E402
from collision.methods import Constant, Largest, Method, Ramps  # noqa: E402
from collision.motion import KINDS as MOTIONS  # noqa: E402
from collision.motion import Path as RobotPath  # noqa: E402
from collision.plant import START, Measured, Plant  # noqa: E402
from collision.robot import HARD, ROBOTS, SPEED, Robot  # noqa: E402
from collision.roc import LOOK, RATES, Curve  # noqa: E402

import robodyn_ros as rd  # noqa: E402
from robodyn_ros.analysis.thresholds.learn import Learning  # noqa: E402
from robodyn_ros.analysis.thresholds.session import Session  # noqa: E402
from robodyn_ros.control.collision.ramp_law import ErrorSamples  # noqa: E402
from robodyn_ros.control.collision.settings import CollisionSettings  # noqa: E402
from robodyn_ros.control.torque.model_torque import ModelTorque  # noqa: E402
from robodyn_ros.models.payload import payload_of  # noqa: E402

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


def loaded(robot: Robot, mass: float) -> Robot:
    """Return a robot that carries a mass in [kg] at its last link."""
    changed = replace(robot)
    payload = payload_of(robot.body, mass, center_of_mass=[0.0, 0.0, 0.05])
    changed.__dict__['values'] = robot.values + payload.added
    return changed


CHANGES: dict[str, tuple[Callable[[Robot], Robot], float | None]] = {
    'as learned': (lambda robot: robot, None),
    'warm, 90 min': (lambda robot: robot, 5400.0),
    'cold': (lambda robot: robot, 0.0),
    'half the speed': (lambda robot: replace(robot, limits=(0.5 * SPEED, 0.25 * HARD)), None),
    'payload 2.8 kg': (partial(loaded, mass=2.8), None),
    'a day later: friction +10 %': (
        lambda robot: replace(
            robot, coulomb=1.1 * robot.coulomb, viscous=1.1 * robot.viscous
        ), None,
    ),
}  # fmt: skip
"""Robots that differ from those that were learned from, and their age in [s]; None: mixed."""


STEPS = {
    '': {}, ' without the mean': {'mean': False}, ' without whitening': {'whitening': False},
    ' with one scale': {'scales': False},
}  # fmt: skip
"""Steps of the law that are left out."""


@dataclass
class Residual:
    """A residual, and the methods that compare it with thresholds.

    :param of: returns the sessions of some robots
    """

    of: Callable[[Measured], list[Session]]
    methods: dict[str, Method]


def after_changes(
    robot: Robot, given: argparse.Namespace, residuals: Sequence[Residual], seconds: float
) -> None:
    """Print the false alarms per hour, as learned, of robots that have changed."""
    for name, (change, age) in CHANGES.items():
        random = np.random.default_rng([13, given.seed, len(robot.name)])
        moved = simulated(
            change(robot), SIDE_BY_SIDE, START + seconds, given.rate, random, age=age
        )
        cells = []
        for each in residuals:
            parts = each.of(moved[0])
            for method, values in each.methods.items():
                curve = Curve(1.0 / given.rate)
                for part in parts:
                    curve.add_healthy(values.ratio(part))
                alarms = (np.concatenate(curve.healthy) > 1.0).sum() / curve.hours
                cells.append(f'{method} {alarms:.1f}')
        print(f'  {name} (false alarms per hour of {curve.hours:.2f} h): {"; ".join(cells)}')


def learned(
    learning: Measured, torque: ModelTorque, settings: CollisionSettings, given: argparse.Namespace
) -> list[Residual]:
    """Learn the thresholds of all methods."""
    of = partial(sessions, torque=torque, settings=replace(settings, torque_error_filter=1.0))
    parts = of(learning)
    methods: dict[str, Method] = {}
    for name, options in STEPS.items() if given.ablation else [('', {})]:
        for rate in given.aim:
            start = time.perf_counter()
            wanted = Learning(rate=rate, **options)
            found = Ramps.of(parts, settings.period, torque.friction_step, wanted)
            seconds = time.perf_counter() - start
            print(
                f'    ramps, {rate:g}/h{name}: {found.learned.alarms} alarms, at most '
                f'{found.learned.rate:.3g}/h, {seconds:.1f} s'
            )
            methods[f'ramps, {rate:g}/h{name}'] = found
    if given.ablation:
        both = methods[f'ramps, {given.aim[-1]:g}/h']
        assert isinstance(both, Ramps)
        methods['ramps, single joints'] = replace(both, parts=(0,))
        methods['ramps, all joints'] = replace(both, parts=(1,))
    result = [Residual(of, methods)]
    plain = partial(sessions, torque=torque, settings=settings)
    parts = plain(learning)
    constant = Constant.learned(parts, torque.friction_step, settings)
    result.append(Residual(plain, {'constant': constant}))
    observer = partial(plain, bandwidth=given.bandwidth)
    result.append(Residual(observer, {'observer': Largest.learned(observer(learning))}))
    return [*result, Residual(tracking, {'position error': Largest.learned(tracking(learning))})]


def tracking(measured: Measured) -> list[Session]:
    """Return sessions whose torque error is the position error, in [rad]."""
    errors = np.abs(measured.reference - measured.position).swapaxes(0, 1)
    rows = np.ones(errors.shape[1], dtype=bool)
    time = np.arange(errors.shape[1], dtype=float)
    return [
        Session('', ErrorSamples(time, *[each] * 4, ~rows), rows, rows, rows) for each in errors
    ]


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
    if given.changes:
        after_changes(robot, given, residuals[:-1], given.hours * 3600.0 / SIDE_BY_SIDE)
    found = {name: Curve(period) for each in residuals for name in each.methods}
    for seconds in in_turn(given.hours * 3600.0):
        healthy, _ = simulated(robot, SIDE_BY_SIDE, START + seconds, rate, random)
        for each in residuals:
            for part in each.of(healthy):
                for name, method in each.methods.items():
                    found[name].add_healthy(method.ratio(part))
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
    parts = residual.of(touched)
    robots = [contacts.all[k].robot for k in happened]
    for name, method in residual.methods.items():
        ratios = {k: method.ratio(parts[k]) for k in set(robots)}
        every = round(1000.0 * found[name].period)
        for k, robot in zip(happened, robots, strict=True):
            onset = -(-int(contacts.onset[k]) // every) - round(START * 1000.0 / every)
            found[name].add_contact(ratios[robot], onset)


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
    for kind in ('all', *KINDS):
        some = chosen & (np.array(kinds) == kind) if kind != 'all' else chosen
        if not some.any():
            continue
        figures = {name: curve.at(curve.scale(0.0), some) for name, curve in found.items()}
        line = '; '.join(f'{n} {100 * f[1]:.0f}/{1e3 * f[2]:.0f}' for n, f in figures.items())
        print(f'  {kind} ({some.sum()}), no false alarm: {line}')
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
        '--bandwidth', type=float, default=15.0, help='of the momentum observer, in Hz'
    )
    parser.add_argument('--robot', choices=list(ROBOTS), nargs='*', default=list(ROBOTS))
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument(
        '--aim', type=float, nargs='*', default=[10.0, 30.0],
        help='false alarms per hour for which laws are learned',
    )  # fmt: skip
    parser.add_argument('--changes', action='store_true', help='robots that have changed')
    parser.add_argument('--ablation', action='store_true', help='leave out each step of the law')
    given = parser.parse_args()
    for name in given.robot:
        start = time.perf_counter()
        print(f'{name}, {given.rate:g} Hz, seed {given.seed}')
        table(*curves(ROBOTS[name], given))
        print(f'  {time.perf_counter() - start:.0f} s')
    return 0


if __name__ == '__main__':
    sys.exit(main())
