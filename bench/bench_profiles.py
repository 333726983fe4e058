# SPDX-License-Identifier: Apache-2.0
"""Figures of the demonstration on each profile of drives, without ROS and real time.

`python bench/bench_profiles.py [--profiles NAME ...] [ROBOT ...]`: each robot runs its excitation
program, is identified, and then moves as in the demonstration: its motion without the additive
torque, from which thresholds are learned too, another motion (torque error, false alarms), the
first one with the additive torque, and pushes while the excitation program runs. One cell
throughout, so that it warms up. Exit code 1: a promise does not hold.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.tracking_cell import FeedForward
from robodyn_ros.analysis.collision_thresholds import ThresholdProposal, propose_thresholds
from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.profiles import profiles
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.cli.demo.facts import read_facts
from robodyn_ros.cli.demo.monitoring import SETTINGS
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.excitation.catalog import build_motion, load_motion
from robodyn_ros.excitation.trajectory import Motion, Trajectory
from robodyn_ros.identification.fit.torque_errors import evaluate
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.catalog import load_model, robot_model
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.robot.model_node import single
from robodyn_ros.recording.recording import Recording
from robodyn_ros.robot_file import load_robot

ROBOTS = ('six_axis', 'axis', 'scara3', 'scara', 'delta3', 'delta', 'puma')
PUSH = 2.5
"""Time from the start of the excitation program to a push, in [s]."""


@dataclass(frozen=True)
class Run:
    """Signals of one motion; arrays (N, n), SI. Errors: set-point of the drives minus position."""

    recording: Recording
    truth: Array
    encoder_error: Array
    link_error: Array


class Case:
    """One robot with one profile, from excitation to pushes."""

    def __init__(self, robot: str, profile: str) -> None:
        self.file = load_robot(f'{Path(__file__).parents[1]}/config/robots/{robot}.yaml')
        self.facts = read_facts(self.file)
        given = 'model' in self.file.content
        self.model = load_model(self.file.reference) if given else robot_model(self.file.urdf)
        self.cell = RobotCell(CellConfig.from_yaml(self.file.reference, profile=profile))
        self.program = build_motion(
            {**self.file.content['excitation']['motion'], 'joints': list(self.cell.joints)}
        )
        self.at = np.array(self.cell.state.position)

    def section(self, name: str) -> dict[str, Any]:
        """Return the parameters of a node in the robot file."""
        return dict(self.file.content.get(name) or {})

    def approach(self, target: Array) -> Motion:
        """Return the move to a start in 3 s, and 1 s at rest."""
        time = np.arange(0.0, 4.0, self.cell.period)
        s = np.minimum(time / 3.0, 1.0)[:, None]
        way = target - self.at
        return Motion(
            time, self.at + s**3 * (10.0 - 15.0 * s + 6.0 * s**2) * way,
            30.0 / 3.0 * s**2 * (1.0 - s) ** 2 * way,
            60.0 / 9.0 * s * (1.0 - s) * (1.0 - 2.0 * s) * way,
        )  # fmt: skip

    def go(self, target: Array) -> None:
        """Move to the start of a motion without torque."""
        for command in self.approach(target).position:
            self.cell.step(command, np.zeros(len(target)))
        self.at = target

    def run(self, motion: Trajectory, feedforward: FeedForward | None = None) -> Run:
        """Move to the start of a motion and to its end; return the signals of the motion."""
        cell, time = self.cell, np.arange(0.0, motion.duration, self.cell.period)
        samples = motion.sample(time)
        before = self.approach(samples.position[0])
        first = len(before.time)
        whole = Motion(
            np.append(before.time, before.time[-1] + cell.period + time),
            *(np.vstack([getattr(each, name) for each in (before, samples)])
              for name in ('position', 'velocity', 'acceleration')),
        )  # fmt: skip
        effort = np.zeros(whole.position.shape)
        if feedforward is not None:
            effort = feedforward.trajectory(whole, float(whole.time[-1]))
        for command, torque in zip(whole.position[:first], effort, strict=False):
            cell.step(command, torque)
        effort = effort[first:]
        states, encoders, links = [], [], []
        for command, torque in zip(samples.position, effort, strict=True):
            state = cell.step(command, torque)
            setpoint = 0.5 * (cell.drives._commands[1] + cell.drives._commands[2])
            states.append(state)
            encoders.append(setpoint - state.position)
            links.append(setpoint - state.plant_position)
        self.at = samples.position[-1]
        columns = {
            name: np.array([getattr(state, name) for state in states])
            for name in ('time', 'position', 'velocity', 'torque', 'plant_torque')
        }
        truth = columns.pop('plant_torque')
        recording = Recording(joints=cell.joints, source='cell', **columns)
        return Run(recording, truth, np.array(encoders), np.array(links))

    def identified(self, run: Run) -> IdentificationResult:
        """Identify from the program without its ramps."""
        period = self.cell.period
        rows = slice(round(2.0 / period), len(run.recording) - round(1.0 / period))
        cutoff = self.section('identification').get('filter_cutoff_frequency')
        options = IdentifyOptions() if cutoff is None else IdentifyOptions(filter_cutoff=cutoff)
        part = run.recording.slice(np.arange(len(run.recording))[rows])
        return identify(replace(part, velocity=None), self.model, options=options)

    def detector(self, result: IdentificationResult, runs: Sequence[Run]) -> TorqueErrorDetector:
        """Monitor with thresholds learned as in the demonstration."""
        given = self.section('collision_monitor')
        window = single(given.get('velocity_window', [0.01]))
        torque = ModelTorque(result.model, result.values, velocity_window=window)
        values = {name: single(given[name]) for name in SETTINGS if name in given}
        base = CollisionSettings(joints=torque.joints, max_torque_error=1.0, **values)
        found = reduce(ThresholdProposal.join, (
            propose_thresholds(
                run.recording, torque, base, contact_factor=2.0, collision_factor=2.5
            )
            for run in runs
        ))  # fmt: skip
        settings = replace(
            base, max_torque_error=found.max_torque_error,
            contact_threshold=found.contact_threshold,
            low_velocity_torque=found.low_velocity_torque,
        )  # fmt: skip
        return TorqueErrorDetector(torque=torque, settings=settings)

    def feedforward(self, result: IdentificationResult) -> FeedForward:
        """Return the additive torque with the settings of the robot file."""
        given = self.section('feedforward')
        window = single(given['velocity_window'])
        torque = ModelTorque(result.model, result.values, velocity_window=window)
        settings = FeedforwardSettings(joints=torque.joints, max_torque=given['max_torque'])
        return FeedForward(torque, settings)

    def alarms(self, detector: TorqueErrorDetector, run: Run) -> int:
        """Return the number of samples with a joint at level COLLISION."""
        parts = run.recording
        detector.reset()
        count = 0
        for row in zip(parts.time, parts.position, parts.velocity, parts.torque, strict=True):
            detector.update(*row)
            count += int(detector.level.max() >= Level.COLLISION)
        return count

    def latency(self, detector: TorqueErrorDetector, number: int) -> float:
        """Push during the program; return the time to the alarm in [s], NaN: none or too early."""
        cell, push = self.cell, self.facts.pushes[number]
        time = np.arange(0.0, PUSH + 0.5, cell.period)
        commands = self.program.sample(time).position
        self.go(commands[0])
        detector.reset()
        found = np.nan
        for at, command in zip(time, commands, strict=True):
            if abs(at - PUSH) < 0.5 * cell.period:
                cell.push(push.link, push.force, push.torque, 0.5)
            state = cell.step(command, np.zeros(len(command)))
            detector.update(state.time, state.position, state.velocity, state.torque)
            if detector.level.max() >= Level.COLLISION and np.isnan(found):
                found = at + cell.period - PUSH
        self.at = commands[-1]
        return found if found > 0.0 else float('nan')


def torque_error(result: IdentificationResult, run: Run) -> float:
    """Return the torque error against the torque of the drives, as in the demonstration."""
    motion = replace(run.recording, torque=run.truth)
    signals = process(motion, result.model.joint_names, IdentifyOptions())
    _, predicted = evaluate(result.model, result.values, signals, source='cell')
    return float(np.linalg.norm(signals.measured - predicted) / np.linalg.norm(signals.measured))


def pooled(error: Array) -> float:
    """Return the RMS over samples and joints."""
    return float(np.sqrt(np.mean(np.square(error))))


def measure(robot: str, profile: str) -> bool:
    """Print the figures; return True if all promises hold."""
    case = Case(robot, profile)
    excited = case.run(case.program)
    result = case.identified(excited)
    motion = load_motion(case.facts.motions['tracking'])
    runs = [case.run(motion)]
    validated = case.run(load_motion(case.facts.motions['validation']))
    error = torque_error(result, validated)
    excitation_only = case.alarms(case.detector(result, [excited]), validated)
    detector = case.detector(result, [excited, *runs])
    alarms = case.alarms(detector, validated)
    runs.append(case.run(motion, case.feedforward(result)))
    linear = np.array(case.cell.axes.prismatic)
    ok = error <= 0.04 and alarms == 0
    print(
        f'{robot}, {profile}: torque error {100 * error:.2f} %, false alarms {alarms} '
        f'(thresholds of the excitation only: {excitation_only})', end='',
    )  # fmt: skip
    for kind, chosen in (('rotary', ~linear), ('linear', linear)):
        if not chosen.any():
            continue
        for place in ('encoder', 'link'):
            before, after = (getattr(each, f'{place}_error')[:, chosen] for each in runs)
            cut = 1.0 - pooled(after) / pooled(before)
            ok = ok and (place == 'link' or cut >= 0.7)
            print(
                f'; {kind} {place} {1e3 * pooled(before):.3f} -> {1e3 * pooled(after):.3f}'
                f' ({100 * cut:.0f} %)', end='',
            )  # fmt: skip
    latencies = [case.latency(detector, number) for number in range(len(case.facts.pushes))]
    ok = ok and bool(np.isfinite(latencies).all())
    shown = ', '.join(f'{1e3 * value:.0f}' for value in latencies)
    print(f'; pushes {shown} ms; {"holds" if ok else "MISSED"}', flush=True)
    return ok


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('robots', nargs='*', default=ROBOTS)
    parser.add_argument('--profiles', nargs='+', default=list(profiles()))
    given = parser.parse_args()
    measured = [measure(r, p) for r in given.robots for p in given.profiles]
    return int(not all(measured))


if __name__ == '__main__':
    sys.exit(main())
