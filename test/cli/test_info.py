import argparse
import json

import numpy as np
import pytest

from robodyn_ros.cli import info
from robodyn_ros.errors import RecordingError


@pytest.fixture
def run(tmp_path):
    time = np.append(np.arange(50) * 0.01, 0.6)
    q = np.stack([np.sin(time), np.cos(time)], axis=1)
    np.savez(tmp_path / 'a.npz', t=time, q=q, tau=-2 * q, joint_names=['shoulder', 'elbow'])
    parser = argparse.ArgumentParser()
    info.add_parser(parser.add_subparsers())

    def runner(name, *options):
        arguments = parser.parse_args(['info', str(tmp_path / name), *options])
        return arguments.run(arguments)

    return runner


def test_the_table_names_joints_and_findings(run, capsys):
    assert run('a.npz') == 0
    output = capsys.readouterr().out
    assert '51 in 0.600 s at 100.00 Hz' in output
    assert 'largest gap  110.00 ms at 0.490 s' in output
    lines = [line.split() for line in output.splitlines()]
    assert ['elbow', '0.8253', 'to', '1', '-2', 'to', '-1.651'] in lines
    assert '[gaps]' in output


def test_json_is_one_object(run, capsys):
    assert run('a.npz', '--json', '--joints', 'elbow') == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts['format'] == 'NPZ'
    assert facts['samples'] == 51
    assert facts['rate'] == pytest.approx(100.0)
    assert facts['largest_gap'] == pytest.approx(0.11)
    assert [joint['name'] for joint in facts['joints']] == ['elbow']
    assert facts['joints'][0]['torque'] == pytest.approx([-2.0, -2 * np.cos(0.6)])
    assert [finding['code'] for finding in facts['findings']] == ['gaps']


def test_errors_are_passed_on(run):
    with pytest.raises(RecordingError, match='no such file'):
        run('b.npz')
