# SPDX-License-Identifier: Apache-2.0
"""Export of a motion as YAML, table of samples and pictures."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.catalog import write_motion
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.trajectory import Array, Trajectory
from robodyn_ros.output_files import write_file
from robodyn_ros.runs.file_set import file_set

TRAJECTORY, TABLE, CURVES, PATH = 'trajectory.yaml', 'trajectory.csv', 'joints.png', 'path.png'
PERIOD = 0.01
"""Sampling period of table and path, in [s]."""
Points = Callable[[Array], Array]


def export_motion(
    trajectory: Trajectory,
    folder: str | Path,
    *,
    limits: JointLimits,
    points: Points | None = None,
) -> dict[str, str]:
    """Write trajectory.yaml, trajectory.csv and joints.png, and path.png if points are given.

    They appear together, or a failed or interrupted export changes nothing.

    :param points: places (N, F, 3) in [m] of frames at positions (N, n); the first is drawn
    :raises MotionError: a file cannot be written, or another run writes to the folder
    """
    files = {'trajectory': TRAJECTORY, 'table': TABLE, 'joints': CURVES}
    with motion_files(folder) as partial:
        write_motion(trajectory, partial / TRAJECTORY)
        _write_table(trajectory, partial / TABLE)
        chosen = limits.select(trajectory.joints)
        write_file(
            partial / CURVES, lambda path: _draw_joints(trajectory, chosen, path), MotionError
        )
        if points is not None:
            places = points(trajectory.grid(PERIOD).position)[:, 0]
            write_file(partial / PATH, lambda path: _draw_path(places, path), MotionError)
            files['path'] = PATH
    return {kind: str(Path(folder) / name) for kind, name in files.items()}


def motion_files(folder: str | Path) -> AbstractContextManager[Path]:
    """Return a set of files of a motion, in place of an earlier one, see `file_set`."""

    def leave() -> None:
        for name in (TRAJECTORY, TABLE, CURVES, PATH):
            Path(folder, name).unlink(missing_ok=True)

    return file_set(folder, MotionError, leave)


def _write_table(trajectory: Trajectory, path: Path) -> None:
    """Write samples as CSV: t, then q_NAME, qd_NAME, qdd_NAME of each joint, SI units."""
    motion = trajectory.grid(PERIOD)
    names = [f'{kind}_{name}' for name in trajectory.joints for kind in ('q', 'qd', 'qdd')]
    columns = np.stack([motion.position, motion.velocity, motion.acceleration], axis=2)
    rows = np.column_stack([motion.time, columns.reshape(len(motion.time), -1)])
    header = ','.join(['t', *names])
    write_file(
        path,
        lambda file: np.savetxt(
            file, rows, fmt='%.12g', delimiter=',', header=header, comments=''
        ),
        MotionError,
    )


def _draw_joints(trajectory: Trajectory, limits: JointLimits, path: Path) -> None:
    """Draw position, velocity and acceleration of every joint, with dashed limits."""
    figure, axes = _figure(3, len(trajectory.joints))
    motion = trajectory.grid(max(0.002, trajectory.duration / 5000.0))
    bounds = {
        'position': (limits.lower, limits.upper),
        'velocity': (-limits.velocity, limits.velocity),
        'acceleration': (-limits.acceleration, limits.acceleration),
    }
    for row, (name, sides) in enumerate(bounds.items()):
        for column, joint in enumerate(trajectory.joints):
            plot = axes[row][column]
            plot.plot(motion.time, getattr(motion, name)[:, column], linewidth=1.0)
            for side in sides:
                if np.isfinite(side[column]):
                    plot.axhline(side[column], color='0.6', linestyle='--', linewidth=0.8)
            if row == 0:
                plot.set_title(joint, fontsize=9)
            unit = limits.units[column] + ('', '/s', '/s²')[row]
            plot.set_ylabel(f'{name} [{unit}]', fontsize=7)
            plot.tick_params(labelsize=6)
        axes[row][0].set_xlabel('t [s]', fontsize=7)
    figure.savefig(path, dpi=110)


def _draw_path(places: Array, path: Path) -> None:
    """Draw the path of one frame, from above and from two sides."""
    figure, axes = _figure(1, 3)
    for plot, (first, second) in zip(axes[0], ((0, 1), (0, 2), (1, 2)), strict=True):
        plot.plot(places[:, first], places[:, second], linewidth=1.0)
        plot.set_xlabel(f'{"xyz"[first]} [m]', fontsize=7)
        plot.set_ylabel(f'{"xyz"[second]} [m]', fontsize=7)
        plot.set_aspect('equal', adjustable='datalim')
        plot.tick_params(labelsize=6)
    figure.savefig(path, dpi=110)


def _figure(rows: int, columns: int) -> tuple[Any, Any]:
    """Make a figure and its axes without a display; matplotlib is imported late as it is slow."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.6 * columns, 2.2 * rows), layout='constrained')
    return figure, figure.subplots(rows, columns, squeeze=False)
