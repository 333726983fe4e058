# SPDX-License-Identifier: Apache-2.0
"""Check that the parameters of a result are those of a robot that can exist.

Torque shows many parameters only in combination, and rotor inertia and viscous friction of an
honest result may be negative (torque measured at the link, or delayed). Therefore mass matrix,
torque at rest and friction are checked, over poses within the joint limits. Wrong parameters that
another robot could have, such as a centre of mass on the other side, are not found.
"""

from __future__ import annotations

import numpy as np

from robodyn_ros.control.payload_limit import start_shares
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.identification.physical.consistency import bodies_of
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.urdf import joint_limits, rigid_part

FACTS = ('physically_consistent', 'usual_torque')
"""Facts of the identification that the check uses."""
POSES, SPEEDS = 64, (0.03, 0.15, 0.75)
"""Number of poses, and speeds of friction in [rad/s] or [m/s]; faster is extrapolated."""
MEASURED, NO_DRIVE = 5.0, 1e6
"""Torque that a joint may need, in times of that of its recording (effort limits of a URDF may be
placeholders), and in [Nm] or [N] where neither is known: no drive of a robot has more."""
SLOW, USUAL = 0.1, 5.0
"""Accelerations that a drive achieves at least, and usually, in [rad/s^2] or [m/s^2]."""
DRIVING = 0.1
"""Driving friction that a delay explains, relative to the other torque of the joint."""


def rated_torque(result: IdentifiedModel) -> tuple[Array, Array]:
    """Return the torque of each drive, and the largest that the model may need, (n,) each.

    The first is the effort limit of the URDF, unless the recording had more (a placeholder), else
    `MEASURED` times the torque of the recording, else `NO_DRIVE`, in [Nm] or [N].
    """
    body, usual = rigid_part(result.model), result.facts.get(FACTS[1])
    efforts = {} if body is None else {joint.name: joint.effort for joint in body.urdf.joints}
    effort = np.array([efforts.get(name, 0.0) for name in result.joints])
    measured = MEASURED * np.nan_to_num(np.array(usual or 0.0 * effort, dtype=float))
    measured = np.clip(measured, 0.0, NO_DRIVE)
    known = (effort > 0.0) & np.isfinite(effort) & (MEASURED * effort >= measured)
    rated = np.where(known, effort, np.where(measured > 0.0, measured, NO_DRIVE))
    return rated, np.maximum(rated, measured)


def check_possible(result: IdentifiedModel) -> None:
    """Refuse a result whose torque no robot has.

    :raises ControlError: more torque at rest, friction or inertia than the drives have, friction
        that drives a joint, an inertia that is not positive, or a negative mass or rotor inertia
        in a result that is not known to have apparent ones
    """
    model, bodies = result.model, bodies_of(result.model)
    torque = ModelTorque(model, result.loaded)
    possible = result.facts.get(FACTS[0]) is not False and result.payload is None
    for k in (*bodies.rotors, *(place[0] for _, place in bodies.links)) if possible else ():
        if result.values[k] < -1e-6:
            _refuse(result, f'{model.parameters[k].name} is negative: {result.values[k]:.4g}')
    low, high = joint_limits(model).T
    q = low + (high - low) * start_shares(POSES, len(low))
    still = np.zeros_like(q)
    with np.errstate(all='ignore'):
        offset, load = torque.friction(still), torque.load(q, still, still)
        body = torque.body(q, still, still)
        mass = np.stack([torque.body(q, still, still + row) - body for row in np.eye(len(low))], 2)
        friction = np.concatenate([
            np.sign(speed) * (torque.friction(still + speed, load) - offset)
            for each in SPEEDS for speed in (each, -each)
        ])  # fmt: skip
        inertia = np.diagonal(mass, axis1=1, axis2=2)
        needs = {'at rest': body + offset, 'against friction': friction, 'to move': SLOW * inertia}
        sizes = {what: np.abs(values).max(axis=0) for what, values in needs.items()}
        expected = sizes['at rest'] + USUAL / SLOW * sizes['to move']
    drives = np.maximum(-friction.min(axis=0), 0.0)
    for joint, (name, most) in enumerate(zip(result.joints, rated_torque(result)[1], strict=True)):
        for what, size in sizes.items():
            if not size[joint] <= most:
                text = f'{name} needs {size[joint]:.4g} Nm or N {what}, its drive has {most:.4g}'
                _refuse(result, text)
        if drives[joint] > DRIVING * (expected[joint] + drives[joint]):
            _refuse(result, f'friction drives {name} with {drives[joint]:.4g} Nm or N')
    sliding = np.array([joint.type == 'prismatic' for joint in model.joints])
    for kind in filter(np.any, (sliding, ~sliding)):
        eigen = np.linalg.eigvalsh(mass[:, kind][:, :, kind])
        # Apparent rotors: most of the inertia must be positive.
        if eigen.min() < -max(eigen.max(), 0.0) * (1e-9 if possible and bodies.links else 1.0):
            least = result.joints[np.where(kind, inertia.min(axis=0), np.inf).argmin()]
            _refuse(result, f'the mass matrix is not positive, at {least} the least')


def _refuse(result: IdentifiedModel, text: str) -> None:
    raise ControlError(
        f'{result.source}: no robot has these parameters: {text}. Identify it again, as a '
        f'consistent robot (--consistent)'
    )
