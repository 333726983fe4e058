# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from collision_events import event

from robodyn_ros.cli.main import main
from robodyn_ros.control.collision.black_box.event_file import write_event


def test_an_event_is_shown_and_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = event(6)
    write_event(made, tmp_path / 'event')
    assert main(['replay', str(tmp_path / 'event')]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith('collision at joint2; model ')
    assert 'equal in every bit' in shown
    assert main(['replay', str(tmp_path / 'event'), '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    error = np.abs(made.rows.results[:, 0]).max(axis=0)
    assert [joint['torque_error'] for joint in facts['joints']] == error.tolist()
    assert facts['equal'] and facts['calls'] == len(made.rows.times)
    page = Path(facts['files']['report'])
    assert page == tmp_path / 'event' / 'event.html'
    text = page.read_text()
    for shown in ('<h1>collision at joint2</h1>', 'verdict neutral', 'equal in every bit',
                  '"torque error"', 'Torque error and threshold of each joint', 'id="plots"',
                  'uPlot', 'robodyn replay'):  # fmt: skip
        assert shown in text, shown
    assert "default-src 'none'" in text.replace('&#39;', "'") and 'src="http' not in text
    assert 'href="http' not in text and '<link' not in text


def test_a_changed_sample_is_a_difference_with_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = event(6)
    samples = made.rows.samples.copy()
    samples[90, 2, 0] *= 1.0 + 1e-12
    write_event(replace(made, rows=replace(made.rows, samples=samples)), tmp_path / 'event')
    out = tmp_path / 'pages'
    assert main(['replay', str(tmp_path / 'event'), '--out', str(out)]) == 1
    assert 'verdict bad' in (out / 'event.html').read_text()
    assert not (tmp_path / 'event' / 'event.html').exists()
    assert 'replay: torque_error of joint1 differs first in call' in capsys.readouterr().out


def test_another_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(['replay', str(tmp_path)]) == 2
    assert 'is no event of the collision monitor' in capsys.readouterr().err
