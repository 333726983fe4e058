"""Pictures of the demonstration: torque against the model, and following errors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.cli.demo.analysis import Span, following_errors
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.recording.readers import read_recording


def draw(
    identified: IdentifiedModel, validation: Path, *, tracking: Mapping[str, Span], delay: float
) -> None:
    """Write validation.png and tracking.png into the folder of the demonstration.

    :param validation: recording of another motion, in that folder
    :param tracking: stamps of the motions recorded as tracking_NAME
    :param delay: from the reference to the drives' set-point, in [s]
    """
    _draw_validation(identified, validation)
    units = {joint.name: f'm{joint.position_unit}' for joint in identified.model.joints}
    _draw_tracking(validation.parent, tracking, delay, units)


def _draw_validation(identified: IdentifiedModel, path: Path) -> None:
    recording = read_recording(path, joints=identified.joints)
    signals = process(recording, identified.joints, IdentifyOptions())
    predicted = identified.torque(*signals.motion)
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
    folder: Path, spans: Mapping[str, Span], delay: float, units: Mapping[str, str]
) -> None:
    figure: Any = None
    axes: list[Any] = []
    for name, span in spans.items():
        time, error, joints = following_errors(
            folder / f'tracking_{name}_reference',
            folder / f'tracking_{name}_plant',
            span,
            delay=delay,
        )
        if figure is None:
            figure, axes = _axes(len(joints))
        for column, axis in enumerate(axes):
            axis.plot(time - time[0], 1e3 * error[:, column], lw=0.7, label=f'{name} torque')
            axis.set_ylabel(f'{joints[column]}\n[{units[joints[column]]}]')
    axes[0].legend(loc='upper right', ncols=2)
    axes[-1].set_xlabel('time [s]')
    figure.suptitle('Following error without and with the additive torque')
    figure.savefig(folder / 'tracking.png', dpi=110)


def _axes(count: int) -> tuple[Any, list[Any]]:
    # without pyplot: no display, no global state
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 1.6 * count + 1), layout='constrained')
    return figure, list(figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0])
