# SPDX-License-Identifier: Apache-2.0
"""`--effort` on bags with and without a declaration, and on tables."""

import argparse
import json

import numpy as np
import pytest
import yaml
from robots import random_urdf
from simulation import arm, record
from writers import write_csv, write_rosbag

from robodyn_ros.cli import check, effort, identify
from robodyn_ros.cli.main import build_parser
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.errors import ConfigError, RecordingError

SI = {'unit': 'Nm', 'side': 'joint', 'gravity': 'included'}
CURRENT = {**SI, 'unit': 'A', 'side': 'motor', 'torque_constant': 0.25, 'gear_ratio': 100.0}


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """One motion: a table in Nm, and bags in A with and without a declaration."""
    from dataclasses import replace

    folder = tmp_path_factory.mktemp('effort')
    xml = random_urdf(2, 90, types=('revolute',))
    (folder / 'robot.urdf').write_text(xml)
    model, truth = arm(xml)
    recording = record(model, truth, 3000, noise=0.02, derivatives=False, rate=500.0)
    write_csv(recording, folder / 'table.csv')
    ampere = replace(recording, torque=recording.torque / 25.0)
    declared = EffortDeclaration.from_mapping(CURRENT).metadata()
    write_rosbag(ampere, folder / 'declared', metadata=declared)
    write_rosbag(ampere, folder / 'bare')
    (folder / 'effort.yaml').write_text(yaml.safe_dump({'effort': CURRENT}))
    robot = {'urdf': 'robot.urdf', 'effort': CURRENT}
    (folder / 'robot.yaml').write_text(yaml.safe_dump(robot))
    return folder


def robodyn(module, *arguments):
    command = module.__name__.rsplit('.', 1)[1]
    parsed = build_parser(command).parse_args([command, *map(str, arguments)])
    return parsed.run(parsed)


def identified(files, capsys, name, *options):
    assert robodyn(identify, files / name, '--urdf', files / 'robot.urdf', '--json', *options) == 0
    found = json.loads(capsys.readouterr().out)
    return [row['value'] for row in found['parameters']]


def test_the_same_motion_gives_the_same_robot_in_every_unit(files, capsys):
    expected = identified(files, capsys, 'table.csv')
    for name, *options in (
        ('declared',),
        ('declared', '--effort', files / 'effort.yaml'),
        ('bare', '--effort', files / 'effort.yaml'),
        ('bare', '--robot', files / 'robot.yaml'),
        ('declared', '--robot', files / 'robot.yaml'),
        ('table.csv', '--effort', 'Nm'),
    ):
        values = identified(files, capsys, name, *options)
        np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-6)


def test_an_undeclared_bag_is_refused_with_what_to_declare(files):
    with pytest.raises(ConfigError, match='bare is not declared: declare its meaning in section'):
        robodyn(identify, files / 'bare', '--urdf', files / 'robot.urdf')


def test_a_declaration_that_differs_is_refused_naming_both(files):
    with pytest.raises(ConfigError, match=r'according to the bag .*according to --effort Nm'):
        robodyn(identify, files / 'declared', '--urdf', files / 'robot.urdf', '--effort', 'Nm')


def test_a_file_for_a_table_is_refused(files):
    for module, options in ((identify, ['--urdf', files / 'robot.urdf']), (check, [])):
        with pytest.raises(ConfigError, match=r'table\.csv is a table, in SI units unless'):
            robodyn(module, files / 'table.csv', '--effort', files / 'effort.yaml', *options)


def test_a_unit_alone_says_what_it_needs(tmp_path):
    arguments = argparse.Namespace(effort='A', recording=str(tmp_path))
    with pytest.raises(ConfigError, match=r'A needs torque_constant \(Nm/A\). Write a file'):
        effort.read_declarations(arguments)
    arguments.effort = 'permille_rated_current'
    with pytest.raises(ConfigError, match=r'rated_current \(mA\) and torque_constant \(Nm/A\)'):
        effort.read_declarations(arguments)
    for given in ('nm', 'NM', 'nM', 'n'):
        arguments.effort = given
        meant = 'N' if given == 'n' else 'Nm'
        words = rf'--effort {given}: expected Nm, N.*mean {meant}\?$'
        with pytest.raises(ConfigError, match=words):
            effort.read_declarations(arguments)
    arguments.effort = 'robot'
    with pytest.raises(ConfigError, match=r'my_robot\.yaml; there is no file robot$'):
        effort.read_declarations(arguments)


def test_effort_that_contradicts_the_robot_file_is_refused_naming_both(files):
    robot = files / 'robot.yaml'
    for name, first in (
        ('bare', 'SI on the joint side, .* to --effort Nm, but A on the motor side'),
        ('declared', 'A on the motor side, .* the bag .*, but SI on the joint'),
    ):
        with pytest.raises(ConfigError, match=f"joint 'joint1' is {first}") as caught:
            robodyn(identify, files / name, '--robot', robot, '--effort', 'Nm')
        assert name == 'declared' or f'according to {robot}, section effort' in str(caught.value)


def test_effort_beside_a_mapping_of_the_torque_is_refused(files, tmp_path):
    mapping = tmp_path / 'columns.yaml'
    mapping.write_text('torque: {columns: [effort], scale: 25.0}')
    options = ['--urdf', files / 'robot.urdf', '--columns', mapping]
    given = files / 'effort.yaml'
    with pytest.raises(ConfigError, match=f'--effort {given} and --columns {mapping} both'):
        robodyn(identify, files / 'bare', *options, '--effort', given)
    with pytest.raises(RecordingError, match="no column 'effort' for torque"):
        robodyn(identify, files / 'bare', *options, '--effort', 'Nm')  # agrees with a mapping
