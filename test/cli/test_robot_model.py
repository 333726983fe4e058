# SPDX-License-Identifier: Apache-2.0
"""The robot on a command line."""

import argparse

import pytest
from published import PUMA, urdf

from robodyn_ros.cli.robot_model import (
    add_robot,
    add_urdf_options,
    build_chosen,
    robot,
)
from robodyn_ros.errors import ConfigError, ModelError


def parsed(*words, friction=('viscous',)):
    parser = argparse.ArgumentParser()
    for name in ('--urdf', '--model', '--joints'):
        parser.add_argument(name)
    add_urdf_options(parser.add_argument_group('robot'), friction)
    return parser.parse_args([str(word) for word in words])


@pytest.fixture
def file(tmp_path):
    (tmp_path / 'puma.urdf').write_text(urdf(PUMA))
    (tmp_path / 'model.yaml').write_text('kind: urdf\nurdf: puma.urdf\nfriction: [coulomb]\n')
    return tmp_path / 'puma.urdf'


def test_urdf_with_its_options(file):
    def names(*words):
        model = build_chosen(parsed('--urdf', file, *words), ('viscous',))
        return [item.name for item in model.parameters]

    assert names()[-1] == 'joint6.viscous_friction'
    assert names('--friction', 'none') == names('--friction', 'none', '--gravity', 0, 0, 1)
    assert names('--friction', 'coulomb,offset')[-1].startswith('joint6.')
    assert 'joint1.rotor_inertia' in names()
    assert 'joint1.rotor_inertia' not in names('--no-rotor-inertia')
    assert names('--joints', 'joint1,joint2')[-1] == 'joint2.viscous_friction'


def test_model_file_and_what_does_not_go_with_it(file):
    description = file.with_name('model.yaml')
    model = build_chosen(parsed('--model', description), ('viscous',))
    assert model.parameters[-1].name == 'joint6.coulomb_friction'
    for words in (['--friction', 'viscous'], ['--no-rotor-inertia'], ['--gravity', 0, 0, -9]):
        with pytest.raises(ConfigError, match=f'{words[0]} goes with --urdf'):
            build_chosen(parsed('--model', description, *words), ())


@pytest.mark.parametrize(
    ('section', 'words'),
    [
        ('excitation: {joints: 1.0e+308}', r'joints must be a list, got 1e\+308'),
        ('excitation: {joints: joint1}', "joints must be a list, got 'joint1'"),
        ('excitation: {joints: 0}', 'joints must be a list, got 0'),
        ('identification: {gravity: 9.81}', r'gravity must be a list, got 9\.81'),
        (
            'identification: {gravity: [0, 0, down]}',
            r"gravity.2. must be a finite number, got 'down'",
        ),
    ],
)
def test_joints_and_gravity_of_the_robot_file_are_lists(file, section, words):
    path = file.with_name('robot.yaml')
    path.write_text(f'urdf: puma.urdf\n{section}\n')
    parser = argparse.ArgumentParser()
    add_robot(parser)
    with pytest.raises(ConfigError, match=rf'robot\.yaml.*: {words}'):
        robot(parser.parse_args(['--robot', str(path)]))


def test_joints_of_the_robot_file_leave_a_gripper_at_rest(file):
    text = file.read_text()
    finger = """<link name="f"/><joint name="finger" type="prismatic"><parent link="{}"/>
        <child link="f"/><mimic joint="joint6"/><limit lower="0" upper="1" velocity="1"
        effort="1"/></joint></robot>"""
    last = text.split('<child link="')[-1].split('"')[0]
    file.write_text(text.replace('</robot>', finger.format(last)))
    path = file.with_name('robot.yaml')
    parser = argparse.ArgumentParser()
    add_robot(parser)
    path.write_text('urdf: puma.urdf\nlimits: {joint2: {max_velocity: 0.1}}\n')
    with pytest.raises(ModelError, match=r'finger is a mimic joint, .*: --joints, or "joints"'):
        robot(parser.parse_args(['--robot', str(path)]))
    path.write_text(path.read_text() + 'excitation: {joints: [joint2, joint3]}\n')
    assert robot(parser.parse_args(['--robot', str(path)]))[1].joints == ('joint2', 'joint3')
    path.write_text(path.read_text() + 'identification: {gravity: [0, 0, 1.0], joints: [joint1]}')
    assert robot(parser.parse_args(['--robot', str(path)]))[0].describe()['gravity'] == [0, 0, 1]
    words = ['--robot', str(path), '--gravity', '0', '0', '2', '--joints', 'joint2']
    assert robot(parser.parse_args(words))[0].describe()['gravity'] == [0, 0, 2]
    assert robot(parser.parse_args(words))[1].joints == ('joint2',)
