# SPDX-License-Identifier: Apache-2.0
"""The offline commands of the Quickstart run as they stand, on recordings of a simulated robot."""

import pytest
import yaml
from fences import DOCS, commands
from recorded_cell import recorded

from robodyn_ros.cli.main import main

ROBOT = DOCS.parent / 'config' / 'robots' / 'six_axis.yaml'
OFFLINE = [words for words in commands('quickstart.md') if words[0] == 'robodyn']


@pytest.mark.slow
def test_the_commands_of_the_quickstart_succeed_in_their_order(tmp_path, monkeypatch):
    run = tmp_path / 'demo_output' / '2026'
    run.mkdir(parents=True)
    motion = yaml.safe_load(ROBOT.read_text())['excitation']['motion']
    recorded(ROBOT, motion, run / 'excitation')
    back = {'duration': 8.0, 'target': motion['start'], 'start': motion['target']}
    recorded(ROBOT, {**motion, **back}, run / 'tracking_without')
    (tmp_path / 'urdf').symlink_to(DOCS.parent / 'urdf')
    monkeypatch.chdir(tmp_path)
    assert len(OFFLINE) >= 5
    for words in OFFLINE:
        given = [word.replace('$RUN', str(run)) for word in words[1:]]
        if '--time' in given:
            given[given.index('--time') + 1] = '1'  # seconds of search
        assert main(given) == 0, words
    for file in (
        'my_result/report.html',
        'my_comparison/comparison.html',
        'my_motion/motion.html',
    ):
        assert (tmp_path / file).stat().st_size > 10_000
