# SPDX-License-Identifier: Apache-2.0
"""Pictures that explain a law, a choice or the flow of data: matplotlib."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy import signal

import robodyn_ros as rd
from bench.pictures.places import ROOT, UR10
from robodyn_ros.identification.signals.cutoff import automatic_cutoff, noise_density
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.friction_terms import LAWS
from robodyn_ros.models.interface import Joint

mpl.use('Agg')
import matplotlib.pyplot as plt

SHAPES = {'smoothing': 0.05, 'breakaway_speed': 0.1, 'reach': 1.0}
VALUES = {'viscous': 4.0, 'coulomb': 5.0, 'smooth_coulomb': 5.0, 'quadratic': 1.5, 'root': 3.0,
          'asymmetry': 1.0, 'breakaway': 4.0}  # fmt: skip
"""Shape coefficients in [rad/s] and parameters of the laws that are drawn, SI."""


def friction_laws(path: Path) -> None:
    """Draw the torque of some friction laws over velocity."""
    speed = np.linspace(-1.0, 1.0, 801)[:, None]
    figure, axis = plt.subplots(figsize=(7.5, 4.2), layout='constrained')
    for law in ('stribeck', 'linear', 'power', 'asymmetric', 'polynomial', 'smooth'):
        model = FrictionModel(
            joints=[Joint('joint', 'revolute')], terms=(law,), coefficients=SHAPES
        )
        values = np.array([VALUES.get(term, 0.0) for term in LAWS[law]])
        torque = model.torque(0.0 * speed, speed, 0.0 * speed, values)
        axis.plot(speed, torque, '--' if law == 'smooth' else '-', label=law)
    axis.set(xlabel='joint velocity [rad/s]', ylabel='friction torque [Nm]')
    axis.legend(ncols=2)
    axis.grid(alpha=0.3)
    figure.savefig(path, dpi=90)


def cutoff_spectrum(path: Path) -> None:
    """Draw the spectrum of a recorded acceleration, its noise and the cut-off that is chosen."""
    columns = ROOT / 'config' / 'recordings' / 'emps.yaml'
    recording = rd.read_recording(UR10.parent / 'emps' / 'DATA_EMPS.mat', columns=columns)
    time, position = np.asarray(recording.time), np.asarray(recording.position)
    rate = (len(time) - 1) / (time[-1] - time[0])
    noise, cutoff = noise_density(position, rate), automatic_cutoff(position, rate)
    figure, axis = plt.subplots(figsize=(7.5, 4.2), layout='constrained')
    for joint in range(position.shape[1]):
        acceleration = np.diff(position[:, joint], 2) * rate**2
        frequency, power = signal.welch(acceleration, rate, nperseg=1024)
        line = axis.loglog(frequency[1:], power[1:], label=recording.joints[joint])
        passed = noise[joint] * (2.0 * rate * np.sin(np.pi * frequency[1:] / rate)) ** 4
        axis.loglog(frequency[1:], passed, ':', color=line[0].get_color())
    axis.axvline(cutoff, color='black', label=f'cut-off {cutoff:.3g} Hz')
    axis.set(xlabel='frequency [Hz]', ylabel='acceleration [(m/s$^2$)$^2$/Hz]; dotted: noise')
    axis.legend()
    figure.savefig(path, dpi=90)


BOXES = {
    'excitation': (0.5, 3.0), 'robot cell': (3.0, 3.0), 'recorder': (5.5, 3.0),
    'identification': (5.5, 1.7), 'result.yaml': (3.0, 1.7), 'feed-forward': (1.2, 0.4),
    'collision monitor': (4.8, 0.4),
}  # fmt: skip
ARROWS = (
    ('excitation', 'robot cell', 'trajectory'), ('robot cell', 'recorder', 'joint states'),
    ('recorder', 'identification', 'recording'), ('identification', 'result.yaml', ''),
    ('result.yaml', 'feed-forward', 'model'), ('result.yaml', 'collision monitor', 'model'),
)  # fmt: skip


def data_flow(path: Path) -> None:
    """Draw the nodes of the suite and the data between them."""
    figure, axis = plt.subplots(figsize=(7.5, 3.8), layout='constrained')
    style = {'boxstyle': 'round,pad=0.5', 'facecolor': '#dbe9f6', 'edgecolor': '#30618c'}
    texts = {
        name: axis.text(*at, name, ha='center', va='center', bbox=style)
        for name, at in BOXES.items()
    }
    for start, end, label in ARROWS:
        patches = {'patchA': texts[start].get_bbox_patch(), 'patchB': texts[end].get_bbox_patch()}
        arrow = {'arrowstyle': '->', 'shrinkA': 3, 'shrinkB': 3, **patches}
        axis.annotate('', BOXES[end], BOXES[start], arrowprops=arrow)
        middle = (np.array(BOXES[start]) + np.array(BOXES[end])) / 2 + [0.3, 0.16]
        axis.text(*middle, label, ha='center', fontsize=8)
    axis.set(xlim=(-0.6, 6.8), ylim=(-0.1, 3.5))
    axis.set_axis_off()
    figure.savefig(path, dpi=90)


DRAWINGS = {draw.__name__: draw for draw in (friction_laws, cutoff_spectrum, data_flow)}
