# SPDX-License-Identifier: Apache-2.0
"""An identified payload in the forms in which robots take it; nothing is sent to a robot."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn_ros.models.interface import Array
from robodyn_ros.models.payload import Payload
from robodyn_ros.models.serial.inertia import body_of, pseudo_inertia


def payload_forms(payload: Payload) -> list[tuple[str, str]]:
    """Return robot and command of each form; empty: the payload is no body with a positive mass.

    All are about the frame of the payload, which must be the flange of the robot, with the inertia
    about the centre of mass.
    """
    if payload.center_of_mass is None:
        return []
    center, mass, inertia = body_of(pseudo_inertia(payload.values))
    xx, yy, zz = np.diag(inertia)
    xy, xz, yz = inertia[0, 1], inertia[0, 2], inertia[1, 2]
    mine = (
        f'{{mass: {mass:.6g}, center_of_mass: [{_list(center)}], '
        f'inertia: [{_list([xx, xy, xz, yy, yz, zz])}], frame: {payload.model.frame}}}'
    )
    gravity = ', '.join(f'{axis}: {value:.6g}' for axis, value in zip('xyz', center, strict=True))
    return [
        ('robodyn', _call('feedforward/set_payload', 'robodyn_ros/srv/SetPayload', mine)),
        (
            'UR (URScript)',
            f'set_target_payload({mass:.6g}, [{_list(center)}], '
            f'[{_list([xx, yy, zz, xy, xz, yz])}])',
        ),
        (
            'UR (ur_robot_driver)',
            _call(
                'io_and_status_controller/set_payload',
                'ur_msgs/srv/SetPayload',
                f'{{mass: {mass:.6g}, center_of_gravity: {{{gravity}}}}}',
            ),
        ),
        (
            'Franka (franka_ros2)',
            _call(
                'service_server/set_load',
                'franka_msgs/srv/SetLoad',
                f'{{mass: {mass:.6g}, center_of_mass: [{_list(center)}], '
                f'load_inertia: [{_list(inertia.T.ravel())}]}}',
            ),
        ),
        ('KUKA (load data of the tool)', _kuka(mass, center, inertia)),
    ]


def _kuka(mass: float, center: Array, inertia: Array) -> str:
    """Return KUKA's load data: mm, kg m^2, and the principal axes as A, B, C in degrees."""
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    angles = Rotation.from_matrix(axes).as_euler('ZYX', degrees=True)
    place, turned, principal = (
        ', '.join(f'{name} {value:.6g}' for name, value in zip(names, values, strict=True))
        for names, values in (('XYZ', 1e3 * center), ('ABC', angles), ('XYZ', moments))
    )
    return f'{{M {mass:.6g}, CM {{{place}, {turned}}}, J {{{principal}}}}}'


def _call(service: str, kind: str, request: str) -> str:
    return f'ros2 service call /{service} {kind} "{request}"'


def _list(values: Array | list[float]) -> str:
    return ', '.join(f'{value:.6g}' for value in values)
