# SPDX-License-Identifier: Apache-2.0
"""Contacts and model health on the six-axis cell (MuJoCo): where, how hard, and why.

    python bench/bench_contact.py [--robots N] [--first SEED] [--contacts N] [--warming SECONDS]
        [--picture FOLDER]

Each robot has friction and rotors of its own, is identified from 20 s of its example program, and
has thresholds proposed from 20 s of other healthy motion. Torque noise 1 % of rated torque, 19-bit
encoders, Stribeck friction. Ends with code 1 if a figure is worse than its limit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from contact_cell import (
    PERIOD,
    SURFACES,
    Robot,
    attach,
    joint_torque,
    push_at,
    surface_contact,
    wave,
)
from contact_picture import draw, smallest_forces

from robodyn_ros.cell.robot_cell import CellState, RobotCell
from robodyn_ros.control.collision.contact_watch import ContactWatch
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.health.hypotheses import Cause
from robodyn_ros.control.health.monitor import HealthMonitor, HealthSettings
from robodyn_ros.control.health.report import HealthReport
from robodyn_ros.models.interface import Array
from robodyn_ros.models.payload import payload_of

NEVER = 99.0
PLACE = (0.065, 0.02, 0.03)
"""Centre of the payload in the frame of link6 [m]."""


class Trial:
    """A robot at work, its detector and its health monitor."""

    def __init__(self, robot: Robot, settings: CollisionSettings) -> None:
        self.robot, self.cell = robot, RobotCell(robot.config)
        self.torque = robot.torque()
        self.detector = TorqueErrorDetector(torque=self.torque, settings=settings)
        model = robot.result.model
        self.watch = ContactWatch(model, self.detector)
        self.health = HealthMonitor(model, self.torque, HealthSettings(gain_uncertainty=0.02))
        self.reports: list[tuple[float, HealthReport]] = []

    def move(self, motion: Array, act: Callable[[int], None] = lambda _: None) -> None:
        """Move; `act` is called before each cycle with its number."""
        for row, command in enumerate(motion):
            act(row)
            self.take(row, self.cell.step(command, np.zeros(6)))

    def take(self, row: int, state: CellState) -> None:
        """Take the joint states of a cycle."""
        detector = self.detector
        detector.update(state.time, state.position, state.velocity, state.torque)
        self.watch.update()
        if detector.settled:
            error, threshold = detector.torque_error, detector.threshold
            signals = (state.position, *detector.motion, error, threshold)
            self.health.take(state.time, *signals)
        if row % 125 == 0:
            self.health.process()
        if row % 500 == 0:
            self.reports.append((state.time, self.health.evaluate()))


def pushes(robot: Robot, settings: CollisionSettings, count: int, draw_push, after=range(60, 61)):
    """Return what was pushed, estimates and thresholds after it, and whether it was found.

    :param draw_push: gives link, point and force
    :param after: cycles after the start of the push, of which estimates are kept
    """
    trial = Trial(robot, settings)
    detector, every, first = trial.detector, 300, 1500
    found = []

    def act(row: int) -> None:
        phase = (row - first) % every
        if row < first:
            return
        if phase == 0:
            detector.reset()
            link, point, force = draw_push(trial.cell)
            loads = joint_torque(trial.cell, link, point, force)
            push_at(trial.cell, link, point, force, 0.25)
            found.append(((link, force, loads), [], []))
        if phase in after:
            contact = trial.watch.estimate(trial.cell.state.position)
            found[-1][1].append((contact, detector.threshold.copy()))
        if phase == 125:
            found[-1][2].append((detector.latched, (detector.level >= Level.CONTACT).any()))

    trial.move(wave(PERIOD * (first + every * count), 7 + robot.seed), act)
    return found


def at_tool(robot: Robot, random: np.random.Generator, low: float, high: float):
    """Return a function that draws a force in any direction at the tool's origin."""

    def chosen(cell: RobotCell):
        way = random.normal(size=3)
        size = np.exp(random.uniform(np.log(low), np.log(high)))
        point = robot.links.at(cell.plant.position).place
        return 'link6', point, size * way / np.linalg.norm(way)

    return chosen


def on_links(random: np.random.Generator):
    """Return a function that draws a contact on the surface of a link beyond joint 3."""

    def chosen(cell: RobotCell):
        link = str(random.choice(list(SURFACES)))
        size = float(np.exp(random.uniform(np.log(50.0), np.log(200.0))))
        return link, *surface_contact(cell, link, random, size)

    return chosen


