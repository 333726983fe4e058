# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robodyn_ros.analysis.thresholds.healthy_data import (
    Owner,
    owner_of,
    parts_of,
    read_healthy,
    write_part,
)
from robodyn_ros.errors import ControlError

OWNER = Owner(('a', 'b'), 'f' * 64, {'period': 0.01, 'residual': 'filtered'}, (True, False))


def written(folder: Path, owner: Owner = OWNER, session: int = 1, part: int = 1) -> np.ndarray:
    random = np.random.default_rng([session, part])
    signals = random.normal(size=(6, 50, 2))
    signals[5, :20] = np.nan  # the reference moves
    time = 1e9 + 100.0 * session + 0.5 * part + 0.01 * np.arange(50)
    write_part(folder, owner, session, part, time, signals, np.arange(50) == 0)
    return signals


def test_parts_come_back_as_sessions_in_their_order(tmp_path: Path) -> None:
    first = [written(tmp_path, part=part) for part in (2, 1)][::-1]
    written(tmp_path, session=2)
    (tmp_path / 'session_x.npz').write_text('of somebody else')
    owner, found = read_healthy(tmp_path)
    assert owner == OWNER == owner_of(parts_of(tmp_path)[1][0])
    assert [len(session.time) for session, _ in found] == [100, 50]
    session, recording = found[0]
    expected = np.concatenate(first, axis=1)
    np.testing.assert_allclose(session.residual, np.abs(expected[0]), rtol=1e-6)
    np.testing.assert_allclose(session.velocity, expected[1], rtol=1e-6)
    np.testing.assert_allclose(session.acceleration, np.abs(expected[2]), rtol=1e-6)
    np.testing.assert_allclose(recording.position, expected[3], rtol=1e-6)
    np.testing.assert_allclose(recording.torque, expected[4], rtol=1e-6)
    np.testing.assert_allclose(session.change, np.abs(expected[5]), rtol=1e-6)
    assert session.time[0] == 0.0 and session.used.all()
    assert np.flatnonzero(session.started).tolist() == [0, 50]
    assert '1 gaps' in session.notes[0] and not found[1][0].notes


@pytest.mark.parametrize(
    'other', [replace(OWNER, model_hash='0' * 64), replace(OWNER, detector={'period': 0.02})]
)
def test_sessions_of_different_models_or_detectors_are_refused(
    tmp_path: Path, other: Owner
) -> None:
    written(tmp_path)
    written(tmp_path, other, session=2)
    with pytest.raises(ControlError, match='belong to different models, joints or detectors'):
        read_healthy(tmp_path)


@pytest.mark.parametrize('damage', ['cut', 'text', 'nan'])
def test_a_damaged_part_is_refused_with_its_name(tmp_path: Path, damage: str) -> None:
    signals = written(tmp_path)
    path = tmp_path / 'session_001_part_0001.npz'
    if damage == 'cut':
        path.write_bytes(path.read_bytes()[:-200])
    elif damage == 'text':
        path.write_text('nothing')
    else:
        signals[0, 3, 1] = np.nan
        write_part(tmp_path, OWNER, 1, 1, np.arange(50.0), signals, np.zeros(50, dtype=bool))
    with pytest.raises(ControlError, match=r'session_001_part_0001\.npz is no part'):
        read_healthy(tmp_path)


def test_an_empty_folder_has_no_sessions(tmp_path: Path) -> None:
    assert parts_of(tmp_path) == parts_of(tmp_path / 'missing') == {}
    with pytest.raises(ControlError, match='no healthy session'):
        read_healthy(tmp_path)
