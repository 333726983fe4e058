# SPDX-License-Identifier: Apache-2.0
"""Recordings of real machines in ROBODYN_DATA; tests that need them are skipped without."""

from pathlib import Path

import pytest
from robots import DATA
from scipy.io import loadmat

from robodyn_ros.recording.recording import Recording

EMPS_URDF = """<robot name="emps"><link name="base"/><link name="cart"/><joint name="axis"
type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/><limit lower="-1"
upper="1" effort="200" velocity="1"/></joint></robot>"""


def data_folder(name: str) -> Path:
    """Return the folder of a machine."""
    if not (DATA / name).is_dir():
        pytest.skip(f'{DATA / name} is not there; set ROBODYN_DATA')
    return DATA / name


def emps() -> Recording:
    """Return the excitation of the EMPS axis."""
    data = loadmat(data_folder('emps') / 'DATA_EMPS.mat')
    force = data['gtau'].item() * data['vir']
    return Recording(data['t'].ravel(), ('axis',), data['qm'], force)