def widest(robots: list[Robot], settings: list[CollisionSettings]) -> float:
    """Smallest force that is found at the tool, for 90 % of poses and directions, in [N]."""
    found = [smallest_forces(r, s) for r, s in zip(robots, settings, strict=True)]
    return float(np.quantile(np.concatenate(found), 0.9))


def smallest(
    robots: list[Robot], settings: list[CollisionSettings], count: int
) -> dict[str, float]:
    """Forces at the tool that are found, in motion."""
    found = []
    for robot, own in zip(robots, settings, strict=True):
        random = np.random.default_rng([robot.seed, 1])
        found += [
            row[2][0][0] for row in pushes(robot, own, count, at_tool(robot, random, 25, 25))
        ]
    return {
        'smallest force at the tool, 90 % of poses and directions [N]': widest(robots, settings),
        'pushes of 25 N at the tool found in motion [%]': 100.0 * np.mean(found),
    }


def places(robots: list[Robot], settings: list[CollisionSettings], count: int) -> dict[str, float]:
    """Isolated links of contacts on links beyond joint 3."""
    rows = []
    for robot, own in zip(robots, settings, strict=True):
        random = np.random.default_rng([robot.seed, 2])
        for (link, _, loads), ((contact, threshold),), ((_, touched),) in pushes(
            robot, own, count, on_links(random)
        ):
            if not touched:
                continue
            true = robot.links.links.index(link)
            order = np.argsort(-contact.probability)
            sure = np.cumsum(contact.probability[order])
            likely = order[: int(np.searchsorted(sure, 0.95)) + 1]
            loaded = abs(loads[true]) > threshold[true]
            rows.append((contact.link == true, contact.confidence, loaded, true in likely,
                         abs(contact.link - true) <= 1))  # fmt: skip
    right, sure, loaded, likely, near = np.array(rows, dtype=float).T
    return {
        'contacts on links beyond joint 3': len(rows),
        'right link [%]': 100.0 * right.mean(),
        'right link or its neighbour [%]': 100.0 * near.mean(),
        'right link, if its joint is loaded above its threshold [%]':
            100.0 * right[loaded > 0].mean(),
        'mean confidence [%]': 100.0 * sure.mean(),
        'right link, if confidence is above 90 % [%]': 100.0 * right[sure > 0.9].mean(),
        'contacts with confidence above 90 % [%]': 100.0 * (sure > 0.9).mean(),
        'true link among those with 95 % together [%]': 100.0 * likely.mean(),
    }  # fmt: skip


def forces(robots: list[Robot], settings: list[CollisionSettings], count: int) -> dict[str, float]:
    """Errors of the force at the tool, 80 to 180 ms after its start."""
    errors, scaled = [], []
    for robot, own in zip(robots, settings, strict=True):
        random = np.random.default_rng([robot.seed, 3])
        drawn = at_tool(robot, random, 20, 120)
        for (_, force, _), states, _ in pushes(robot, own, count, drawn, range(40, 91, 10)):
            for contact, _ in states:
                errors.append(contact.wrench[:3] - force)
                scaled.append(errors[-1] / np.sqrt(np.diag(contact.covariance)[:3]))
    size = np.sqrt(np.mean(np.square(errors), axis=0))
    return {
        'force error, RMS of the worst axis [N]': size.max(),
        'force error relative to its standard deviation, RMS': np.sqrt(np.mean(np.square(scaled))),
    }


def payloads(robots: list[Robot], settings: list[CollisionSettings]) -> dict[str, float]:
    """A payload that is attached in motion without set_payload, and with it."""
    delays, errors, alarms, told = [], [], [], []
    for robot, own in zip(robots, settings, strict=True):
        for known in (False, True):
            trial, start = Trial(robot, own), 6000
            model = robot.result.model
            load = payload_of(model, 2.8, center_of_mass=PLACE)

            def act(row: int, trial=trial, load=load, known=known, start=start) -> None:
                if row == start:
                    attach(trial.cell, 2.8, PLACE)
                    if known:
                        values = trial.robot.result.values + load.added
                        trial.torque.set_values(values)
                        trial.detector.lose('the payload was changed')
                        trial.health.clear('the payload was changed')

            trial.move(wave(32.0, 40 + robot.seed), act)
            causes = [(time, each) for time, each in trial.reports if time > PERIOD * start]
            if known:
                alarms.append(trial.detector.latched)
                told.append(any(each.cause > Cause.NONE for _, each in causes))
                continue
            mine = [row for row in causes if row[1].cause == Cause.PAYLOAD]
            delays.append(mine[0][0] - PERIOD * start)
            late = [each for time, each in mine if time >= PERIOD * start + 10.0]
            errors += [abs(each.mass / 2.8 - 1.0) for each in (late[0], late[-1])]
    return {
        'payload 2.8 kg told after [s of motion], worst': max(delays),
        'payload: error of the mass [%], worst': 100.0 * max(errors),
        'payload with set_payload: robots with an alarm': sum(alarms),
        'payload with set_payload: robots with advice': sum(told),
    }


