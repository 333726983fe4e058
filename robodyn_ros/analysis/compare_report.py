# SPDX-License-Identifier: Apache-2.0
"""Report of a comparison of CAD and result: text, tables and pictures."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.analysis.compare import CAD, RESULT, Comparison, TorqueErrors
from robodyn_ros.analysis.picture import new_figure, png
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.result_file import write_bytes, write_text
from robodyn_ros.output_files import json_text
from robodyn_ros.runs.file_set import file_set

FILES = {
    'facts': 'comparison.json',
    'tables': 'comparison.png',
    'torques': 'torques.png',
}
"""Names of the files of a report, by kind."""

_COLOURS = {CAD: 'C1', RESULT: 'C0'}


def text_comparison(comparison: Comparison) -> str:
    """Return a comparison as text: base parameters (Table 2) and torque errors (Table 3)."""
    lines = [
        f'CAD        {comparison.cad}',
        f'result     {comparison.result}',
        f'recording  {comparison.torques[0].report.source}, {len(comparison.signals)} samples',
        '',
    ]
    if comparison.rows:
        lines.append(
            f'{"CAD":>12}  {"result":>12}  {"std. dev.":>10}  {"difference":>12}  '
            f'{"unit":<9} base parameter'
        )
    for row in comparison.rows:
        lines.append(
            f'{_cell(row.cad, 5):>12}  {_cell(row.result, 5):>12}  {_cell(row.stddev, 3):>10}  '
            f'{_cell(row.difference, 4):>12}  {row.unit:<9} {row.expression}'
        )
    lines += [''] if comparison.rows else []
    lines += _error_lines(comparison)
    lines.append('')
    texts = [finding.line for finding in comparison.findings]
    for text in texts or ['no findings']:
        lines += textwrap.wrap(text, 100, subsequent_indent='  ')
    return '\n'.join(lines)


def _error_lines(comparison: Comparison) -> list[str]:
    """Return the RMS torque error of each joint, and the relative residual of all joints."""
    names = [joint.name for joint in comparison.model.joints]
    width = max(len('residual'), *map(len, names))
    lines = [
        'RMS torque error; "CAD links" has friction and rotors of the result',
        f'{"joint":<{width}}' + ''.join(f'  {each.name:>12}' for each in comparison.torques),
    ]
    for index, joint in enumerate(comparison.model.joints):
        cells = (each.report.rms_error[index] for each in comparison.torques)
        lines.append(
            f'{joint.name:<{width}}'
            + ''.join(f'  {_cell(value, 4):>12}' for value in cells)
            + f'  {joint.torque_unit}'
        )
    shares = (f'{100.0 * each.report.relative_residual:.2f} %' for each in comparison.torques)
    lines.append(f'{"residual":<{width}}' + ''.join(f'  {share:>12}' for share in shares))
    return lines


def export_comparison(comparison: Comparison, folder: str | Path) -> dict[str, str]:
    """Write comparison.json, which has both tables, and pictures of the tables and the torques.

    :raises IdentificationError: a file cannot be written
    """
    with file_set(folder, IdentificationError) as partial:
        paths = {kind: partial / name for kind, name in FILES.items()}
        write_text(json_text(comparison.to_json()) + '\n', paths['facts'])
        write_bytes(png(_draw_tables(comparison)), paths['tables'])
        write_bytes(png(_draw_torques(comparison)), paths['torques'])
    return {kind: str(Path(folder) / name) for kind, name in FILES.items()}


def _cell(value: float, digits: int) -> str:
    return '-' if math.isnan(value) else f'{value:.{digits}g}'


def _draw_tables(comparison: Comparison) -> Any:
    """Draw base parameters side by side with standard deviations, and RMS errors as bars."""
    rows = [row for row in comparison.rows if not math.isnan(row.cad)]
    figure = new_figure(11.0, max(4.0, 0.17 * len(rows) + 1.0))
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    at = np.arange(len(rows))
    left.plot([row.cad for row in rows], at, 'x', color=_COLOURS[CAD], label='CAD')
    left.errorbar(
        [row.result for row in rows],
        at,
        xerr=np.nan_to_num([row.stddev for row in rows]),
        fmt='.',
        color=_COLOURS[RESULT],
        label='result, standard deviation',
    )
    left.set_xscale('symlog', linthresh=0.01)
    left.set_yticks(at, [textwrap.shorten(row.expression, 34) for row in rows], fontsize=6)
    left.invert_yaxis()
    left.set_xlabel('base parameter [kg, kg m, kg m²]', fontsize=8)
    left.legend(fontsize=7)
    width = 0.8 / len(comparison.torques)
    joints = np.arange(len(comparison.model.joints))
    for number, each in enumerate(comparison.torques):
        places = joints + width * (number - 0.5 * (len(comparison.torques) - 1))
        colour = _COLOURS.get(each.name, 'C2')
        right.bar(places, each.report.rms_error, width, label=each.name, color=colour)
    right.set_xticks(joints, comparison.model.joint_names, fontsize=7, rotation=30)
    right.set_ylabel('RMS torque error [Nm, N]', fontsize=8)
    right.legend(fontsize=7)
    return figure


def _draw_torques(comparison: Comparison) -> Any:
    """Draw measured torque, torques of CAD and result, and their errors (Fig. 3 and 4)."""
    shown = [each for each in comparison.torques if each.name in (CAD, RESULT)]
    joints = comparison.model.joints
    figure = new_figure(11.0, 1.9 * len(joints) + 0.5)
    axes = figure.subplots(len(joints), len(shown), squeeze=False, sharex=True, sharey='row')
    step = max(1, len(comparison.signals) // 4000)  # more than the pixels of a picture
    for column, each in enumerate(shown):
        axes[0][column].set_title(f'{each.name}: torque and error', fontsize=9)
        for row, joint in enumerate(joints):
            _draw_joint(axes[row][column], comparison, each, row, step)
            axes[row][0].set_ylabel(f'{joint.name} [{joint.torque_unit}]', fontsize=8)
        axes[-1][column].set_xlabel('t [s]', fontsize=8)
    axes[0][0].legend(fontsize=6)
    return figure


def _draw_joint(
    plot: Any, comparison: Comparison, each: TorqueErrors, joint: int, step: int
) -> None:
    time = comparison.signals.time[::step]
    measured = comparison.signals.torque[::step, joint]
    predicted = each.predicted[::step, joint]
    plot.plot(time, measured, linewidth=2.0, color='0.7', label='measured')
    plot.plot(time, predicted, linewidth=0.8, color='C0', label='model')
    plot.plot(time, predicted - measured, linewidth=0.6, color='C3', label='error')
    plot.tick_params(labelsize=6)
