# SPDX-License-Identifier: Apache-2.0
"""Size of the inertias against the masses of the URDF: the unit of time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.case import Case, Sample, thinned
from robodyn_ros.models.interface import GRAVITY, Array
from robodyn_ros.models.serial.urdf import UrdfModel, rigid_part

IMPOSSIBLE = 1000.0
"""Inertia at a joint, in times of the robot's mass at its reach, which no robot has. A geared
axis of the random plants has 11 times as much; times in ms make it 1e6 times larger."""


def inertia_findings(case: Case, sample: Sample) -> Iterator[Finding]:
    """Yield the joint whose inertia no robot of this mass and size has, if there is one.

    `IMPOSSIBLE` times the robot's mass at its reach is left for a wrong scale of time alone. The
    mass is that of the URDF, or what gravity shows if that is more. An inertia counts whose torque
    is a tenth of the joint's: others may be wrong by any factor.
    """
    body = rigid_part(case.model)
    mass, reach = (0.0, 0.0) if body is None else _mass_and_reach(body)
    if not mass * reach:
        return
    rows = thinned(sample.rows)
    found, held = _inertia_and_held_torque(case, case.signals.position[rows])
    driven = found * np.abs(case.signals.acceleration[rows]).mean(axis=0)
    rotary = np.array([joint.position_unit == 'rad' for joint in case.model.joints])
    clear = rotary & (driven > 0.1 * np.abs(case.signals.torque[rows]).mean(axis=0))
    seen = held.max(initial=0.0, where=rotary) / (GRAVITY * reach)
    most = max(mass, seen) * reach**2
    worst = int(np.argmax(np.where(clear, found, 0.0)))
    if clear[worst] and found[worst] > IMPOSSIBLE * most:
        name = case.signals.joints[worst]
        yield finding('time_scale.inertia', joint=name, inertia=found[worst], most=most)


def _inertia_and_held_torque(case: Case, q: Array) -> tuple[Array, Array]:
    """Return the mean inertia at each joint, with its rotor, and its mean torque at rest, (n,)."""
    rest, width = np.zeros_like(q), q.shape[1]
    held = case.model.regressor(q, rest, rest)
    inertia = []
    for joint in range(width):
        pushed = case.model.regressor(q, rest, rest + np.eye(width)[joint])
        inertia.append(((pushed - held)[:, joint] @ case.values).mean())
    return np.array(inertia), np.abs(held @ case.values).mean(axis=0)


def _mass_and_reach(body: UrdfModel) -> tuple[float, float]:
    """Return the mass of all links, in [kg], and the largest reach, in [m], by the URDF."""
    prior = body.prior()[: 10 * len(body.tree.bodies)].reshape(-1, 10)
    mass = prior[:, 0]
    centre = np.linalg.norm(prior[:, 1:4], axis=1) / np.maximum(mass, 1e-300)
    lengths = [float(np.linalg.norm(each.placement[:3, 3])) for each in body.tree.bodies[1:]]
    return float(mass.sum()), sum(lengths) + float(centre.max(initial=0.0, where=mass > 0.0))
