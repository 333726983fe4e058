# SPDX-License-Identifier: Apache-2.0
"""Physically consistent estimates of every serial robot in urdf/, and their URDFs.

Each robot gets other masses and inertias than its URDF says, rotors and friction, and is
identified from 20 s of a motion with torque noise, with its URDF as prior and without prior.
Checks of the exported URDF: positive masses, possible inertias, a positive definite mass matrix in
random poses (Pinocchio), and the torque of the result. Also prints the duration of one solution.
Exit code 1 if a figure is missed. Run without other load: `python bench/bench_consistency.py
[--poses 10000] [--noise 0.05] [--json]`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench_identify import ROOT, motion

from robodyn_ros.identification.factors.condense import condense
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.identification.options import PRIORS, IdentifyOptions
from robodyn_ros.identification.physical.consistency import bodies_of
from robodyn_ros.identification.physical.semidefinite import (
    Data,
    Problem,
    has_usable_inertials,
    plain_prior,
)
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.urdf import update_urdf
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording

RATE, SECONDS = 200.0, 20.0
SOLVE_LIMIT, TORQUE_LIMIT = 0.3, 1e-8


def robots() -> list[Path]:
    """Return the URDFs of serial robots; that of a delta is a tree with open loops."""
    return sorted(p for p in (ROOT / 'urdf').glob('*.urdf') if not p.name.startswith('delta'))


def truth_of(model: DynamicModel, seed: int) -> Array:
    """Return values of a possible robot: scaled links of the URDF, rotors and friction."""
    random = np.random.default_rng(seed)
    values = np.nan_to_num(model.prior()) if has_usable_inertials(model) else plain_prior(model)
    bodies = bodies_of(model)
    for _, own in bodies.links:
        values[list(own)] *= random.uniform(0.7, 1.4)
    links = [k for _, own in bodies.links for k in own]
    others = np.setdiff1d(np.arange(len(values)), links)
    values[others] = random.uniform(0.05, 1.0, size=len(others))
    return values


def recorded(model: DynamicModel, values: Array, noise: float, seed: int) -> Recording:
    """Record a motion; noise is a share of each joint's RMS torque."""
    random = np.random.default_rng(seed)
    clock = np.arange(int(RATE * SECONDS)) / RATE
    q, qd, qdd = motion(clock, len(model.joints))
    torque = model.torque(q, qd, qdd, values)
    torque += noise * np.sqrt(np.mean(torque**2, axis=0)) * random.normal(size=torque.shape)
    return Recording(
        time=clock, joints=model.joint_names, position=q, torque=torque, source='bench',
        velocity=qd, acceleration=qdd,
    )  # fmt: skip


def smallest_mass_eigenvalue(xml: str, poses: int, seed: int = 3) -> float:
    """Return smallest eigenvalue of the mass matrix of a URDF in random poses, by Pinocchio."""
    model = pin.buildModelFromXML(xml)
    data, random = model.createData(), np.random.default_rng(seed)
    matrices = np.empty((poses, model.nv, model.nv))
    for pose in range(poses):
        angles = random.uniform(-np.pi, np.pi, size=model.nv)
        matrices[pose] = pin.crba(model, data, _configuration(model, angles))
    upper = np.triu(matrices)
    return float(np.linalg.eigvalsh(upper + np.swapaxes(np.triu(matrices, 1), 1, 2)).min())


def _configuration(model: Any, positions: Array) -> Array:
    """Return positions in the form of Pinocchio: a continuous joint is cosine and sine."""
    result = pin.neutral(model)
    for joint, value in zip(model.joints[1:], positions, strict=True):
        turns = [np.cos(value), np.sin(value)] if joint.nq == 2 else [value]
        result[joint.idx_q : joint.idx_q + joint.nq] = turns
    return np.asarray(result)


