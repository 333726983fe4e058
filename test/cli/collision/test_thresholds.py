# SPDX-License-Identifier: Apache-2.0
"""The path of a user: thresholds from healthy recordings, collisions in another one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from healthy_arm import MODEL, VALUES, recorded

from robodyn_ros.cli.main import main
from robodyn_ros.control.collision.thresholds_file import read_thresholds
from robodyn_ros.identification.files.parameter_text import parameter_text
from robodyn_ros.identification.files.result_file import load_identified_model, model_parameters


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('thresholds')
    for name, values in (('result', VALUES), ('other', 1.01 * VALUES)):
        block = model_parameters(MODEL, values, np.zeros_like(values))
        (folder / f'{name}.yaml').write_text(parameter_text({'dynamic_model': block}))
    for seed in range(3):
        save(folder / f'healthy{seed}.npz', 60.0, seed)
    save(folder / 'touched.npz', 20.0, 9, {15.0: 3.0, 20.0: -20.0})
    return folder


def save(path: Path, seconds: float, seed: int, pushes: dict[float, float] | None = None) -> None:
    data = recorded(seconds, seed, pushes)
    torque = data.torque.copy()
    if seed == 1:
        torque[1000:1200, 0] = 0.0  # drives off
    np.savez(path, time=data.time, position=data.position, velocity=data.velocity, torque=torque,
             joints=data.joints)  # fmt: skip


def learn(folder: Path, *options: str) -> int:
    recordings = [str(folder / f'healthy{seed}.npz') for seed in range(3)]
    return main(['thresholds', *recordings, '--model', str(folder / 'result.yaml'),
                 '--out', str(folder / 'thresholds.yaml'), *options])  # fmt: skip


@pytest.mark.parametrize('residual', ['filtered', 'observer'])
def test_collisions_are_found_with_learned_thresholds(
    folder: Path, capsys: pytest.CaptureFixture[str], residual: str
) -> None:
    assert learn(folder, '--residual', residual, '--json') == 0
    answer = capsys.readouterr()
    facts = json.loads(answer.out)
    assert facts['alarms'] == 0
    assert facts['false_alarms_per_hour_at_most'] == pytest.approx(3.0 / facts['hours'], rel=0.01)
    assert 'healthy1.npz: 249 of 6000 samples left out: the torque of a joint' in answer.err
    assert 'as contact' not in answer.err
    learned = read_thresholds(folder / 'thresholds.yaml')
    assert learned.detector['residual'] == residual and learned.detector['period'] == 0.01
    assert learned.model_hash == load_identified_model(folder / 'result.yaml').hash
    command = ['collisions', str(folder / 'touched.npz'), '--thresholds',
               str(folder / 'thresholds.yaml'), '--model']  # fmt: skip
    table = folder / 'events.csv'
    assert main([*command, str(folder / 'result.yaml'), '--out', str(table)]) == 0
    assert '2 events in 0.333 min' in capsys.readouterr().out
    rows = [line.split(',') for line in table.read_text().splitlines()]
    assert [row[3:5] for row in rows[1:]] == [['COLLISION', 'joint2']] * 2
    for row, start in zip(rows[1:], (15.0, 20.0), strict=True):
        assert start < float(row[0]) < start + 0.1
    assert main([*command, str(folder / 'other.yaml')]) == 2
    assert 'the thresholds were learned with another model' in capsys.readouterr().err
    assert main([*command, str(folder / 'result.yaml'), '--sensitivity', '3']) == 2
    assert 'sensitivity must be from 0.5 to 2.0, got 3.0' in capsys.readouterr().err


def test_recordings_of_another_rate_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert learn(folder) == 0
    data = recorded(20.0, 9)
    np.savez(folder / 'fast.npz', time=0.1 * data.time, position=data.position,
             velocity=data.velocity, torque=data.torque, joints=data.joints)  # fmt: skip
    capsys.readouterr()
    command = ['--model', str(folder / 'result.yaml')]
    thresholds = ['--thresholds', str(folder / 'thresholds.yaml')]
    assert main(['collisions', str(folder / 'fast.npz'), *command, *thresholds]) == 2
    assert '1000 samples per second, the thresholds were learned with 100' in (
        capsys.readouterr().err
    )
    both = [str(folder / 'fast.npz'), str(folder / 'healthy0.npz')]
    assert main(['thresholds', *both, *command, '--out', str(folder / 'x.yaml')]) == 2
    assert '100 to 1000 samples per second' in capsys.readouterr().err
    assert not (folder / 'x.yaml').exists()
