# SPDX-License-Identifier: Apache-2.0
"""The demonstration with short motions: real nodes, real DDS, all steps."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.srv')

ROBOT = 'scara'
"""With a linear joint; the arm of six axes is in test/docs/test_tool_files_in_a_demo.py."""

pytestmark = [pytest.mark.ros, pytest.mark.timeout(600)]


def run(command):
    """Exit code and output; an interrupted test lets the demonstration stop its nodes."""
    pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}
    process = subprocess.Popen(command, text=True, start_new_session=True, **pipes)
    try:
        output, _ = process.communicate(timeout=560.0)
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20.0)
        raise
    return process.returncode, output


def test_every_step_works_and_every_figure_is_reached(tmp_path):
    command = [sys.executable, '-m', 'robodyn_ros.cli.main', '--debug', 'demo', '--short']
    command += ['--robot', ROBOT, '--out', str(tmp_path)]
    code, output = run(command)
    logs = [f'{path.name}: {path.read_text()}' for path in tmp_path.glob('*/nodes/*.log')]
    assert code == 0, '\n'.join([output, *logs])
    assert 'MISSED' not in output and 'push 1 detected after' in output
    report = Path(re.search(r'^report of the identification, .*: (.*)$', output, re.M)[1])
    assert report.name == 'report.html' and report.is_relative_to(tmp_path)
    assert '<h1>' in report.read_text(encoding='utf-8')
    assert [path.name for path in tmp_path.glob('*/*.png')] == ['tracking.png']
