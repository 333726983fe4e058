# SPDX-License-Identifier: Apache-2.0
"""The path of a user: thresholds from healthy recordings, collisions in another one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from bags import JOINT_STATE, TYPES, cdr, message
from healthy_arm import MODEL, VALUES, recorded
from rosbags.rosbag2 import StoragePlugin, Writer

from robodyn_ros.cli.main import main
from robodyn_ros.control.collision.thresholds_file import read_thresholds
from robodyn_ros.identification.files.result_file import (
    load_identified_model,
    model_parameters,
    parameter_text,
)
from robodyn_ros.identification.result.payload_block import payload_block
from robodyn_ros.models.payload import payload_of


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('thresholds')
    for name, values in (('result', VALUES), ('other', 1.01 * VALUES)):
        block = model_parameters(MODEL, values, np.zeros_like(values))
        (folder / f'{name}.yaml').write_text(parameter_text({'dynamic_model': block}))
    block = model_parameters(MODEL, VALUES, np.zeros_like(VALUES))
    carried = {'dynamic_model': block, 'payload': payload_block(payload_of(MODEL, 0.1))}
    (folder / 'loaded.yaml').write_text(parameter_text(carried))
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
    command = ['thresholds', '--model', str(folder / 'result.yaml'), *options]
    return main([*command, '--out', str(folder / 'thresholds.yaml'), '--', *recordings])


def test_collisions_are_found_with_learned_thresholds(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True, raising=False)
    assert learn(folder, '--json') == 0
    answer = capsys.readouterr()
    assert 'monitoring' in answer.err and 'learning' in answer.err
    facts = json.loads(answer.out)
    assert facts['false_alarms_per_hour'] == 21.0 and facts['sessions'] == 3
    assert facts['false_alarms_per_hour_at_most'] > facts['false_alarms_per_hour']
    assert [each['rate'] for each in facts['prices']] == [100.0, 30.0, 21.0, 10.0, 3.0, 1.0]
    forces = [each['force'] for each in facts['prices']][:3]
    assert 0.0 < forces[0] < forces[1] < forces[2] < 100.0
    assert facts['prices'][-1]['minutes'] == pytest.approx(60.0 * (1.0 - facts['hours']))
    assert 'healthy1.npz: 249 of 6000 samples left out: the torque of a joint' in answer.err
    assert 'as contact' not in answer.err
    learned = read_thresholds(folder / 'thresholds.yaml')
    assert learned.detector['period'] == 0.01
    assert learned.model_hash == load_identified_model(folder / 'result.yaml').hash
    command = ['collisions', str(folder / 'touched.npz'), '--thresholds',
               str(folder / 'thresholds.yaml'), '--model']  # fmt: skip
    table = folder / 'events.csv'
    assert main([*command, str(folder / 'result.yaml'), '--out', str(table)]) == 0
    assert '2 events in 0.333 min' in capsys.readouterr().out
    rows = [line.split(',') for line in table.read_text().splitlines()]
    assert [row[3:5] for row in rows[1:]] == [['COLLISION', 'joint2']] * 2
    for row, start in zip(rows[1:], (15.0, 20.0), strict=True):
        assert start <= float(row[0]) < start + 0.1
    assert main([*command[:2], '--model', str(folder / 'result.yaml')]) == 2
    assert 'error: --thresholds is missing: a recording needs' in capsys.readouterr().err
    for other in ('other', 'loaded'):
        assert main([*command, str(folder / f'{other}.yaml')]) == 2
        assert 'were learned with another model or payload' in capsys.readouterr().err
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


def bag(path: Path, seed: int, push: float = 0.0, commanded: tuple[str, ...] = ()) -> Path:
    """Joint states and the reference that they follow: half of the time at rest, with stiction.

    :param push: torque on joint 2 in the middle of the rests, in [Nm]
    :param commanded: joints of the reference; empty: all
    """
    random, start = np.random.default_rng(seed), 1_700_000_000 * 10**9
    time = 0.01 * np.arange(6000)
    moved = np.sin(np.minimum(time % 8.0, 4.0) * np.pi / 4.0).clip(0.0) ** 4
    reference = moved[:, None] * [0.9, -0.7]
    q = reference + 1e-6 * random.normal(size=reference.shape)
    qd = np.gradient(reference, 0.01, axis=0)
    qdd = np.gradient(qd, 0.01, axis=0)
    torque = MODEL.torque(q, qd, qdd, VALUES) + 0.02 * random.normal(size=q.shape)
    rests = (time % 8.0 > 4.0)[:, None]  # with another torque of stiction each time
    torque += rests * random.choice([-1.0, 1.0], size=(8, 2))[(time // 8.0).astype(int)]
    torque[(time % 8.0 > 6.0) & (time % 8.0 < 6.3), 1] -= push
    joints, none = MODEL.joint_names, np.zeros(0)
    named = commanded or joints
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, rows in (
            ('/joint_states', zip(q, qd, torque, strict=True)),
            ('/mover/reference', ((row[: len(named)], none, none) for row in reference)),
        ):  # fmt: skip
            names = joints if topic == '/joint_states' else named
            link = writer.add_connection(topic, JOINT_STATE, typestore=TYPES)
            for stamp, row in zip(start + (1e9 * time).astype(int), rows, strict=True):
                writer.write(link, int(stamp), cdr(message(int(stamp), names, *row)))
    return path


def test_a_push_at_rest_is_found_where_the_bag_has_the_reference(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    healthy = [str(bag(tmp_path / f'healthy{seed}', seed)) for seed in range(3)]
    touched = str(bag(tmp_path / 'touched', 9, push=0.8))
    model = ['--model', str(folder / 'result.yaml'), '--effort', 'Nm']
    out = str(tmp_path / 'thresholds.yaml')
    assert main(['thresholds', *healthy, *model, '--out', out, '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    joint = facts['joints'][1]
    assert facts['rest_learned'] and joint['at rest'] < 0.5 < joint['standstill']
    found = ['collisions', touched, *model, '--thresholds', out, '--json']
    assert main(found) == 0
    events = json.loads(capsys.readouterr().out)['events']
    assert len(events) == 7 and {each['joint'] for each in events} == {'joint2'}
    assert main([*found, '--command', '/joint_states']) == 2
    assert '/joint_states has the measured positions' in capsys.readouterr().err
    assert main([*found, '--command', '/nothing']) == 2
    assert '/nothing has no commanded positions; /mover/reference has' in capsys.readouterr().err


def test_the_reference_of_something_else_is_none(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    healthy = [str(bag(tmp_path / f'{seed}', seed, commanded=('gripper',))) for seed in (0, 1)]
    command = ['thresholds', *healthy, '--model', str(folder / 'result.yaml'), '--effort', 'Nm',
               '--out', str(tmp_path / 'thresholds.yaml')]  # fmt: skip
    assert main(command) == 0
    assert 'not learned: the recordings have no commanded positions that rest' in (
        capsys.readouterr().out
    )
    assert main([*command, '--command', '/mover/reference']) == 2
    assert 'has no commanded positions of' in capsys.readouterr().err


def test_a_recording_given_twice_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = [str(folder / 'healthy0.npz')] * 2
    command = ['thresholds', *twice, '--model', str(folder / 'result.yaml')]
    assert main([*command, '--out', str(folder / 'x.yaml')]) == 2
    assert 'are the same recording' in capsys.readouterr().err
