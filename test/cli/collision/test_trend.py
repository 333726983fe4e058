# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from collision_events import event

from robodyn_ros.cli.main import main
from robodyn_ros.control.collision.black_box.event_file import write_event
from robodyn_ros.control.collision.black_box.reported import Health, Reported


def test_the_health_over_events_is_shown_with_one_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = event(6)
    for day, share in ((1, 0.2), (8, 0.3), (15, 0.45)):
        health = Health('FRICTION', share, 'joint2', f'friction takes {share}')
        path = tmp_path / 'box' / f'event_202611{day:02}_080000'
        path.parent.mkdir(exist_ok=True)
        write_event(replace(made, reported=Reported(health)), path)
    out = tmp_path / 'health.csv'
    assert main(['collisions', str(tmp_path / 'box'), '--out', str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ['event', 'cause', 'joint', 'share', 'health']
    assert lines[1].split()[:4] == ['event_20261101_080000', 'FRICTION', 'joint2', '0.20']
    assert lines[-1].startswith('re-identify: ') and '20% of the threshold at first' in lines[-1]
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert [row['share'] for row in rows] == ['0.20', '0.30', '0.45']
    assert main(['collisions', str(tmp_path / 'box'), '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts['events'] == rows and facts['hint'] == lines[-1] and facts['notes'] == []


def test_a_folder_without_readable_events_and_a_recording_without_model_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['collisions', str(tmp_path)]) == 2
    assert (
        'error: --model and --thresholds are missing: a recording needs' in capsys.readouterr().err
    )
    (tmp_path / 'event_20260401_080000').mkdir()
    (tmp_path / 'event_20260401_080000' / 'event_0.mcap').write_bytes(b'no bag')
    assert main(['collisions', str(tmp_path)]) == 2
    assert 'none of its 1 events can be read' in capsys.readouterr().err
