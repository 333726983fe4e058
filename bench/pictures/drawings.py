"""Pictures that explain a law, a choice or the flow of data: matplotlib."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy import signal

import robodyn_ros as rd
from bench.pictures.places import ROOT, UR10
from robodyn_ros.identification.options import IdentifyOptions
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
    for law in ('linear', 'smooth', 'stribeck', 'power', 'asymmetric', 'polynomial'):
        model = FrictionModel(
            joints=[Joint('joint', 'revolute')], terms=(law,), coefficients=SHAPES
        )
        values = np.array([VALUES.get(term, 0.0) for term in LAWS[law]])
        torque = model.torque(0.0 * speed, speed, 0.0 * speed, values)
        axis.plot(speed, torque, label=law)
    axis.set(xlabel='joint velocity [rad/s]', ylabel='friction torque [Nm]')
    axis.legend(ncols=2)
    axis.grid(alpha=0.3)
    figure.savefig(path, dpi=90)


def cutoff_spectrum(path: Path) -> None:
    """Draw the spectrum of a recorded position, its noise and the cut-off that is chosen."""
    recording = rd.read_recording(UR10)
    time, position = np.asarray(recording.time), np.asarray(recording.position)
    rate = (len(time) - 1) / (time[-1] - time[0])
    noise, cutoff = noise_density(position, rate), automatic_cutoff(position, rate)
    figure, axis = plt.subplots(figsize=(7.5, 4.2), layout='constrained')
    for joint in (0, 2):
        frequency, power = signal.welch(position[:, joint], rate, nperseg=1024)
        line = axis.loglog(frequency[1:], power[1:], label=recording.joints[joint])
        axis.axhline(noise[joint], color=line[0].get_color(), linestyle=':')
    axis.axvline(cutoff, color='black', label=f'cut-off {cutoff:.3g} Hz')
    axis.set(xlabel='frequency [Hz]', ylabel='position [rad$^2$/Hz]; dotted: noise')
    axis.legend()
    figure.savefig(path, dpi=90)


def possible_robot(path: Path) -> None:
    """Draw the masses of the links that are fitted freely and as a possible robot."""
    recording, model = rd.read_recording(UR10), rd.load_model(ROOT / 'urdf' / 'ur10.urdf')
    figure, axis = plt.subplots(figsize=(7.5, 4.2), layout='constrained')
    for shift, consistent, name in ((-0.15, False, 'free'), (0.15, True, 'possible robot')):
        result = rd.identify(recording, model, options=IdentifyOptions(consistent=consistent))
        names = [each.name for each in model.parameters]
        rows = [index for index, each in enumerate(names) if each.endswith('.m')]
        at = np.arange(len(rows)) + shift
        mass, spread = result.values[rows], 1.96 * result.stddevs[rows]
        axis.errorbar(at, mass, spread, fmt='o', capsize=4, label=name)
    axis.axhspan(axis.get_ylim()[0], 0.0, color='tab:red', alpha=0.1, label='no robot')
    axis.set_xticks(range(len(rows)), [names[row].split('.')[0] for row in rows], rotation=20)
    axis.set_ylabel('mass of the link [kg], 95 % interval')
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
        middle = (np.array(BOXES[start]) + np.array(BOXES[end])) / 2 + [0.0, 0.18]
        axis.text(*middle, label, ha='center', fontsize=8)
    axis.set(xlim=(-0.6, 6.8), ylim=(-0.1, 3.5))
    axis.set_axis_off()
    figure.savefig(path, dpi=90)


DRAWINGS = {
    draw.__name__: draw for draw in (friction_laws, cutoff_spectrum, possible_robot, data_flow)
}
