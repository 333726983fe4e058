# SPDX-License-Identifier: Apache-2.0
"""CSV files with motions and wrenches of bodies; see docs/reference/bodywise.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

from robodyn_ros.analysis.bodywise import BodyMotion
from robodyn_ros.errors import IdentificationError
from robodyn_ros.models.interface import Array
from robodyn_ros.models.quaternion import normalise, rates
from robodyn_ros.models.serial.urdf import GRAVITY
from robodyn_ros.recording.tables.csv_file import read_csv
from robodyn_ros.recording.tables.table import Table

WrenchAxes = Literal['world', 'body']
WRENCH_AXES: tuple[WrenchAxes, ...] = ('world', 'body')

TIME = ('t', 'time')
ATTITUDE = ('qw', 'qx', 'qy', 'qz')
VELOCITY, ACCELERATION = ('wx', 'wy', 'wz'), ('dwx', 'dwy', 'dwz')
LINEAR, POSITION = ('ax', 'ay', 'az'), ('x', 'y', 'z')
FORCE, MOMENT = ('fx', 'fy', 'fz'), ('mx', 'my', 'mz')


def read_bodies(
    path: str | Path, *, gravity: Sequence[float] = GRAVITY, wrench_axes: WrenchAxes = 'world'
) -> list[BodyMotion]:
    """Read the motions of all bodies from a CSV file with one row per body and time.

    :param gravity: in world axes, shape (3,), in [m/s^2]
    :param wrench_axes: axes in which forces and moments are given
    :raises RecordingError: the file cannot be read
    :raises IdentificationError: a column is missing or not finite
    :raises ModelError: attitudes are not unit quaternions, or too few to differentiate
    """
    table = read_csv(Path(path))
    numbers = table.columns.get('body', np.ones(len(next(iter(table.columns.values())))))
    bodies = []
    for number in dict.fromkeys(numbers.tolist()):
        rows = numbers == number
        part = Table({name: col[rows] for name, col in table.columns.items()}, table.source)
        bodies.append(_motion(part, f'{number:g}', np.asarray(gravity, float), wrench_axes))
    return bodies


def _motion(table: Table, name: str, gravity: Array, wrench_axes: WrenchAxes) -> BodyMotion:
    attitude = normalise(_columns(table, ATTITUDE), f'{table.source}: the attitude of {name}')
    turn = Rotation.from_quat(attitude[:, [1, 2, 3, 0]])
    velocity, acceleration = _angular(table, attitude)
    force, moment = np.zeros((len(attitude), 3)), np.zeros((len(attitude), 3))
    for prefix in _hinges(table):
        push = _columns(table, FORCE, prefix)
        twist = _columns(table, MOMENT, prefix)
        off_centre = prefix and prefix + POSITION[0] in table.columns
        lever = _columns(table, POSITION, prefix) if off_centre else np.zeros_like(push)
        if wrench_axes == 'world':
            push, twist = turn.inv().apply(push), turn.inv().apply(twist)
        force += turn.apply(push)
        moment += twist + np.cross(lever, push)
    return BodyMotion(
        name=name,
        velocity=velocity,
        acceleration=acceleration,
        specific=_linear(table) - gravity,
        force=force,
        moment=moment,
    )


def _angular(table: Table, attitude: Array) -> tuple[Array, Array]:
    """Return angular velocity and acceleration in body axes: from the file or the attitude."""
    if VELOCITY[0] in table.columns:
        return _columns(table, VELOCITY), _columns(table, ACCELERATION)
    return rates(_time(table), attitude)


def _linear(table: Table) -> Array:
    """Return the acceleration of the centre of mass: from the file or its position."""
    if LINEAR[0] in table.columns:
        return _columns(table, LINEAR)
    time, position = _time(table), _columns(table, POSITION)
    if len(time) < 6 or not (np.diff(time) > 0.0).all():
        raise IdentificationError(
            f'{table.source}: an acceleration from positions needs at least 6 '
            f'samples of increasing time, got {len(time)}'
        )
    return np.asarray(make_interp_spline(time, position, k=5)(time, 2))


def _time(table: Table) -> Array:
    name = next((name for name in TIME if name in table.columns), TIME[0])
    return _columns(table, (name,))[:, 0]


def _hinges(table: Table) -> Iterator[str]:
    """Yield the prefixes of the wrenches: '' of 'fx', 'inner_' of 'inner_fx'."""
    prefixes = [name[: -len(FORCE[0])] for name in table.columns if name.endswith(FORCE[0])]
    if not prefixes:
        raise IdentificationError(
            f'{table.source}: no column is a wrench, expected names like inner_fx, inner_fy, '
            f'inner_fz, inner_mx, inner_my, inner_mz'
        )
    yield from prefixes


def _columns(table: Table, names: tuple[str, ...], prefix: str = '') -> Array:
    """Return columns as a matrix, shape (N, len(names))."""
    columns = []
    for name in names:
        column = table.columns.get(prefix + name)
        if column is None:
            raise IdentificationError(
                f'{table.source} has no column {prefix + name!r}, only {", ".join(table.columns)}'
            )
        if not np.isfinite(column).all():
            raise IdentificationError(
                f'{table.source}: column {prefix + name!r} must hold only finite numbers'
            )
        columns.append(column)
    return np.column_stack(columns).astype(np.float64)
