# SPDX-License-Identifier: Apache-2.0
"""Faults of recordings, each made on simulated arms and given to `robodyn identify`.

The arms are UR10, LWR4 and the six-axis arm of this package, with other masses than in their URDF
(up to 15 %), rotors, Stribeck friction, encoders of 17 bits and 2 % of torque noise; 20 s of sines
at 250 Hz. Prints for each fault the exit code and the errors and warnings that say a cause:
`python bench/bench_recording_faults.py [--seed 11] [--only WORD] [--arms ur10 lwr4 six_axis]`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'test/support')]

from writers import write_csv  # noqa: E402

from robodyn_ros.cli.main import main as robodyn  # noqa: E402
from robodyn_ros.models.interface import Array  # noqa: E402
from robodyn_ros.models.serial.urdf import UrdfModel  # noqa: E402
from robodyn_ros.recording.recording import Recording  # noqa: E402

RATE, SECONDS, STEP = 250.0, 20.0, 2.0 * np.pi / 2**17
MINOR = ('region_too_small', 'motion_repeats', 'weakly_determined', 'little_torque',
         'extrapolation', 'rank_deficient', 'springs_or_masses')  # fmt: skip
UPWARDS = (0.0, 0.0, 9.81)


class Arm:
    """An arm that is not quite that of its URDF."""

    def __init__(self, name: str, seed: int, gravity: tuple[float, ...] = (0.0, 0.0, -9.81)):
        self.path = ROOT / 'urdf' / f'{name}.urdf'
        self.model = UrdfModel.from_file(self.path, gravity=gravity)
        self.count, self.seed = len(self.model.joint_names), seed
        random = np.random.default_rng([77, seed])
        self.values = np.nan_to_num(self.model.prior())
        links = self.values[: 10 * self.count].reshape(self.count, 10)
        links *= np.exp(random.uniform(-0.14, 0.14, (self.count, 1)))
        rms = np.sqrt(np.mean(self.torque(*self.motion(), friction=0.0) ** 2, axis=0))
        self.size = np.maximum(rms, 0.05 * rms.max())
        self.values[10 * self.count :] = self.size * random.uniform(0.05, 0.2, self.count)
        self.dry, self.viscous = 0.15 * self.size * random.uniform(0.5, 1.5, (2, self.count))

    def motion(self) -> tuple[Array, Array, Array]:
        """Return q, qd, qdd (N, n) of five sines per joint."""
        random, shape = np.random.default_rng([78, self.seed]), (self.count, 5)
        time, order = np.arange(round(SECONDS * RATE))[:, None, None] / RATE, np.arange(1, 6)
        w, size = 2.0 * np.pi * 0.11 * order, random.uniform(0.2, 0.6, shape) / np.sqrt(order)
        angle = w * time + random.uniform(0.0, 2.0 * np.pi, shape)
        q = random.uniform(-0.4, 0.4, self.count) + (size * np.sin(angle)).sum(axis=2)
        return q, (size * w * np.cos(angle)).sum(axis=2), -(size * w**2 * np.sin(angle)).sum(2)

    def torque(self, q: Array, qd: Array, qdd: Array, friction: float = 1.0) -> Array:
        """Return the torque without noise, shape (N, n)."""
        rigid = self.model.torque(q, qd, qdd, self.values)
        if not friction:
            return rigid
        peak = 1.0 + 0.3 * np.exp(-((qd / 0.05) ** 2))
        return np.asarray(rigid + self.dry * np.tanh(qd / 0.003) * peak + self.viscous * qd)

    def recording(self) -> Recording:
        """Return the healthy recording."""
        q, qd, qdd = self.motion()
        torque, random = self.torque(q, qd, qdd), np.random.default_rng([79, self.seed])
        torque += 0.02 * torque.std(axis=0) * random.normal(size=torque.shape)
        q = np.round((q + 0.4 * STEP * random.normal(size=q.shape)) / STEP) * STEP
        names = self.model.joint_names
        return Recording(np.arange(len(q)) / RATE, names, q, torque, source='simulated')


def faults(arm: Arm) -> Iterator[tuple[str, Recording, Path]]:
    """Yield every fault: name, recording and URDF."""
    good, joints = arm.recording(), range(arm.count)
    torque, position, time = good.torque, good.position, good.time

    def torques(change: object, *where: object) -> Recording:
        values = np.array(torque)
        values[where] = change
        return replace(good, torque=values)

    yield 'healthy', good, arm.path
    for factor in (0.5, 2.0, 10.0):
        yield f'times x {factor:g}', replace(good, time=factor * time), arm.path
    rows, late = np.arange(len(time)), slice(len(time) // 2, None)
    yield 'torque 2 stuck from 8 s', torques(torque[2000, 1], slice(2000, None), 1), arm.path
    yield 'torque 2 constant', torques(torque[0, 1], slice(None), 1), arm.path
    for lag in (10, 30):
        yield f'{lag} samples late in one half', torques(torque[rows - lag][late], late), arm.path
    yield 'torque lost for 2.8 s', torques(0.01 * torque[2500:3200], slice(2500, 3200)), arm.path
    push = np.sin(np.pi * np.arange(250) / 250)[:, None] * 2.0 * arm.size
    yield 'contact for 1 s', torques(torque[2500:2750] + push, slice(2500, 2750)), arm.path
    fresh = np.random.default_rng(3).uniform(size=len(time)) > 0.6
    held = np.maximum.accumulate(np.where(fresh, rows, 0))
    repeats = replace(good, position=position[held], torque=torque[held])
    yield '60 % repeated', repeats, arm.path
    yield 'degrees', replace(good, position=np.rad2deg(position)), arm.path
    turned = position + 2.0 * np.pi * np.eye(arm.count)[1]
    yield 'joint 2 one turn off', replace(good, position=turned), arm.path
    for joint in joints:
        yield (
            f'sign of torque {joint + 1}',
            torques(-torque[:, joint], slice(None), joint),
            arm.path,
        )
    for first in joints[:-1]:
        order = np.arange(arm.count)
        order[[first, first + 1]] = order[[first + 1, first]]
        pair = f'{first + 1} and {first + 2}'
        yield f'torques {pair} swapped', replace(good, torque=torque[:, order]), arm.path
        names = tuple(good.joints[k] for k in order)
        yield f'names {pair} exchanged', replace(good, joints=names), arm.path
    yield 'torques reversed', replace(good, torque=torque[:, ::-1].copy()), arm.path
    yield 'names reversed', replace(good, joints=good.joints[::-1]), arm.path
    for degrees in (5.0, 30.0):
        for joint in joints[1:]:
            off = position + np.deg2rad(degrees) * np.eye(arm.count)[joint]
            yield f'encoder {joint + 1} {degrees:g} deg off', replace(good, position=off), arm.path
    hanging = Arm(arm.path.stem, arm.seed, UPWARDS).recording()
    yield 'ceiling', replace(hanging, source='ceiling'), arm.path
    yield from ((f'URDF x {f:g}', good, _scaled(arm.path, f)) for f in (0.7, 0.8, 1.3, 1.4))


def _scaled(path: Path, factor: float) -> Path:
    """Write a URDF with other lengths."""

    def longer(match: re.Match[str]) -> str:
        return f'xyz="{" ".join(repr(factor * float(each)) for each in match[1].split())}"'

    scaled = Path(tempfile.gettempdir()) / f'{path.stem}_{factor:g}.urdf'
    scaled.write_text(re.sub(r'(?<=<origin )xyz="([^"]*)"', longer, path.read_text('utf-8')))
    return scaled


def told(recording: Recording, urdf: Path) -> str:
    """Return the exit code of `robodyn identify`, and what it says about causes."""
    with tempfile.TemporaryDirectory() as folder:
        path, output = Path(folder) / 'recording.csv', io.StringIO()
        write_csv(recording, path)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            code = robodyn(['identify', str(path), '--urdf', str(urdf), '--no-signals', '--json'])
    found = [item for item in json.loads(output.getvalue())['findings']
             if item['severity'] != 'info' and item['code'] not in MINOR]  # fmt: skip
    words = dict.fromkeys(f'{item["severity"]} {item["code"]}' for item in found)
    joints = {item['code']: item.get('joint') for item in reversed(found)}
    return f'{code}  ' + '; '.join(f'{each} {joints[each.split()[1]] or ""}' for each in words)


def main() -> int:
    """Print a line for each fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seed', type=int, default=11)
    parser.add_argument('--only', default='', help='faults whose names contain this')
    parser.add_argument('--arms', nargs='+', default=['ur10', 'lwr4', 'six_axis'])
    given = parser.parse_args()
    for name in given.arms:
        for fault, recording, urdf in faults(Arm(name, given.seed)):
            if given.only in fault:
                print(f'{name:<9} {fault:<28} {told(recording, urdf)}', flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