def largest_torque_error(xml: str, model: DynamicModel, values: Array, states: int = 200) -> float:
    """Return the largest torque difference between file and result, in [Nm] or [N].

    The file's: Pinocchio, its `<dynamics>`, and what a URDF has no place for, rotors and offsets.
    """
    random = np.random.default_rng(4)
    shares = random.uniform(-1.0, 1.0, size=(3, states, len(model.joints)))
    qs, qd, qdd = np.pi * shares[0], 2.0 * shares[1], 5.0 * shares[2]
    robot, plain = ET.fromstring(xml), pin.buildModelFromXML(xml)
    data = plain.createData()
    torque = np.empty_like(qs)
    for row in range(states):
        pose = _configuration(plain, qs[row])
        torque[row] = pin.rnea(plain, data, pose, qd[row], qdd[row])
    by_name = dict(zip((item.name for item in model.parameters), values, strict=True))
    joints = {element.get('name'): element for element in robot.findall('joint')}
    for column, name in enumerate(model.joint_names):
        dynamics = joints[name].find('dynamics')
        friction = {} if dynamics is None else dynamics.attrib
        torque[:, column] += float(friction['damping']) * qd[:, column]
        torque[:, column] += float(friction['friction']) * np.sign(qd[:, column])
        torque[:, column] += by_name[f'{name}.rotor_inertia'] * qdd[:, column]
        torque[:, column] += by_name[f'{name}.torque_offset']
    return float(np.abs(torque - model.torque(qs, qd, qdd, values)).max())


def inertials_are_possible(xml: str) -> bool:
    """Return True if masses and principal moments are positive and satisfy the triangle rule."""
    for element in ET.fromstring(xml).iter('inertial'):
        mass, inertia = element.find('mass'), element.find('inertia')
        if mass is None or inertia is None or not float(mass.attrib['value']) > 0.0:
            return False
        xx, xy, xz, yy, yz, zz = (
            float(inertia.attrib[key]) for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
        )
        size = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if not (size[0] > 0.0 and size[0] + size[1] > size[2]):
            return False
    return True


def seconds_of_a_solution(model: DynamicModel, values: Array, recording: Recording) -> float:
    """Return median seconds of one solution among consistent robots, on the condensed factors."""
    base = base_parameters(model)
    signals = (recording.position, recording.velocity, recording.acceleration)
    used = np.ones(recording.torque.shape, dtype=bool)
    factors = condense(model, signals, recording.torque, used, base.columns).merge()
    fit = estimate(factors, base.rank)
    prior = np.nan_to_num(model.prior()) if has_usable_inertials(model) else plain_prior(model)
    problem, data = Problem.of(model, base, prior), Data.of(factors, base.rank, fit.sigma)
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        problem.solve(data, 1e-3)
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def measure(path: Path, prior: str, noise: float, poses: int) -> dict[str, Any]:
    """Identify one robot and check its URDF."""
    model = robot_model(path)
    values = truth_of(model, seed=len(path.name))
    recording = recorded(model, values, noise, seed=1)
    options = IdentifyOptions(consistent='yes', prior=prior, max_relative_error=10.0)
    result = identify(recording, model, options=options)
    xml = update_urdf(model, result.values)
    facts: dict[str, Any] = {
        'axes': len(model.joints),
        'estimate': result.selection.estimate,
        'residual': result.identification.relative_residual,
        'inertials possible': inertials_are_possible(xml),
        'smallest eigenvalue': smallest_mass_eigenvalue(xml, poses),
        'torque difference': largest_torque_error(xml, model, result.values),
        'solution [s]': seconds_of_a_solution(model, values, recording),
    }
    facts['reached'] = bool(
        facts['inertials possible']
        and facts['smallest eigenvalue'] > 0.0
        and facts['torque difference'] <= TORQUE_LIMIT
        and facts['solution [s]'] <= SOLVE_LIMIT
        and facts['estimate'] == 'consistent'
    )
    return facts


def main() -> int:
    """Measure every robot with and without prior."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--poses', type=int, default=10_000)
    parser.add_argument('--noise', type=float, default=0.05)
    parser.add_argument('--json', action='store_true')
    arguments = parser.parse_args()
    table = {
        f'{path.stem} {prior}': measure(path, prior, arguments.noise, arguments.poses)
        for path in robots()
        for prior in PRIORS
    }
    if arguments.json:
        print(json.dumps(table, indent=2))
    else:
        names = list(next(iter(table.values())))
        print(f'{"robot, prior":<26}' + ''.join(f'{name:>20}' for name in names))
        for case, facts in table.items():
            cells = (f'{v:.3g}' if isinstance(v, float) else str(v) for v in facts.values())
            print(f'{case:<26}' + ''.join(f'{cell:>20}' for cell in cells))
    return 0 if all(facts['reached'] for facts in table.values()) else 1


if __name__ == '__main__':
    sys.exit(main())
