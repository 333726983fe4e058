# SPDX-License-Identifier: Apache-2.0
"""Commands that write to one folder at the same time."""

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from robots import random_urdf
from simulation import arm, record
from writers import write_csv

from robodyn_ros.cli.main import main
from robodyn_ros.errors import ConfigError
from robodyn_ros.identification.files.result_file import load_identified_model
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


@pytest.mark.slow
def test_two_identifications_leave_the_files_of_one(tmp_path):
    xml = random_urdf(2, 3, types=('revolute',))
    model, truth = arm(xml)
    (tmp_path / 'robot.urdf').write_text(xml)
    write_csv(record(model, truth, 3000, noise=0.02, derivatives=False), tmp_path / 'r.csv')
    words = ['identify', 'r.csv', '--urdf', 'robot.urdf', '--out', 'out', '--json']
    runs = [
        subprocess.Popen(
            [sys.executable, '-m', 'robodyn_ros.cli.main', *words, '--filter-cutoff', cutoff],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for cutoff in ('8', '11')
    ]  # fmt: skip
    said = [run.communicate(timeout=120.0) for run in runs]
    kept = load_identified_model(tmp_path / 'out' / 'result.yaml')
    facts = json.loads((tmp_path / 'out' / 'result.json').read_text())
    assert facts['filter_cutoff'] == kept.facts['filter_cutoff']
    assert [each['value'] for each in facts['parameters']] == kept.values.tolist()
    finished = [json.loads(out)['filter_cutoff'] for run, (out, _) in zip(runs, said, strict=True)
                if run.returncode == 0]  # fmt: skip
    assert facts['filter_cutoff'] in finished
    for run, (_, error) in zip(runs, said, strict=True):
        assert run.returncode == 0 or 'another run writes to the folder' in error


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
