# SPDX-License-Identifier: Apache-2.0
"""Splits of the real machines in ROBODYN_DATA: a model, a recording to fit, one to validate."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.friction_terms import AUTO
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import split_motion

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get('ROBODYN_DATA', ROOT.parent / 'shared/data'))

AXIS = """<robot name="emps"><link name="base"/><link name="cart"/><joint name="axis"
type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/><limit lower="-1"
upper="1" effort="200" velocity="1"/></joint></robot>"""

Pair = tuple[Recording, Recording]


@dataclass(frozen=True)
class Split:
    """A machine, its recordings, and the joints that no model of its URDF explains.

    :param unusable: joints whose verdict is 'not usable' on clean recordings
    :param turned: joints whose torque has the wrong sign as published; flaws are planted in the
        recordings with their sign corrected
    """

    name: str
    model: Callable[[], DynamicModel]
    read: Callable[[DynamicModel], Pair]
    unusable: tuple[int, ...] = ()
    turned: tuple[int, ...] = ()

    def corrected(self, recording: Recording) -> Recording:
        """Return a recording of the machine with the signs of its torques corrected."""
        sign = np.where(np.isin(np.arange(len(recording.joints)), self.turned), -1.0, 1.0)
        return replace(recording, torque=recording.torque * sign)


def serial(urdf: str | Path) -> DynamicModel:
    """Return the model that `robodyn identify --urdf` builds."""
    return robot_model(urdf, friction=[AUTO])


def _files(folder: str, fit: str, test: str, model: DynamicModel) -> Pair:
    one, other = (
        read_recording(DATA / folder / f'{name}.npz', joints=model.joint_names)
        for name in (fit, test)
    )
    return one, other


def _part(path: str, share: float, model: DynamicModel) -> Pair:
    return split_motion(read_recording(DATA / path, joints=model.joint_names), share)


def _emps(model: DynamicModel) -> Pair:
    pair = []
    for name in ('DATA_EMPS', 'DATA_EMPS_PULSES'):
        data = loadmat(DATA / 'emps' / f'{name}.mat')
        force = float(np.squeeze(data['gtau'])) * data['vir'].reshape(-1, 1)
        position = data['qm'].reshape(-1, 1)
        pair.append(Recording(data['t'].ravel(), model.joint_names, position, force, source=name))
    return pair[0], pair[1]


def _npz(name: str, folder: str, fit: str, test: str, **facts: tuple[int, ...]) -> Split:
    urdf = next((DATA / folder).glob('*.urdf'), DATA / folder / 'robot.urdf')
    return Split(name, partial(serial, urdf), partial(_files, folder, fit, test), **facts)


def splits() -> tuple[Split, ...]:
    """Return one split of each of the eleven machines."""
    robots = DATA / 'robots'
    return (
        _npz('lwr4', 'kuka_lwr4', 'measurements_1', 'measurements_2'),
        Split('ur10', lambda: serial(ROOT / 'urdf/ur10.urdf'), partial(_part, 'ur10', 0.7)),
        Split('emps', lambda: serial(AXIS), _emps),
        _npz('airbot', 'robots/airbot_play', 'chirp', 'trapezoid'),
        _npz('airbot_2', 'robots/airbot_play_2', 'motion_5', 'motion_8'),
        _npz('shanghai', 'robots/shanghai_6r', 'motion_2', 'motion_1', turned=(5,)),
        _npz('kr300', 'robots/kr300', 'A', 'B'),
        Split(
            'tx40',
            lambda: serial(robots / 'tx40/robot.urdf'),
            partial(_part, 'robots/tx40/motion.npz', 0.6),
            (4, 5),
        ),
        Split(
            'wam',
            lambda: serial(robots / 'wam/robot.urdf'),
            partial(_part, 'robots/wam/motion.npz', 0.7),
        ),
        _npz('hej90', 'robots/maxon_hej90', 'tms_42', 'tms_54', unusable=(0,)),
        _npz('xl330', 'robots/xl330', 'steps_800', 'updown_400'),
    )
