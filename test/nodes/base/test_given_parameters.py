"""Limits that a user gives hold in the real node, in whatever form they are given."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.srv')
from rcl_interfaces.srv import GetParameters
from ros_client import PATIENCE, RosClient, environment

from robodyn_ros.nodes.base.given_parameters import GivenParameters

pytestmark = pytest.mark.ros
ROOT = Path(__file__).resolve().parents[3]
NUMBER = 81
NAMES = ['max_torque', 'feedforward_scale', 'mode', 'ramp_up_time', 'effort.unit']


@pytest.fixture(scope='module')
def client():
    client = RosClient(environment(NUMBER))
    yield client
    client.close()


class Started:
    """A node with these ROS arguments, until the end of the block."""

    def __init__(self, name, words, log):
        self.log = log
        command = [sys.executable, '-m', f'robodyn_ros.nodes.{name}.node', '--ros-args', *words]
        with log.open('w') as file:
            self.process = subprocess.Popen(
                command, env=environment(NUMBER), stdout=file, stderr=subprocess.STDOUT
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()


def files(folder, key, values):
    """Arguments of the files of this package for its arm, and then of the user's."""
    mine = folder / 'mine.yaml'
    mine.write_text(yaml.safe_dump({key: {'ros__parameters': values}}))
    given = [ROOT / 'config' / f'{kind}_six_axis.yaml' for kind in ('effort', 'feedforward')]
    return [word for file in (*given, mine) for word in ('--params-file', str(file))], mine


def values(client, node):
    request = GetParameters.Request(names=NAMES)
    torque, scale, mode, ramp, unit = client.call(
        GetParameters, f'{node}/get_parameters', request
    ).values
    return (
        list(torque.double_array_value), scale.double_value, mode.string_value,
        ramp.double_value, unit.string_value,
    )  # fmt: skip


@pytest.mark.parametrize(
    ('key', 'names', 'node'),
    [
        ('/**', [], '/feedforward'),
        ('feedforward', [], '/feedforward'),
        ('/**/mine', ['-r', '__ns:=/cell/one', '-r', '__node:=mine'], '/cell/one/mine'),
    ],
)
def test_the_users_file_and_command_line_win_over_the_packages_files(
    client, tmp_path, key, names, node
):
    words, mine = files(tmp_path, key, {'max_torque': [10.0], 'feedforward_scale': 0.2})
    words += [*names, '-p', 'mode:=streaming', '-p', 'effort.unit:=A']
    with Started('feedforward', words, tmp_path / 'log') as started:
        assert values(client, node) == ([10.0], 0.2, 'streaming', 0.25, 'A')
        said = started.log.read_text()
    assert f'limit max_torque: [10.0] ({mine})' in said
    assert f'limit feedforward_scale: 0.2 ({mine})' in said
    assert 'limit mode: streaming (command line)' in said
    if not names:
        assert f'limit ramp_up_time: 0.25 ({ROOT}/config/feedforward_six_axis.yaml)' in said
    assert 'limit torque_threshold: none (default)' in said


@pytest.mark.parametrize(
    ('content', 'sentence'),
    [
        ('[' * 100_000 + ']' * 100_000, 'error: the parameter file {} cannot be read: '),
        ('/**: {ros__parameters: {max_torque: [1', 'error: the parameter file {} cannot be read'),
        ('/**: {ros__parameters: {max_torque: }}', 'error: failed to initialize rcl: '),
        ('/**: {ros__parameters: {max_torque: fast}}', "error: parameter 'max_torque': "),
    ],
)
def test_a_parameter_file_that_cannot_be_used_is_one_sentence(tmp_path, content, sentence):
    file = tmp_path / 'bad.yaml'
    file.write_text(content)
    words = [
        sys.executable,
        '-m',
        'robodyn_ros.nodes.feedforward.node',
        '--ros-args',
        '--params-file',
    ]
    done = subprocess.run(
        [*words, str(file)], env=environment(NUMBER), capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if line.startswith('error: ')]
    assert len(lines) == 1 and lines[0].startswith(sentence.format(file)), done.stderr
    assert 'Traceback' not in done.stderr


def test_only_nodes_that_are_created_meanwhile_get_them():
    given = GivenParameters(['program', '--ros-args', '-p', 'a:=1'])
    assert GivenParameters.current is None
    with given.used():
        assert GivenParameters.current is given
    assert GivenParameters.current is None
    with given.of('/name') as (arguments, sources):
        assert sources == {'a': 'command line'} and Path(arguments[-1]).is_file()
    assert not Path(arguments[-1]).exists()
