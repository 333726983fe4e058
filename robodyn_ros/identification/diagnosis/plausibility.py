# SPDX-License-Identifier: Apache-2.0
"""Size of the torques against the masses of the URDF: units of torque and of time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.case import Case, Sample, thinned
from robodyn_ros.identification.fit.choice import FOUR
from robodyn_ros.identification.rivals.other_models import reason
from robodyn_ros.models.friction_terms import FRICTION_PARAMETERS
from robodyn_ros.models.interface import GRAVITY, Array
from robodyn_ros.models.serial.urdf import UrdfModel, rigid_part
from robodyn_ros.models.springs import SPRING_PARAMETERS

IMPOSSIBLE = 1000.0
"""Inertia at a joint, in times of the robot's mass at its reach, which no robot has. A geared
axis of the random plants has 11 times as much; times in ms make it 1e6 times larger."""

DOUBTFUL = 3.0
"""Factor between torques and the masses of a URDF, which are often guesses, that is reported."""

_NOT_LINKS = ('rotor_inertia', *FRICTION_PARAMETERS, *SPRING_PARAMETERS)


def unit_findings(case: Case, sample: Sample) -> Iterator[Finding]:
    """Yield joints whose torque is another one than the masses of the URDF give.

    A unit is wrong for all joints, and masses are hardly all wrong by more than ten to the same
    side: then it is an error.
    """
    known = by_prior(case, sample)
    clear = [factor for factor, spread in known.values() if factor > FOUR * spread]
    enough = len(clear) >= min(2, len(case.model.joints))
    unit = enough and (min(clear) > 10.0 or max(clear) < 0.1)
    for joint, (factor, spread) in known.items():
        if factor > FOUR * spread and abs(np.log(factor)) > np.log(DOUBTFUL):
            yield finding(
                'torque_factor',
                joint=case.signals.joints[joint],
                severity='error' if unit else 'warning',
                factor=factor,
                spread=spread,
                causes=reason(factor),
            )


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


def by_prior(case: Case, sample: Sample) -> dict[int, tuple[float, float]]:
    """Return per joint the factor between its torque and the prior's, and its standard deviation.

    Friction and rotors, which no prior knows, are fitted beside it. Empty without prior.
    """
    prior = case.model.prior()
    suffixes = [item.name.rpartition('.')[2] for item in case.model.parameters]
    links = np.array([suffix not in _NOT_LINKS for suffix in suffixes])
    if not np.isfinite(prior[links]).all() or not prior[links].any():
        return {}
    base = case.base.grouping @ np.nan_to_num(prior)
    result = {}
    for joint, own in sample.fits():
        torque = own.matrix @ base[own.columns]
        motion = [
            values[sample.rows[own.rows], joint]
            for values in (case.signals.acceleration, case.signals.velocity)
        ]
        beside = np.column_stack([*motion, np.sign(motion[1]), np.ones(len(torque))])
        basis = np.linalg.qr(beside / np.maximum(np.linalg.norm(beside, axis=0), 1e-300))[0]
        clear = torque - basis @ (basis.T @ torque)
        size = float(clear @ clear)
        if size <= 1e-6 * float(torque @ torque):
            continue
        factor = float(clear @ own.torque) / size
        rest = own.torque - basis @ (basis.T @ own.torque) - factor * clear
        # The error of the prior is no noise: it does not average out.
        spread = float(np.linalg.norm(rest)) / np.sqrt(size) / np.sqrt(3.0)
        result[joint] = (factor, spread)
    return result
