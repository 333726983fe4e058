# SPDX-License-Identifier: Apache-2.0
"""Picture of the demonstration: tracking errors without and with the additive torque."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from robodyn_ros.analysis.picture import new_figure
from robodyn_ros.cli.demo.analysis import TrackingError


def draw_tracking(
    errors: Mapping[str, TrackingError], units: Mapping[str, str], path: Path
) -> None:
    """Write the picture.

    :param errors: by the name of their torque
    :param units: of the position of each joint
    """
    figure = new_figure(11.0, 1.6 * len(units) + 1.0)
    axes = list(figure.subplots(len(units), 1, sharex=True, squeeze=False)[:, 0])
    for name, error in errors.items():
        for column, (axis, joint) in enumerate(zip(axes, error.joints, strict=True)):
            time, deviation = error.time - error.time[0], 1e3 * error.deviation[:, column]
            axis.plot(time, deviation, lw=0.7, label=f'{name} torque')
            axis.set_ylabel(f'{joint}\n[m{units[joint]}]')
    axes[0].legend(loc='upper right', ncols=2)
    axes[-1].set_xlabel('time [s]')
    figure.suptitle('Tracking error without and with the additive torque')
    figure.savefig(path, dpi=110)
