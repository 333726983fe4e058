# SPDX-License-Identifier: Apache-2.0
import json
from unittest.mock import MagicMock

import numpy as np
import pytest
import yaml
from bags import message, write_topics
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.cli import check, identify
from robodyn_ros.cli.analysis import compare, delay, friction
from robodyn_ros.cli.collision import collisions, healthy
from robodyn_ros.cli.main import build_parser, main
from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.files.result_file import model_parameters


@pytest.fixture
def run(tmp_path):
    time = np.append(np.arange(50) * 0.01, 0.6)
    q = np.stack([np.sin(time), np.cos(time)], axis=1)
    np.savez(tmp_path / 'a.npz', t=time, q=q, tau=-2 * q, joint_names=['shoulder', 'elbow'])

    def runner(name, *options):
        arguments = build_parser('check').parse_args(['check', str(tmp_path / name), *options])
        return arguments.run(arguments)

    return runner


def test_the_table_names_joints_and_findings(run, capsys):
    assert run('a.npz') == 0
    output = capsys.readouterr().out
    assert '51 in 0.600 s at 100.00 Hz, largest gap 110.00 ms at 0.490 s' in output
    lines = [line.split() for line in output.splitlines()]
    assert ['elbow', '0.8253', 'to', '1', '-2', 'to', '-1.651'] in lines
    assert '[gaps]' in output and 'verdict' not in output


def test_json_is_one_object(run, capsys):
    assert run('a.npz', '--json', '--joints', 'elbow') == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts['format'] == 'NPZ' and facts['topic'] == ''
    assert facts['samples'] == 51
    assert facts['rate'] == pytest.approx(100.0)
    assert facts['largest_gap'] == pytest.approx(0.11)
    assert [joint['name'] for joint in facts['joints']] == ['elbow']
    assert facts['joints'][0]['torque'] == pytest.approx([-2.0, -2 * np.cos(0.6)])
    assert [finding['code'] for finding in facts['findings']] == ['gaps']


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """One arm in motion, in bags of all kinds, with a URDF and a result."""
    folder = tmp_path_factory.mktemp('bags')
    xml = random_urdf(2, 42, types=('revolute',))
    (folder / 'arm.urdf').write_text(xml)
    model, values = arm(xml)
    content = model_parameters(model, values, np.full(len(values), np.nan))
    (folder / 'result.yaml').write_text(yaml.safe_dump({'dynamic_model': content}))
    motion = record(model, values, 1500, noise=0.01, rate=100.0)
    stamps = 1_700_000_000 * 10**9 + np.arange(1500) * 10_000_000
    nan, none = float('nan'), ()
    first, second = motion.joints
    rows = list(zip(stamps.tolist(), motion.position, motion.velocity, motion.torque, strict=True))
    plain = [message(s, [first, second], q, v, tau) for s, q, v, tau in rows]
    mixed = [
        message(
            s, ['wheel', second, 'gripper', first],
            [0.1, q[1], 0.5, q[0]], [nan, v[1], nan, v[0]], [nan, tau[1], nan, tau[0]],
        )
        for s, q, v, tau in rows
    ]  # fmt: skip
    silent = [message(s, [first, second], q, v, none) for s, q, v, _ in rows]
    finger = [
        message(s + d, ['finger'], [0.1], none, none) for s in stamps.tolist() for d in (1, 2)
    ]
    reference = {
        '/arm/reference': [message(s, [first, second], q, v, none) for s, q, v, _ in rows]
    }
    bags = {
        'plain': {'/joint_states': plain},
        'gripper_nan': {'/joint_states': mixed},
        'gripper_messages': {'/joint_states': [*plain, *finger]},
        'two_topics': {'/joint_states': finger, '/arm/joint_states': plain},
        'namespace': {'/arm/joint_states': plain},
        'no_effort': {'/joint_states': silent},
        'no_effort_in_namespace': {'/arm/joint_states': silent},
    }
    for name, topics in bags.items():
        write_topics(folder / name, topics | reference)
    return folder, motion


class Read(Exception):  # noqa: N818, no error
    """A command has read its recording."""


COMMANDS = {
    'check': (check, 'assess_recording', 0, ['--urdf', 'arm.urdf', '--effort', 'Nm']),
    'identify': (identify, 'identify', 0, ['--urdf', 'arm.urdf', '--effort', 'Nm']),
    'friction': (friction, 'identify', 0, ['--effort', 'Nm']),
    'delay': (delay, 'delay_estimate', 0, []),
    'compare': (compare, 'compare', 2, ['--urdf', 'arm.urdf', '--effort', 'Nm']),
    'thresholds': (healthy, 'rests_in', 2, ['--model', 'result.yaml', '--effort', 'Nm']),
    'collisions': (
        collisions, '_settings', 1,
        ['--model', 'result.yaml', '--thresholds', 'x', '--effort', 'Nm'],
    ),
}  # fmt: skip
"""Module, function that gets the recording, its place in the arguments, and options."""


def read_by(command, folder, name, monkeypatch):
    """Return the recording that a command reads, the error that it raises, or None."""
    module, function, place, options = COMMANDS[command]

    def stop(*given, **_):
        raise Read(given[place])

    monkeypatch.setattr(module, function, stop)
    monkeypatch.setattr(collisions, 'read_thresholds', MagicMock())
    words = ['result.yaml', name] if command == 'compare' else [name]
    monkeypatch.chdir(folder)
    arguments = build_parser(command).parse_args([command, *words, *options])
    try:
        arguments.run(arguments)
    except Read as read:
        found = read.args[0]
        return found[0] if isinstance(found, list) else found
    except RecordingError as error:
        return error
    return None


@pytest.mark.parametrize('command', COMMANDS)
@pytest.mark.parametrize(
    'name',
    [
        'plain', 'gripper_nan', 'gripper_messages', 'two_topics', 'namespace', 'no_effort',
        'no_effort_in_namespace',
    ],
)  # fmt: skip
def test_all_commands_read_and_refuse_the_same(files, command, name, monkeypatch):
    folder, motion = files
    found = read_by(command, folder, name, monkeypatch)
    if name.startswith('no_effort'):
        assert 'torque of joint' in str(found) and 'is missing' in str(found)
        return
    if command == 'delay':  # it gets lags, not the recording
        assert found is not None and not isinstance(found, RecordingError)
        return
    assert isinstance(found, type(motion)), found
    assert {*found.joints} == {*motion.joints}
    np.testing.assert_array_equal(found.select(motion.joints).torque, motion.torque)
    arm_topic = '/arm/joint_states' if name in ('two_topics', 'namespace') else '/joint_states'
    assert found.topic == arm_topic


def test_an_arm_fits_on_a_screen_with_a_verdict_for_each_joint(files, capsys):
    folder, motion = files
    words = ['check', str(folder / 'gripper_nan'), '--urdf', str(folder / 'arm.urdf')]
    assert main([*words, '--effort', 'Nm']) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24 and lines[0].endswith('(rosbag2, /joint_states)')
    rows = [line for line in lines if line.startswith(motion.joints)]
    assert len(rows) == 2 and all(line.endswith('usable') for line in rows)
    assert main([*words, '--json']) == 1  # its efforts are not declared
    facts = json.loads(capsys.readouterr().out)
    assert [joint['verdict'] for joint in facts['joints']] == ['not usable', 'not usable']
    errors = [item['code'] for item in facts['findings'] if item['severity'] == 'error']
    assert errors == ['effort_undeclared']
    assert main(['identify', str(folder / 'gripper_nan'), *words[2:]]) == 2  # nor does this
