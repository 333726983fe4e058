# SPDX-License-Identifier: Apache-2.0
"""Limits that a user gives hold in the real node, in whatever form they are given."""

import gc
import re
import subprocess
import sys
from pathlib import Path

import pytest
import rclpy
import yaml
from described import urdf_of
from ros_client import PATIENCE, count_participants, environment

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.common import plain
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


GIVEN = 'parameter file or command line'


@pytest.fixture
def ros(monkeypatch):
    """Let `created` make nodes."""
    for name, value in environment(NUMBER + 1).items():
        monkeypatch.setenv(name, value)


def created(kind, file, *words):
    """A node of this process as it would start with a robot file; it is gone again.

    Also if it is refused: else its DDS participant meets the next one, see `ros_client.joined`.
    """
    before = count_participants()
    rclpy.init(args=['program', '--ros-args', '-p', f'robot:={file}', *words])
    node = kind.__new__(kind)
    try:
        node.__init__()
        node.check_names()
        return node
    finally:
        node.destroy_node()
        rclpy.shutdown()
        gc.collect()
        assert count_participants() == before


def files(folder, key, values):
    """Arguments of the user's file, and then of the robot file of this package's arm."""
    mine = folder / 'mine.yaml'
    mine.write_text(yaml.safe_dump({key: {'ros__parameters': values}}))
    return ['--params-file', str(mine), '-p', f'robot:={SIX_AXIS}']


@pytest.mark.parametrize(
    ('key', 'names'),
    [
        ('/**', []),
        ('feedforward', []),
        ('/**/mine', ['-r', '__ns:=/cell/one', '-r', '__node:=mine']),
    ],
)
def test_the_users_file_and_command_line_win_over_the_robot_file(
    ros, tmp_path, capfd, monkeypatch, key, names
):
    words = files(tmp_path, key, {'max_torque': [10.0], 'feedforward_scale': 0.2})
    words += [*names, '-p', 'controller:=jtc', '-p', 'effort.unit:=A']
    words += ['-p', 'effort.side:=joint', '-p', 'effort.gravity:=included']
    words += ['-p', 'feedforward_scale:=0.1']
    monkeypatch.setattr(sys, 'argv', ['program', '--ros-args', *words])
    node = created(Feedforward, SIX_AXIS, *words)
    found = [node.get_parameter(name).value for name in NAMES]
    assert [list(found[0]), *found[1:]] == [[10.0], 0.1, 'jtc', 0.25, 'A']
    node.log_defaults()
    said = capfd.readouterr().err
    assert f'limit max_torque: [10.0] ({GIVEN})' in said
    assert f'limit feedforward_scale: 0.1 ({GIVEN})' in said, 'more than the file'
    assert f'limit controller: jtc ({GIVEN})' in said
    assert f'limit velocity_window: [0.002] ({SIX_AXIS}, section feedforward)' in said
    (defaults,) = re.findall('limits by default: (.*)', said)
    assert 'torque_threshold: none' in defaults and 'max_torque:' not in defaults


@pytest.mark.parametrize(
    ('content', 'words', 'sentence'),
    [
        ('/**: {ros__parameters: {max_torque: [1', '', "error: .*Couldn't parse params file"),
        (
            'cell: {feedforward: {ros__parameters: {max_torqe: [5.0]}}}',
            '-r __ns:=/cell',
            r"error: .*/bad.yaml, section cell/feedforward: there is no parameter 'max_torqe'; "
            r'did you mean max_torque\?$',
        ),
    ],
)
def test_parameters_that_cannot_be_used_are_one_sentence(tmp_path, content, words, sentence):
    """A limit that is ignored would be worse than a node that does not start."""
    file = tmp_path / 'bad.yaml'
    file.write_text(content)
    program = [sys.executable, '-m', 'robodyn_ros.nodes.feedforward.node', '--ros-args']
    done = subprocess.run(
        [*program, '--params-file', str(file), *words.split()], env=environment(NUMBER),
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith('error: ')]
    assert re.match(sentence, line), line
    assert 'Traceback' not in done.stderr


