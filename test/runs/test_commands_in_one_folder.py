# SPDX-License-Identifier: Apache-2.0
"""Commands that write to one folder at the same time."""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from robodyn_ros.cli.main import main
from robodyn_ros.errors import ConfigError
from robodyn_ros.runs import file_set
from robodyn_ros.runs.file_set import sole_writer

ROBOT = str(Path(__file__).resolve().parents[2] / 'config' / 'robots' / 'axis.yaml')


@contextmanager
def held(folder):
    """Another process that has locked a folder."""
    program = (
        'import sys\nfrom robodyn_ros.errors import ConfigError\n'
        'from robodyn_ros.runs.file_set import sole_writer\n'
        'with sole_writer(sys.argv[1], ConfigError):\n    print("held", flush=True)\n    input()\n'
    )
    pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'text': True}
    with subprocess.Popen([sys.executable, '-c', program, str(folder)], **pipes) as run:
        assert run.stdout.readline() == 'held\n'
        yield
        run.communicate('\n', timeout=20.0)


@pytest.mark.parametrize('words', [['motion', ROBOT], ['excite'], ['identify', 'no.csv']])
def test_a_command_is_refused_before_its_work(tmp_path, capsys, monkeypatch, words):
    monkeypatch.setattr(file_set, 'PATIENCE', 0.0)
    monkeypatch.setattr('robodyn_ros.cli.main._without_xacro', lambda _: 1 / 0)  # it would begin
    with held(tmp_path):
        assert main([*words, '--robot', ROBOT, '--out', str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f'error: another run writes to the folder {tmp_path}: wait for its end, or choose another '
        'one\n'
    )
    with sole_writer(tmp_path, ConfigError):
        pass
