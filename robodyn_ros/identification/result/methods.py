# SPDX-License-Identifier: Apache-2.0
"""Methods that a fresh identification and a loaded result file have in common."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.result.summary import LINES, summary_text
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import Payload
from robodyn_ros.output_files import write_file

if TYPE_CHECKING:  # slow to load, and nodes need none of it
    from matplotlib.figure import Figure

    from robodyn_ros.recording.recording import Recording


class Result(Protocol):
    """Attributes that the methods use."""

    @property
    def model(self) -> DynamicModel:
        """Model whose parameters are identified."""

    @property
    def values(self) -> Array:
        """Parameter values without payload, shape (p,)."""

    @property
    def carried(self) -> Payload | None:
        """Payload on top of the values, if there is one."""

    @property
    def loaded(self) -> Array:
        """Parameter values with the payload, shape (p,)."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts of the identification, as its file holds them."""

    @property
    def measured(self) -> tuple[Array, Array, Array] | None:
        """Time, measured and model torque that the result has kept, or None."""


class ResultMethods:
    """Summary, torque, URDF and plot of a result."""

    @property
    def loaded(self: Result) -> Array:
        """Parameter values with the payload, shape (p,)."""
        return self.values if self.carried is None else self.values + self.carried.added

    def summary(self: Result, lines: int = LINES) -> str:
        """Return verdict, torque errors per joint and what to do about the findings."""
        return summary_text(self.model, self.facts, self.carried, lines)

    def torque(self: Result, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the joint torques of a motion, with the payload, in [Nm] or [N].

        Torque of gear deflection, which needs encoders on the motors, is not included.

        :param q: positions, shape (N, n), or (n,) for one sample, in [rad] or [m]
        :param qd: velocities, the same shape, in [rad/s] or [m/s]
        :param qdd: accelerations, the same shape, in [rad/s^2] or [m/s^2]
        :return: torques of the same shape
        :raises IdentificationError: the shapes differ, or the number of joints is another one
        """
        motion = [np.asarray(values, dtype=np.float64) for values in (q, qd, qdd)]
        count, shape = len(self.model.joints), motion[0].shape
        if any(values.shape != shape for values in motion) or shape[-1:] != (count,):
            raise IdentificationError(
                f'expected positions, velocities and accelerations of shape (N, {count}) or '
                f'({count},), got {", ".join(str(values.shape) for values in motion)}'
            )
        position, velocity, acceleration = (values.reshape(-1, count) for values in motion)
        torque = self.model.torque(position, velocity, acceleration, self.loaded)
        return torque.reshape(shape)

    def to_urdf(self: Result, path: str | Path | None = None) -> str:
        """Return the robot's URDF with the identified inertias and friction, without payload.

        All else in it stays as it is, see `update_urdf`.

        :param path: file to write it to as well
        :raises IdentificationError: the model is not that of a URDF, the links are not physically
            consistent, or the file cannot be written
        """
        # Imports a solver, which a node that only computes torques does not need.
        from robodyn_ros.identification.result.urdf import update_urdf

        text = update_urdf(self.model, self.values)
        if path is not None:
            write_file(path, lambda file: file.write_text(text, 'utf-8'), IdentificationError)
        return text

    def plot(self: Result, recording: Recording | None = None) -> Figure:
        """Draw measured torque, model torque and their difference over time, one plot per joint.

        In a notebook the figure shows itself; `figure.savefig('torque.png')` writes it.

        :param recording: any recording of the robot, processed as the identified one was;
            None: the identified one, if the result was made with `keep_signals`
        :raises RobodynError: there is no recording, or it cannot be used
        """
        from matplotlib.figure import Figure

        if recording is not None:
            shown = _torques(self, recording)
        elif self.measured is not None:
            shown = self.measured
        else:
            raise IdentificationError(
                'the result holds no signals: give plot a recording, or identify with keep_signals'
            )
        time, measured, predicted = shown
        joints = self.model.joints
        figure = Figure(figsize=(9.0, 0.5 + 1.6 * len(joints)), layout='constrained')
        plots = figure.subplots(len(joints), 1, sharex=True, squeeze=False)[:, 0]
        for column, (joint, plot) in enumerate(zip(joints, plots, strict=True)):
            plot.plot(time, measured[:, column], color='0.6', label='measured')
            plot.plot(time, predicted[:, column], color='C0', linewidth=1.0, label='model')
            error = predicted[:, column] - measured[:, column]
            plot.plot(time, error, color='C3', linewidth=0.8, label='difference')
            plot.set_ylabel(f'{joint.name} [{joint.torque_unit}]')
        plots[0].legend(loc='upper right', ncols=3, fontsize='small')
        plots[-1].set_xlabel('time [s]')
        return figure


def _torques(result: Result, recording: Recording) -> tuple[Array, Array, Array]:
    """Return time, low-passed measured torque and model torque of a recording."""
    from robodyn_ros.identification.fit.torque_errors import predict
    from robodyn_ros.identification.options import IdentifyOptions
    from robodyn_ros.identification.signals.moving_samples import options_for
    from robodyn_ros.identification.signals.processing import process

    cutoff = float(result.facts.get('filter_cutoff', 0.0)) or None
    options = options_for(result.model, IdentifyOptions(filter_cutoff=cutoff))
    signals = process(recording, result.model.joint_names, options)
    return signals.time, signals.torque, predict(result.model, result.loaded, signals)
