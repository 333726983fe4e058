# SPDX-License-Identifier: Apache-2.0
import json

import numpy as np
import pytest
from robots import random_urdf

from robodyn_ros.cli.main import build_parser
from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.files.signals_bag import write_signals
from robodyn_ros.identification.result.content import Signals
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.signals.thinning import Thinning


@pytest.fixture
def run(tmp_path):
    time = np.append(np.arange(50) * 0.01, 0.6)
    q = np.stack([np.sin(time), np.cos(time)], axis=1)
    np.savez(tmp_path / 'a.npz', t=time, q=q, tau=-2 * q, joint_names=['shoulder', 'elbow'])

    def runner(name, *options):
        arguments = build_parser('info').parse_args(['info', str(tmp_path / name), *options])
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


def test_joints_without_limits_and_slow_times_are_said(tmp_path, capsys):
    time = np.arange(50) * 4.0  # in ms, but the unit is not given
    q = np.stack([np.sin(time), np.cos(time)], axis=1)
    names = ['a', 'b']
    np.savez(tmp_path / 'a.npz', t=time, q=q, tau=-2 * q, joint_names=names)
    (tmp_path / 'r.urdf').write_text(random_urdf(2, 90, types=('revolute',)))
    command = ['info', str(tmp_path / 'a.npz'), '--urdf', str(tmp_path / 'r.urdf'), '--json']
    arguments = build_parser('info').parse_args(command)
    assert arguments.run(arguments) == 0
    found = {
        each['code']: each['text'] for each in json.loads(capsys.readouterr().out)['findings']
    }
    assert 'Positions of a, b are not compared' in found['joints_not_in_urdf']
    assert 'is 0.25 Hz, over 196 s' in found['slow_sampling']


def test_errors_are_passed_on(run):
    with pytest.raises(RecordingError, match='no such file'):
        run('b.npz')


def test_a_bag_of_other_topics_shows_the_first_that_is_a_recording(run, tmp_path, capsys):
    time = 0.002 * np.arange(200)
    position = np.stack([np.sin(time), np.cos(time)], axis=1)
    mask = np.ones((200, 2), dtype=bool)
    arrays = dict.fromkeys(('velocity', 'acceleration', 'measured', 'measured_position'), position)
    processed = Processed(
        joints=('a', 'b'), time=time, position=position, torque=3.0 * position, used=mask,
        moving=mask, threshold=np.ones(2), upper_threshold=np.full(2, np.inf), cutoff=20.0,
        resting=~mask, thinning=Thinning(), raw_samples=200, **arrays,
    )  # fmt: skip
    write_signals(Signals(processed, position), tmp_path / 'bag')
    assert run('bag', '--json') == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts['joints'][1]['torque'][1] == pytest.approx(3.0)
    codes = [finding['code'] for finding in facts['findings']]
    assert 'topic_chosen' in codes and 'effort_undeclared' not in codes
    assert run('bag') == 0
    output = capsys.readouterr().out
    assert 'read from /identification/filtered. Choose another topic with --topic: /' in output
    assert run('bag', '--topic', '/identification/raw') == 0
    assert 'topic_chosen' not in capsys.readouterr().out
    with pytest.raises(RecordingError, match=r"'/x' is not in .*/raw'.*\(choose one with"):
        run('bag', '--topic', '/x')
