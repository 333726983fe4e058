"""The demonstration of every robot, with short motions: real nodes, real DDS, all steps."""

import subprocess
import sys

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.srv')
from robodyn_ros.cli.demo import ROBOTS

pytestmark = [pytest.mark.ros, pytest.mark.timeout(300)]


@pytest.mark.parametrize('robot', ROBOTS)
def test_every_step_works_and_every_figure_is_reached(robot, tmp_path):
    command = [sys.executable, '-m', 'robodyn_ros.cli.main', '--debug', 'demo', '--short']
    command += ['--robot', robot, '--out', str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    logs = [f'{path.name}: {path.read_text()}' for path in tmp_path.glob('*/nodes/*.log')]
    assert done.returncode == 0, '\n'.join([done.stdout, done.stderr, *logs])
    assert 'MISSED' not in done.stdout and 'push 1 detected after' in done.stdout
    pictures = {path.name for path in tmp_path.glob('*/*.png')}
    assert pictures == {'validation.png', 'tracking.png'}
