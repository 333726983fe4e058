# SPDX-License-Identifier: Apache-2.0
"""Small robots and motions for the tests of the cell."""

import numpy as np

from robodyn_ros.cell.config import CellConfig

FRICTIONLESS = {'coulomb_friction': 0.0, 'static_friction': 0.0, 'viscous_friction': 0.0}
IDEAL = {**FRICTIONLESS, 'torque_noise': 0.0}
MASS, LENGTH, INERTIA = 2.0, 0.4, 0.05


def pendulum(axis='0 1 0', kind='revolute', extra=''):
    """One link hanging from its joint: MASS at LENGTH below the axis, INERTIA about it."""
    return f"""<robot name="pendulum"><link name="base"/>
    <link name="arm"><inertial><origin xyz="0 0 -{LENGTH}"/><mass value="{MASS}"/>
      <inertia ixx="{INERTIA}" iyy="{INERTIA}" izz="{INERTIA}" ixy="0" ixz="0" iyz="0"/></inertial>
      <visual><geometry><mesh filename="package://absent/arm.stl"/></geometry></visual></link>
    <joint name="swing" type="{kind}"><parent link="base"/><child link="arm"/>
      <origin xyz="0 0 1"/><axis xyz="{axis}"/>{extra}
      <limit lower="-2" upper="2" effort="100" velocity="5"/></joint></robot>"""


def config(urdf, *, joints=None, profile='ideal', **defaults):
    """Cell of a URDF; `defaults` are of every joint, cell-wide entries among them are found."""
    wide = ('servo_period', 'substeps', 'command_delay', 'gravity', 'seed', 'cycle_jitter')
    content = {name: defaults.pop(name) for name in wide if name in defaults} | {
        'profile': profile
    }
    return CellConfig.from_mapping(
        {'urdf': str(urdf), 'defaults': defaults, 'joints': joints, **content}
    )


def sine(cell, time, frequency=0.5, share=0.5):
    """Reference (q, qd, qdd) from rest: sines of slightly different frequency per joint."""
    start, axes = cell.plant.initial, cell.axes
    room = np.minimum(axes.upper - start, start - axes.lower)
    amplitude = np.minimum(0.6, share * room)
    w = 2 * np.pi * frequency * (1 + 0.1 * np.arange(len(start)))
    r = min(time / 1.0, 1.0)
    b = r**3 * (10 - 15 * r + 6 * r**2)
    bd = 30 * r**2 - 60 * r**3 + 30 * r**4
    bdd = 60 * r - 180 * r**2 + 120 * r**3
    s, c = np.sin(w * time), np.cos(w * time)
    return (
        start + amplitude * b * s,
        amplitude * (bd * s + b * w * c),
        amplitude * (bdd * s + 2 * bd * w * c - b * w**2 * s),
    )
