# SPDX-License-Identifier: Apache-2.0
"""Limits that a user gives hold in the real node, in whatever form they are given."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import rclpy
import yaml
from described import urdf_of
from rcl_interfaces.srv import GetParameters
from ros_client import PATIENCE, RosClient, environment

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.given_parameters import GivenParameters
from robodyn_ros.nodes.collision_monitor.node import CollisionMonitor
from robodyn_ros.nodes.excitation.node import Excitation
from robodyn_ros.nodes.feedforward.node import Feedforward
from robodyn_ros.nodes.identification.node import IdentificationNode
from robodyn_ros.nodes.recorder.node import Recorder

pytestmark = pytest.mark.ros
ROOT = Path(__file__).resolve().parents[3]
SIX_AXIS = ROOT / 'config' / 'robots' / 'six_axis.yaml'
NUMBER = 81
NAMES = ['max_torque', 'feedforward_scale', 'controller', 'ramp_up_time', 'effort.unit']


@pytest.fixture(scope='module')
def client():
    client = RosClient(environment(NUMBER))
    yield client
    client.close()


PROGRAMS = {
    'excitation': Excitation,
    'recorder': Recorder,
    'identification': IdentificationNode,
    'feedforward': Feedforward,
    'collision_monitor': CollisionMonitor,
}


@pytest.fixture
def ros(monkeypatch):
    """Initialised rclpy, and the nodes that `created` makes."""
    monkeypatch.setenv('ROS_DOMAIN_ID', str(NUMBER))
    rclpy.init()
    yield
    rclpy.shutdown()


def created(kind, file, *words):
    """A node of this process as it would start with a robot file; it is gone again."""
    with GivenParameters(['program', '--ros-args', '-p', f'robot:={file}', *words]).used():
        node = kind()
    try:
        node.check_names()
    finally:
        node.destroy_node()
    return node


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
    """Arguments of the user's file, and then of the robot file of this package's arm."""
    mine = folder / 'mine.yaml'
    mine.write_text(yaml.safe_dump({key: {'ros__parameters': values}}))
    return ['--params-file', str(mine), '-p', f'robot:={SIX_AXIS}'], mine


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
def test_the_users_file_and_command_line_win_over_the_robot_file(
    client, tmp_path, key, names, node
):
    words, mine = files(tmp_path, key, {'max_torque': [10.0], 'feedforward_scale': 0.2})
    words += [*names, '-p', 'controller:=jtc', '-p', 'effort.unit:=A']
    words += ['-p', 'effort.side:=joint', '-p', 'effort.gravity:=included']
    with Started('feedforward', words, tmp_path / 'log') as started:
        assert values(client, node) == ([10.0], 0.2, 'jtc', 0.25, 'A')
        said = started.log.read_text()
    assert f'limit max_torque: [10.0] ({mine})' in said
    assert f'limit feedforward_scale: 0.2 ({mine})' in said
    assert 'limit controller: jtc (command line)' in said
    assert f'limit velocity_window: [0.002] ({SIX_AXIS}, section feedforward)' in said
    (defaults,) = re.findall('limits by default: (.*)', said)
    assert 'torque_threshold: none' in defaults and 'max_torque:' not in defaults


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


@pytest.mark.parametrize(
    ('section', 'sentence'),
    [
        ('feedforward: {ramp_up_tme: 0.2}', "section feedforward: there is no key 'ramp_up_tme'; "
         'did you mean ramp_up_time'),
        ('feedforward: {ramp_up_time: fast}', "parameter 'ramp_up_time': .*'fast' of type 'STRING'"
         ".*'DOUBLE'.*section feedforward"),
        ('feedforward: {max_torque: [-1.0]}', 'element 0 is -1.0, .*section feedforward'),
        ('effort: {unit: Nm, sides: joint}', "no parameter 'effort.sides' .*section effort"),
        ('effort: {unit: Nm, side: left, gravity: included}', 'section effort.* effort.side'),
        ('feedforwrd: {}', "there is no section 'feedforwrd'"),
    ],
)  # fmt: skip
def test_a_robot_file_that_does_not_fit_the_node_is_refused(section, sentence, tmp_path, ros):
    file = tmp_path / 'my_robot.yaml'
    file.write_text(f'urdf: arm.urdf\n{section}\n')
    with pytest.raises(ConfigError, match=sentence) as caught:
        created(Feedforward, file)
    assert str(file) in str(caught.value) and '\n' not in str(caught.value)


@pytest.mark.parametrize('program', PROGRAMS)
def test_every_key_in_our_robot_files_is_a_parameter_of_its_node(program, ros, tmp_path):
    for file in (ROOT / 'config' / 'example_robot.yaml', *SIX_AXIS.parent.glob('*.yaml')):
        urdf = urdf_of(file, tmp_path)
        node = created(PROGRAMS[program], file, *(['-p', f'urdf:={urdf}'] if urdf else []))
        assert node.get_parameter('robot').value == str(file)
        assert node.source('effort.unit') == f'{file}, section effort'


@pytest.mark.parametrize(
    ('key', 'name', 'like'),
    [
        ('feedforward', 'ramp_up_tme', 'ramp_up_time'),
        ('/**/feedforward', 'something_else', ''),
        ('/**', 'ramp_up_tme', 'ramp_up_time'),
    ],
)
def test_a_parameter_of_a_file_that_the_node_does_not_have_is_a_warning(
    ros, capfd, tmp_path, key, name, like
):
    words, mine = files(tmp_path, key, {name: 0.5})
    created(Feedforward, SIX_AXIS, *words)
    [line] = [each for each in capfd.readouterr().err.splitlines() if 'no parameter' in each]
    assert f"{mine}: there is no parameter '{name}', its value is ignored" in line
    assert like in line.rpartition('did you mean ')[2]


@pytest.mark.parametrize('name', ['stale_timeout', 'update_rate'])
def test_a_name_for_all_nodes_that_is_no_slip_is_none_here(ros, capfd, tmp_path, name):
    """One of the collision monitor, one of the controller manager."""
    words, _ = files(tmp_path, '/**', {name: 0.5})
    created(Feedforward, SIX_AXIS, *words)
    assert 'no parameter' not in capfd.readouterr().err


def test_a_parameter_of_the_command_line_that_the_node_does_not_have_is_a_warning(ros, capfd):
    words = ['-p', 'ramp_up_tme:=0.2', '-p', 'ramp_up_time:=0.3', '-p', 'other_node:x:=1']
    created(Feedforward, 'six_axis', *words, '-p', 'use_sim_time:=false')
    told = [line for line in capfd.readouterr().err.splitlines() if 'WARN' in line]
    (line,) = [line for line in told if 'command line' in line]
    assert "there is no parameter 'ramp_up_tme', its value is ignored" in line
    assert line.endswith('did you mean ramp_up_time?')


def test_a_declaration_of_effort_replaces_that_of_the_robot_file_as_a_unit():
    def values(*words):
        robot = ['-p', f'robot:={ROOT}/config/robots/scara.yaml']
        given = GivenParameters(['program', '--ros-args', *robot, *words])
        with given.of('/recorder', 'recorder') as (_, found):
            return {name for name in found if name.startswith('effort.')}

    every = {'effort.joints', 'effort.unit', 'effort.side', 'effort.gravity'}
    assert values() == every
    assert values('-p', 'effort.direction:=-1') == {*every, 'effort.direction'}
    assert values('-p', 'effort.unit:=A') == {'effort.unit'}


def test_only_nodes_that_are_created_meanwhile_get_them():
    given = GivenParameters(['program', '--ros-args', '-p', 'a:=1'])
    assert GivenParameters.current is None
    with given.used():
        assert GivenParameters.current is given
    assert GivenParameters.current is None
    with given.of('/name', 'name') as (arguments, values):
        assert values['a'].source == 'command line' and Path(arguments[-1]).is_file()
    assert not Path(arguments[-1]).exists()
