# SPDX-License-Identifier: Apache-2.0
"""Commands of the Quickstart and of pages about your robot that need no ROS run as they are.

A driver's description of its robot is replaced by that of the robot that stands for it.

`ros2` is not on PyPI. `test_commands_of_pages.py` checks its lines, and
`test/launch/test_robot_pages.py` runs them on drivers with the names, units and gravity of each
page, where there is a ROS 2.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from fences import DOCS, commands
from real_machines import data_folder
from recorded_cell import recorded
from robots import SINGLE_AXIS
from servo_arm import servo_arm

from bench.first_day.kinds import KINDS, PACKAGE
from robodyn_ros.cli.main import main

ROBOT = DOCS.parent / 'config' / 'robots' / 'six_axis.yaml'
pytestmark = pytest.mark.slow


def run(page):
    """Run every command of a page, in its order."""
    offline = [words for words in commands(page) if words[0] == 'robodyn']
    for words in offline:
        assert main(words[1:]) == 0, words
    return len(offline)


def one_file(robot, motion, name):
    """Record a motion of a simulated robot as the single file that the page names."""
    recorded(robot, motion, f'bag_of_{name}')
    shutil.copy(next(Path(f'bag_of_{name}').glob('*.mcap')), name)


def test_the_quickstart(tmp_path, monkeypatch):
    run = tmp_path / 'demo_output' / '2026'
    run.mkdir(parents=True)
    motion = yaml.safe_load(ROBOT.read_text())['excitation']['motion']
    recorded(ROBOT, motion, run / 'excitation')
    back = {**motion, 'duration': 8.0, 'target': motion['start'], 'start': motion['target']}
    recorded(ROBOT, back, run / 'tracking_without')
    (tmp_path / 'urdf').symlink_to(DOCS.parent / 'urdf')
    monkeypatch.chdir(tmp_path)
    offline = [words for words in commands('quickstart.md') if words[0] == 'robodyn']
    assert len(offline) >= 5
    for words in offline:
        given = [word.replace('$RUN', str(run)) for word in words[1:]]
        if '--time' in given:
            given[given.index('--time') + 1] = '1'  # seconds of search
            given += ['--processes', '0']
        assert main(given) == 0, words
    for file in (
        'my_result/report.html',
        'my_comparison/comparison.html',
        'my_motion/motion.html',
    ):
        assert (tmp_path / file).stat().st_size > 10_000


def test_the_page_about_your_robot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = yaml.safe_load(ROBOT.read_text())
    content['urdf'] = str((ROBOT.parent / content['urdf']).resolve())
    (tmp_path / 'my_robot.yaml').write_text(yaml.safe_dump(content))
    content['cell']['servo_period'] = 0.005  # thresholds need 100 s
    (tmp_path / 'at_200_hz.yaml').write_text(yaml.safe_dump(content))
    motion = content['excitation']['motion']
    back = {**motion, 'duration': 8.0, 'target': motion['start'], 'start': motion['target']}
    one_file(ROBOT, motion, 'motion.mcap')
    one_file(ROBOT, back, 'other_motion.mcap')
    one_file(tmp_path / 'at_200_hz.yaml', {**motion, 'duration': 100.0}, 'healthy1.mcap')
    one_file(tmp_path / 'at_200_hz.yaml', back, 'healthy2.mcap')
    shutil.copytree('bag_of_motion.mcap', 'my_recording')
    assert run('bring_your_own_robot.md') >= 3
    assert (tmp_path / 'result' / 'report.html').exists()
    assert (tmp_path / 'thresholds.yaml').exists()


def test_the_page_about_a_single_axis(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in data_folder('emps').iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / 'config').symlink_to(DOCS.parent / 'config')
    text = SINGLE_AXIS.read_text().replace('name="joint1"', 'name="axis"')
    (tmp_path / 'my_axis.urdf').write_text(text)
    assert run('robots/single_axis.md') >= 2
    assert (tmp_path / 'DIR' / 'result.yaml').exists()


def test_the_page_about_hobby_arms(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plant = servo_arm(101)
    (tmp_path / 'arm.urdf').write_text(plant.xml)
    for name, mass, seed in (('empty', 0.0, 101), ('loaded', 0.2, 101), ('other', 0.0, 5)):
        run_ = plant.record(mass, seed=seed)
        np.savez(f'{name}.npz', t=run_.time, q=run_.position, action=run_.command)
    assert run('robots/hobby_arm.md') == 2
    assert '<position' in (tmp_path / 'DIR/robot.xml').read_text()


@pytest.mark.parametrize(
    ('name', 'page'), [('ur', 'ur'), ('franka', 'franka'), ('lbr', 'kuka_lbr')]
)
def test_the_pages_of_drivers_design_and_check_a_motion(name, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kind = KINDS[name]
    urdf, _ = kind.plant(tmp_path)
    robot = yaml.safe_load((PACKAGE / f'{kind.motion or kind.robot}.yaml').read_text())
    joints = yaml.safe_load((PACKAGE / f'{kind.robot}.yaml').read_text())['limits']
    motion = {'joints': list(joints), **robot['excitation']['motion']}
    (tmp_path / 'motion.yaml').write_text(yaml.safe_dump(motion))
    (words,) = (words for words in commands(f'robots/{page}.md') if words[0] == 'robodyn')
    assert words[-2] == '--urdf' and words[-1].startswith('package://')
    short = ['--time', '1', '--processes', '0'] if words[1] == 'excite' else []
    assert main([*words[1:-1], str(urdf), *short]) == 0
