# SPDX-License-Identifier: Apache-2.0
"""Pictures of the demonstration: torque and model, and tracking errors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.analysis.picture import new_figure
from robodyn_ros.cli.demo.analysis import TrackingError
from robodyn_ros.identification.fit.torque_errors import predict
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.recording.readers import read_recording


def draw(
    identified: IdentifiedModel, validation: Path, tracking: Mapping[str, TrackingError]
) -> None:
    """Write validation.png and tracking.png into the folder of the demonstration."""
    _draw_validation(identified, validation)
    _draw_tracking(identified, tracking, validation.parent / 'tracking.png')


def _draw_validation(identified: IdentifiedModel, path: Path) -> None:
    recording = read_recording(path, joints=identified.joints)
    signals = process(recording, identified.joints, IdentifyOptions())
    # The sign of the noise of a resting joint would draw its dry friction as a solid band.
    predicted = predict(identified.model, identified.loaded, signals)
    time = recording.period * np.arange(len(signals))
    figure, axes = _axes(len(identified.joints))
    for column, axis in enumerate(axes):
        axis.plot(time, signals.measured[:, column], lw=0.5, label='measured')
        axis.plot(time, predicted[:, column], lw=0.8, label='identified model')
        joint = identified.model.joints[column]
        axis.set_ylabel(f'{joint.name}\n[{joint.torque_unit}]')
    axes[0].legend(loc='upper right', ncols=2)
    axes[-1].set_xlabel('time [s]')
    figure.suptitle('Torque on a motion the model was not identified from')
    figure.savefig(path.parent / 'validation.png', dpi=110)


def _draw_tracking(
    identified: IdentifiedModel, tracking: Mapping[str, TrackingError], path: Path
) -> None:
    units = {joint.name: joint.position_unit for joint in identified.model.joints}
    figure, axes = _axes(len(units))
    for name, error in tracking.items():
        for column, (axis, joint) in enumerate(zip(axes, error.joints, strict=True)):
            time, deviation = error.time - error.time[0], 1e3 * error.deviation[:, column]
            axis.plot(time, deviation, lw=0.7, label=f'{name} torque')
            axis.set_ylabel(f'{joint}\n[m{units[joint]}]')
    axes[0].legend(loc='upper right', ncols=2)
    axes[-1].set_xlabel('time [s]')
    figure.suptitle('Tracking error without and with the additive torque')
    figure.savefig(path, dpi=110)


def _axes(count: int) -> tuple[Any, list[Any]]:
    figure = new_figure(11.0, 1.6 * count + 1.0)
    return figure, list(figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0])
