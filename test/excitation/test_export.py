# SPDX-License-Identifier: Apache-2.0
"""Motions as files."""

import csv
from pathlib import Path

import numpy as np
import pytest
from motions import JOINTS, limits, random_fourier

from robodyn_ros.excitation import export
from robodyn_ros.excitation.catalog import load_motion
from robodyn_ros.excitation.export import export_motion

MOTION = random_fourier(3)


def check_table(path):
    with Path(path).open() as file:
        header, *rows = list(csv.reader(file))
    assert header == ['t'] + [f'{kind}_{name}' for name in JOINTS for kind in ('q', 'qd', 'qdd')]
    values = np.array(rows, dtype=float)
    motion = MOTION.sample(values[:, 0])
    assert values[-1, 0] == pytest.approx(MOTION.duration)
    assert np.diff(values[:, 0]).max() <= 0.01 + 1e-12
    np.testing.assert_allclose(values[:, 1::3], motion.position, atol=1e-10)
    np.testing.assert_allclose(values[:, 2::3], motion.velocity, atol=1e-10)
    np.testing.assert_allclose(values[:, 3::3], motion.acceleration, atol=1e-10)


def test_folder_with_all_files_and_nothing_else(tmp_path):
    folder = tmp_path / 'new' / 'motion'
    endless = limits(position=np.inf, velocity=np.inf, acceleration=np.inf)
    files = export_motion(MOTION, folder, limits=endless)
    assert set(files) == {'trajectory', 'table', 'joints'}
    assert {str(path) for path in folder.iterdir()} == set(files.values())
    assert load_motion(files['trajectory']).describe() == MOTION.describe()
    check_table(files['table'])
    more = export_motion(
        MOTION, folder, limits=limits(), points=lambda q: np.stack([q, 2.0 * q], axis=1)
    )
    assert set(more) == {*files, 'path'} and len(list(folder.iterdir())) == 4
    for kind in ('joints', 'path'):
        with Path(more[kind]).open('rb') as file:
            assert file.read(8) == b'\x89PNG\r\n\x1a\n'


def test_an_export_that_fails_leaves_the_motion_before_it(tmp_path, monkeypatch):
    endless = limits(position=np.inf, velocity=np.inf, acceleration=np.inf)
    points = lambda q: np.stack([q, 2.0 * q], axis=1)  # noqa: E731
    export_motion(MOTION, tmp_path, limits=endless, points=points)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(export, '_draw_joints', fail)
        export_motion(random_fourier(4), tmp_path, limits=endless, points=points)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    export_motion(random_fourier(4), tmp_path, limits=endless)
    assert {path.name for path in tmp_path.iterdir()} == set(before) - {'path.png'}
