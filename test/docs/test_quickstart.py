# SPDX-License-Identifier: Apache-2.0
"""The offline commands of the Quickstart run as they stand, on recordings of a simulated robot."""

import numpy as np
import pytest
import yaml
from fences import DOCS, commands
from writers import write_rosbag

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.cli.main import main
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.excitation.catalog import build_motion
from robodyn_ros.recording.recording import Recording

ROBOT = DOCS.parent / 'config' / 'robots' / 'six_axis.yaml'
OFFLINE = [words for words in commands('quickstart.md') if words[0] == 'robodyn']


def recorded(motion, path):
    """Let the simulated cell follow a motion, and write what its recorder would."""
    cell = RobotCell(CellConfig.from_yaml(ROBOT))
    grid = build_motion({**motion, 'joints': list(cell.joints)}).grid(cell.period)
    zero = np.zeros(len(cell.joints))
    start = cell.plant.initial
    for share in np.linspace(
        0.0, 1.0, round(2.0 / cell.period)
    ):  # to the start, from rest to rest
        blend = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        cell.step(start + blend * (grid.position[0] - start), zero)
    states = [cell.step(position, zero) for position in grid.position]
    signals = {
        name: np.array([getattr(state, name) for state in states])
        for name in ('time', 'position', 'velocity', 'torque')
    }
    signals['time'] -= signals['time'][0]
    declared = EffortDeclaration.from_file(ROBOT).metadata()
    write_rosbag(Recording(joints=cell.joints, **signals), path, metadata=declared)


@pytest.mark.slow
def test_the_commands_of_the_quickstart_succeed_in_their_order(tmp_path, monkeypatch):
    run = tmp_path / 'demo_output' / '2026'
    run.mkdir(parents=True)
    motion = yaml.safe_load(ROBOT.read_text())['excitation']['motion']
    recorded(motion, run / 'excitation')
    recorded({**motion, 'duration': 8.0, 'target': motion['start'], 'start': motion['target']},
             run / 'tracking_without')  # fmt: skip
    (tmp_path / 'urdf').symlink_to(DOCS.parent / 'urdf')
    monkeypatch.chdir(tmp_path)
    assert len(OFFLINE) >= 5
    for words in OFFLINE:
        given = [word.replace('$RUN', str(run)) for word in words[1:]]
        if '--time' in given:
            given[given.index('--time') + 1] = '2'  # seconds of search
        assert main(given) == 0, words
    for file in (
        'my_result/report.html',
        'my_comparison/comparison.html',
        'my_motion/motion.html',
    ):
        assert (tmp_path / file).stat().st_size > 10_000