def warming(trials: dict[str, Trial], seconds: float) -> dict[str, dict[str, float]]:
    """Friction that falls by 20 % in motion; figures of each detector, until it alarms."""
    robot = next(iter(trials.values())).robot
    cell, motion = RobotCell(robot.config), wave(seconds, 60 + robot.seed)
    firsts: dict[str, dict[str, float]] = {name: {} for name in trials}
    for row, command in enumerate(motion):
        percent = 20.0 * row / len(motion)
        if row % 50 == 0:
            cell.plant.scale_friction(1.0 - 0.01 * percent)
        state = cell.step(command, np.zeros(6))
        for name, trial in trials.items():
            first = firsts[name]
            if 'alarm' in first:
                continue
            trial.take(row, state)
            if trial.health.report.cause == Cause.FRICTION:
                first.setdefault('said', percent)
            if trial.detector.level.max() >= Level.CONTACT:
                first.setdefault('contact', percent)
            if trial.detector.latched:
                first.setdefault('alarm', percent)
    return {name: _warmed(firsts[name], trial) for name, trial in trials.items()}


def _warmed(first: dict[str, float], trial: Trial) -> dict[str, float]:
    known = (Cause.UNKNOWN, Cause.NONE, Cause.FRICTION)
    said, contact, alarm = (first.get(name, NEVER) for name in ('said', 'contact', 'alarm'))
    return {
        'friction: said at a change of [%] (99: never)': said,
        'friction: contact level at a change of [%] (99: never)': contact,
        'friction: alarm at a change of [%] (99: never)': alarm,
        'friction: robots with another cause claimed': float(
            any(each.cause not in known for _, each in trial.reports)
        ),
    }


LIMITS = {
    'smallest force at the tool, 90 % of poses and directions [N]': (25.0, -1),
    'force error, RMS of the worst axis [N]': (6.0, -1),
    'payload 2.8 kg told after [s of motion], worst': (10.0, -1),
    'payload: error of the mass [%], worst': (15.0, -1),
    'payload with set_payload: robots with an alarm': (0.0, -1),
    'friction: robots with another cause claimed': (0.0, -1),
}
"""Figures that must not be above (-1) or below (1) a limit."""


def show(title: str, figures: dict[str, float]) -> bool:
    """Print figures, and return True if all are within their limits."""
    print(title)
    kept = True
    for name, value in figures.items():
        limit, side = LIMITS.get(name, (np.nan, 1))
        good = not side * (value - limit) < 0.0
        note = '' if np.isnan(limit) else f'   limit {limit:g}{"" if good else ": NOT KEPT"}'
        print(f'  {name:<75} {value:8.1f}{note}', flush=True)
        kept &= good
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robots', type=int, default=2)
    parser.add_argument('--first', type=int, default=1, help='seed of the first robot')
    parser.add_argument(
        '--contacts', type=int, default=100, help='of each kind and robot; 0: only warming'
    )
    parser.add_argument('--warming', type=float, default=120.0, help='by 20 %%, in [s]')
    parser.add_argument('--picture', type=Path, default=Path('log') / 'contact')
    given = parser.parse_args()
    robots = [Robot(seed) for seed in range(given.first, given.first + given.robots)]
    settings = [robot.settings() for robot in robots]
    kept = True
    if given.contacts:
        kept &= show('Smallest force', smallest(robots, settings, given.contacts))
        kept &= show('Isolated link', places(robots, settings, given.contacts))
        kept &= show('Force', forces(robots, settings, given.contacts))
        kept &= show('Payload', payloads(robots, settings))
    one, wide = robots[0], robots[0].settings((1.0, 0.9, 0.8))
    trials = {
        'one session': Trial(one, settings[0]),
        'a cold and a warm session': Trial(one, wide),
    }
    for name, figures in warming(trials, given.warming).items():
        kept &= show(f'Warming in {given.warming:g} s (one robot), thresholds of {name}', figures)
        if name != 'one session' and min(v for n, v in figures.items() if 'alarm' in n) < NEVER:
            print('  NOT KEPT: a false alarm')
            kept = False
    show(
        'Smallest force with these',
        {'90 % of poses and directions [N]': widest(robots[:1], [wide])},
    )
    print(draw(robots[0], settings[0], given.picture))
    return 0 if kept else 1


if __name__ == '__main__':
    sys.exit(main())
