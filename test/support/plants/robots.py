# SPDX-License-Identifier: Apache-2.0
"""Robots for tests: random serial URDFs, reproducible by seed, and the paths of our own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

URDF_FOLDER = Path(__file__).resolve().parents[3] / 'urdf'
SIX_AXIS = URDF_FOLDER / 'six_axis.urdf'
UR10 = URDF_FOLDER / 'ur10.urdf'
LWR4 = URDF_FOLDER / 'lwr4.urdf'
SINGLE_AXIS = URDF_FOLDER / 'single_axis.urdf'
SINGLE_ROTARY_AXIS = URDF_FOLDER / 'single_rotary_axis.urdf'

DATA = Path(
    os.environ.get('ROBODYN_DATA', Path(__file__).resolve().parents[4] / 'shared' / 'data')
)
"""Recordings of real robots, beside the checkout; tests skip where they are absent."""

MOVING = ('revolute', 'continuous', 'prismatic')


def random_states(joints: int, samples: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Random q, qd, qdd, each (samples, joints), in [rad], [rad/s], [rad/s^2] (or [m])."""
    random = np.random.default_rng(seed)
    q, qd, qdd = random.uniform(-1.0, 1.0, size=(3, samples, joints))
    return 3.0 * q, 2.0 * qd, 5.0 * qdd


def random_urdf(joints: int, seed: int, *, types: tuple[str, ...] = MOVING) -> str:
    """URDF text of a random serial robot with 1..9 moving joints named joint1, joint2, ...

    Axes and origins are random (half of them along frame axes, as real robots have them), every
    inertia is that of a random cloud of points and so physically consistent, and about every
    third link is made of two, joined by a fixed joint. The tip carries a fixed tool.
    """
    random = np.random.default_rng([seed, joints])
    parts = [_link('base_link', random)]
    parent = 'base_link'
    for number in range(1, joints + 1):
        kind = str(random.choice(types))
        parts.append(_joint(f'joint{number}', kind, parent, f'link{number}', random))
        parts.append(_link(f'link{number}', random))
        parent = f'link{number}'
        if random.uniform() < 0.35 or number == joints:
            child = f'link{number}_part'
            parts.append(_joint(f'fixed{number}', 'fixed', parent, child, random))
            parts.append(_link(child, random))
            # The chain goes on from the part or from the link itself.
            parent = child if random.uniform() < 0.5 else parent
    body = '\n'.join(parts)
    return f'<robot name="random_{joints}_{seed}">\n{body}\n</robot>\n'


def dh_urdf(rows: list[tuple[float, float, float]], *, mass: float = 2.0) -> str:
    """URDF of revolute joints about z; row i is (alpha, a, d) from joint i to joint i + 1.

    The first row leads from the base to joint 1. Every link gets the same lopsided inertia.
    """
    parts = ['<link name="base_link"/>']
    for number, (alpha, a, d) in enumerate(rows, start=1):
        parent = 'base_link' if number == 1 else f'link{number - 1}'
        parts.append(
            f'<joint name="joint{number}" type="revolute"><parent link="{parent}"/>'
            f'<child link="link{number}"/><origin xyz="{a} 0 {d}" rpy="{alpha} 0 0"/>'
            f'<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="100" velocity="3"/></joint>'
            f'<link name="link{number}"><inertial><origin xyz="0.05 -0.03 0.1"/>'
            f'<mass value="{mass}"/><inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" '
            f'iyz="0.003" izz="0.025"/></inertial></link>'
        )
    return f'<robot name="dh">{"".join(parts)}</robot>'


def chain_urdf(
    *links: str, first: float = 0.5, length: float = 0.5, limit: float = 1.0, more: str = ''
) -> str:
    """URDF of links with these contents, one after the other by joints about z, and more of it."""
    text = f'<link name="link0">{links[0]}</link>'
    for number, inside in enumerate(links[1:], start=1):
        text += (
            f'<link name="link{number}">{inside}</link>'
            f'<joint name="joint{number}" type="revolute"><parent link="link{number - 1}"/>'
            f'<child link="link{number}"/><origin xyz="{length if number > 1 else first} 0 0"/>'
            f'<axis xyz="0 0 1"/><limit lower="-{limit}" upper="{limit}" effort="1" velocity="1"/>'
            '</joint>'
        )
    return f'<robot name="arm">{text}{more}</robot>'


def _text(values: Array) -> str:
    return ' '.join(repr(float(value)) for value in values)


def _joint(name: str, kind: str, parent: str, child: str, random: np.random.Generator) -> str:
    axis = random.normal(size=3)
    # Clear of multiples of pi/2, which the reader would snap.
    rpy = random.integers(-2, 2, size=3) * (np.pi / 2) + random.uniform(0.05, 1.5, size=3)
    if random.uniform() < 0.5:
        axis = np.eye(3)[random.integers(3)] * random.choice([-1.0, 1.0])
        rpy = random.integers(-2, 3, size=3) * (np.pi / 2)
    xyz = random.uniform(-0.5, 0.5, size=3)
    limit = '' if kind == 'continuous' else 'lower="-3" upper="3" '
    moving = (
        f'<axis xyz="{_text(axis)}"/><limit {limit}effort="100" velocity="3"/>'
        if kind != 'fixed'
        else ''
    )
    return (
        f'  <joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_text(xyz)}" rpy="{_text(rpy)}"/>{moving}</joint>'
    )


def _link(name: str, random: np.random.Generator) -> str:
    points = random.uniform(-0.2, 0.2, size=(6, 3))
    masses = random.uniform(0.1, 1.0, size=6)
    mass = masses.sum()
    centre = masses @ points / mass
    points = points - centre
    # The tensor is written in the tilted frame as it is: any cloud of points is physical there.
    tensor = np.einsum('k,kij->ij', masses, _point_tensors(points))
    xx, xy, xz, yy, yz, zz = (repr(float(v)) for v in tensor[np.triu_indices(3)])
    return (
        f'  <link name="{name}"><inertial><origin xyz="{_text(centre)}" '
        f'rpy="{_text(random.uniform(-3, 3, size=3))}"/><mass value="{float(mass)!r}"/>'
        f'<inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/>'
        f'</inertial></link>'
    )


def _point_tensors(points: Array) -> Array:
    """Inertia tensors (K, 3, 3) of unit point masses."""
    square = np.einsum('ki,ki->k', points, points)
    result: Array = square[:, None, None] * np.eye(3) - points[:, :, None] * points[:, None, :]
    return result