@pytest.mark.parametrize(
    ('key', 'given', 'sentence'),
    [
        ('/**', {'max_torque': 'fast'}, "parameter 'max_torque': .*parameter file or command"),
        ('/**', {'max_torqe': [5.0]}, "of all nodes: there is no parameter 'max_torqe'; did you "),
        ('feedforward', {'qos_overrides': {'a': 1}, 'stale_timeout': 0.5},
         "section feedforward: there is no parameter 'stale_timeout'; .*; command line: there is "
         "no parameter 'torque_limit'"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_fit_the_node_is_refused(
    ros, tmp_path, monkeypatch, key, given, sentence
):
    words = [*files(tmp_path, key, given)[:2], '-p', 'feedforward:torque_limit:=[5.0]']
    monkeypatch.setattr(sys, 'argv', ['program', '--ros-args', *words])
    with pytest.raises(ConfigError, match=sentence):
        created(Feedforward, SIX_AXIS, *words)


@pytest.mark.parametrize(
    ('section', 'sentence'),
    [
        ('feedforward: {ramp_up_time: fast}', "parameter 'ramp_up_time': .*'fast' of type 'STRING'"
         ".*'DOUBLE'.*section feedforward"),
        ('feedforward: {max_torque: [-1.0]}', 'element 0 is -1.0, .*section feedforward'),
        ('effort: {unit: Nm, sides: joint}', "no parameter 'effort.sides' .*section effort"),
    ],
)  # fmt: skip
def test_a_robot_file_that_does_not_fit_the_node_is_refused(section, sentence, tmp_path, ros):
    file = tmp_path / 'my_robot.yaml'
    file.write_text(f'urdf: arm.urdf\n{section}\n')
    with pytest.raises(ConfigError, match=sentence) as caught:
        created(Feedforward, file)
    assert str(file) in str(caught.value) and '\n' not in str(caught.value)


@pytest.mark.parametrize('kind', [Excitation, Feedforward, CollisionMonitor])
def test_the_values_in_our_robot_files_have_the_types_of_their_parameters(kind, ros, tmp_path):
    """The names are checked where a file is read: test_robot_file.py."""
    for file in (ROOT / 'config' / 'example_robot.yaml', SIX_AXIS):
        urdf = urdf_of(file, tmp_path)
        node = created(kind, file, *(['-p', f'urdf:={urdf}'] if urdf else []))
        assert node.get_parameter('robot').value == str(file)
        assert node.source('effort.unit') == f'{file}, section effort'


@pytest.mark.parametrize(
    'name',
    ['dynamic_model.parameter_vales', 'identification.verdict.feedforwrd',
     'identification.physicaly_consistent'],
)  # fmt: skip
def test_a_slip_in_what_is_given_to_all_nodes_is_refused(ros, monkeypatch, name):
    """As launch's SetParameter gives it, or a result file that was edited."""
    words = ['-p', f'{name}:=[1.0]']
    monkeypatch.setattr(sys, 'argv', ['program', '--ros-args', *words])
    with pytest.raises(ConfigError, match=f'parameters of all nodes: .*{name!r}; did you mean '):
        created(Feedforward, SIX_AXIS, *words)


def test_names_of_others_are_a_warning_and_facts_of_a_result_are_none(
    ros, capfd, tmp_path, monkeypatch
):
    """`stale_timeout` is one of the collision monitor, `update_rate` of the controller manager."""
    given = {'stale_timeout': 0.5, 'update_rate': 500, 'identification': {'rms_error': [1.0]}}
    words = ['-p', 'use_sim_time:=false', '-p', 'sensitivity:=1.0', '-p', 'torque_limit:=5.0']
    monkeypatch.setattr(sys, 'argv', ['program', '--ros-args', *words])
    created(Feedforward, SIX_AXIS, *files(tmp_path, '/**', given)[:2], *words)
    (line,) = [each for each in capfd.readouterr().err.splitlines() if 'has no parameters' in each]
    for name in ('update_rate', 'sensitivity', 'torque_limit'):
        assert name in line
    assert 'stale_timeout' not in line and 'identification' not in line


def test_a_declaration_of_effort_replaces_that_of_the_robot_file_as_a_unit(ros):
    robot = f'{ROOT}/config/robots/scara.yaml'
    assert created(Recorder, robot).source('effort.side') == f'{robot}, section effort'
    words = ['-p', 'effort.unit:=A', '-p', 'effort.side:=motor', '-p', 'effort.gravity:=included']
    node = created(Recorder, robot, *words, '-p', 'effort.torque_constant:=1.0')
    assert node.source('effort.joints') == 'default'


@pytest.mark.parametrize('kind', [Excitation, Feedforward, IdentificationNode])
def test_all_parameters_are_told_and_can_be_given_again(kind, ros, tmp_path):
    """As `ros2 param dump` asks for them, and writes them."""
    node = created(kind, SIX_AXIS)
    names = list(node.get_parameters_by_prefix(''))
    told = {each.name: plain(each.value) for each in node.get_parameters(names)}
    assert len(told) == len(names) > 20
    told.pop('planning_scene_service', None)  # of MoveIt, which need not be installed
    node = created(kind, SIX_AXIS, *files(tmp_path, '/**', told)[:2])
    again = {each.name: plain(each.value) for each in node.get_parameters(names)}
    assert again.items() >= told.items()


def test_null_is_a_value_that_was_not_given(ros, tmp_path):
    """`ros2 param dump` writes it for a parameter without a value."""
    node = created(Feedforward, SIX_AXIS, *files(tmp_path, '/**', {'ramp_up_time': None})[:2])
    assert node.source('ramp_up_time') == 'default'
