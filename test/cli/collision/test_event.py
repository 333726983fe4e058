# SPDX-License-Identifier: Apache-2.0
"""Events of the black box: the list, and the replay by the ordinary reader and detector."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from collision_event import PUSHED, write_collision
from healthy_arm import MODEL, VALUES

from robodyn_ros.cli.main import main
from robodyn_ros.control.collision.event_bag import SETTINGS
from robodyn_ros.identification.files.result_file import model_parameters, parameter_text


@pytest.fixture
def event(tmp_path: Path) -> Path:
    for name, values in (('result', VALUES), ('other', 1.01 * VALUES)):
        block = model_parameters(MODEL, values, np.zeros_like(values))
        (tmp_path / f'{name}.yaml').write_text(parameter_text({'dynamic_model': block}))
    return write_collision(tmp_path / 'events', tmp_path / 'result.yaml')


def test_an_event_is_listed_and_its_replay_finds_the_collision(
    event: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (write_collision(event.parent, event.parents[1] / 'result.yaml') / SETTINGS).write_text('x')
    assert main(['collisions', str(event.parent)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].startswith(event.name) and shown[1].endswith('collision at joint2')
    assert 'settings of the event are damaged' in shown[2]

    table = event.parent / 'found.csv'
    assert main(['collisions', str(event), '--json', '--out', str(table)]) == 0
    facts = json.loads(capsys.readouterr().out)
    (found,) = facts['events']
    assert (found['level'], found['joint']) == ('COLLISION', 'joint2')
    assert PUSHED < float(found['time']) < PUSHED + 0.1
    assert table.read_text().count('COLLISION') == 1


def test_an_event_has_its_own_model_and_settings(
    event: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = str(event.parents[1] / 'other.yaml')
    assert main(['collisions', str(event), '--model', other]) == 2
    assert 'has another model (hash ' in capsys.readouterr().err
    path = event / SETTINGS
    content = yaml.safe_load(path.read_text())
    content['parameters']['sensitivity'] = 0.5
    content['parameters']['max_torque_error'] = [40.0, 40.0]
    path.write_text(yaml.dump(content))
    assert main(['collisions', str(event), '--json']) == 0
    assert not json.loads(capsys.readouterr().out)['events']
    for damage in ({'values': [1.0]}, {'parameters': {}}, {'result_file': ''}):
        path.write_text(yaml.dump({**content, **damage}))
        assert main(['collisions', str(event)]) == 2
        assert str(event) in capsys.readouterr().err
