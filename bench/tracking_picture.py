# SPDX-License-Identifier: Apache-2.0
"""Pictures of the demonstrations, like figures 15 to 19 of the document."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from tracking_cell import Run
from tracking_demos import LEAD, Case, joint_error, settled

from robodyn_ros.excitation.motions.tool_moves import ToolMoves
from robodyn_ros.models.interface import Array

mpl.use('Agg')
import matplotlib.pyplot as plt

TITLES = ('without model', 'with identified model')


def draw(case: Case, folder: Path) -> Path:
    """Draw a case without and with model into a PNG in the folder, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f'tracking_{case.demonstration.robot}.png'
    figure, axes = plt.subplots(2, 1, figsize=(8.0, 6.0), layout='constrained')
    panel = _line if isinstance(case.motion, ToolMoves) else _oscillation
    for axis, seen, title in zip(axes, case.runs(), TITLES, strict=True):
        panel(axis, case, seen, title)
    _same_height(axes)
    figure.savefig(path, dpi=60)
    plt.close(figure)
    return path


def _line(axis: plt.Axes, case: Case, seen: Run, title: str) -> None:
    """Error after the profile's end (logarithmic), the window, and the speed of the tool."""
    pesettle = case.demonstration.pesettle
    error = joint_error(case, seen)
    end = settled(case, seen, error)
    after = 1e3 * (seen.time - seen.end)
    axis.semilogy(after, np.maximum(error, 1e-5), color='tab:red', label='position error')
    axis.axhline(pesettle, color='tab:red', linestyle=':', label=f'PESETTLE {pesettle:g} deg')
    axis.axvline(0.0, color='grey', linestyle=':')
    if np.isfinite(end.time):
        axis.axvspan(1e3 * end.entered, after[-1], color='tab:green', alpha=0.2)
        title += f': settled after {1e3 * end.entered:.0f} ms'
    speed = axis.twinx()
    speed.plot(after, _speed(case, seen), color='tab:blue', linewidth=0.8)
    speed.set_ylabel('speed of the tool [mm/s]', color='tab:blue')
    axis.set_xlim(-1e3 * seen.end, 500.0)
    axis.set_title(title)
    axis.set_ylabel('position error [deg, mm]')
    axis.set_xlabel('time after the end of the profile [ms]')
    axis.legend(loc='lower left')


def _speed(case: Case, seen: Run) -> Array:
    assert isinstance(case.motion, ToolMoves)
    place = 1e3 * case.motion.robot.forward(seen.position)[:, :3]
    speed: Array = np.linalg.norm(np.gradient(place, seen.time, axis=0), axis=1)
    return speed


def _oscillation(axis: plt.Axes, case: Case, seen: Run, title: str) -> None:
    """Error of axis 2, which is held, while axis 3 swings."""
    steady = (seen.time >= LEAD) & (seen.time <= seen.end - LEAD)
    error = np.rad2deg(seen.error[steady, 1])
    axis.plot(seen.time[steady], error, color='tab:red')
    axis.set_title(f'{title}: {np.ptp(error):.5f} deg peak to peak')
    axis.set_ylabel('error of axis 2 [deg]')
    axis.set_xlabel('time [s]')


def _same_height(axes: Array) -> None:
    low, high = zip(*(axis.get_ylim() for axis in axes), strict=True)
    for axis in axes:
        axis.set_ylim(min(low), max(high))
