# SPDX-License-Identifier: Apache-2.0
import json

import pytest
import yaml
from drive_signals import CENTER, driven_arm
from writers import write_csv, write_rosbag

from robodyn_ros.cli.main import main

AT = ['--payload-com', *map(str, CENTER)]


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    folder, driven = tmp_path_factory.mktemp('gains'), driven_arm()
    (folder / 'arm.urdf').write_text(driven.xml)
    for name, mass in (('empty', 0.0), ('loaded', 2.0), ('other', 1.2)):
        write_csv(driven.record(mass, seed=len(name)), folder / f'{name}.csv')
        write_rosbag(driven.record(mass, seed=len(name)), folder / name)
    return folder


def command(folder, suffix='', *more, mass='2.0'):
    return [
        'gains', f'{folder}/empty{suffix}', f'{folder}/loaded{suffix}', '--payload-mass', mass,
        *AT, '--urdf', f'{folder}/arm.urdf', *more,
    ]  # fmt: skip


def identify(folder, recording, *more):
    return ['identify', f'{folder}/{recording}', '--urdf', f'{folder}/arm.urdf', *more]


def test_other_commands_take_the_declaration(folder, tmp_path, capsys):
    out = str(tmp_path / 'out')
    check = ['--check', f'{folder}/other', '--check-mass', '1.2']
    assert main([*command(folder, '', *check, '--out', out, '--unit', 'A', '--json')]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [each['determined'] for each in facts['joints']] == [True] * 4
    assert facts['joints'][1]['factor'] == pytest.approx(-3.0, rel=0.02)
    assert facts['check']['mass'] == pytest.approx(1.2, rel=0.03)
    assert list(facts['files']) == ['effort']
    main([*identify(folder, 'empty', '--effort', f'{out}/effort.yaml'), '--json'])
    assert json.loads(capsys.readouterr().out)['success']


def test_tables_take_the_mapping(folder, tmp_path, capsys):
    out = str(tmp_path / 'out')
    assert main([*command(folder, '.csv', '--out', out)]) == 0
    shown = capsys.readouterr().out
    assert 'columns.yaml' in shown and '95 % interval' in shown
    scale = yaml.safe_load((tmp_path / 'out/columns.yaml').read_text())['torque']['scale']
    assert scale['joint2'] == pytest.approx(-3.0, rel=0.02)
    main([*identify(folder, 'empty.csv', '--columns', f'{out}/columns.yaml'), '--json'])
    assert json.loads(capsys.readouterr().out)['success']


def test_a_wrong_load_of_check_is_negative(folder, capsys):
    check = ['--check', f'{folder}/other', '--check-mass', '1.5']
    assert main([*command(folder, '', *check)]) == 1
    assert 'outside the interval of the given 1.500 kg' in capsys.readouterr().out


def test_without_a_load_the_assumption_is_reported(folder, capsys):
    main(['gains', f'{folder}/empty', '--urdf', f'{folder}/arm.urdf'])
    assert '[gains_from_masses]' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('more', 'sentence'),
    [
        (['--effort', 'Nm'], '--effort declares what gains estimates'),
        (['--check', 'x.csv'], '--check and --check-mass go together'),
        (['--joint-limits', 'x.yaml'], '--joint-limits has no effect'),
        (['--friction', 'auto'], 'load-dependent friction itself'),
    ],
)
def test_what_does_not_fit_is_refused(folder, capsys, more, sentence):
    assert main([*command(folder, '.csv', *more)]) == 2
    assert sentence in capsys.readouterr().err


def test_a_mass_must_be_positive_and_have_a_recording(folder, capsys):
    assert main([*command(folder, '.csv', mass='0')]) == 2
    assert 'above 0 kg, got 0' in capsys.readouterr().err
    urdf = ['--urdf', f'{folder}/arm.urdf']
    assert main(['gains', f'{folder}/empty.csv', '--payload-mass', '1', *urdf]) == 2
    assert 'LOADED and --payload-mass go together' in capsys.readouterr().err
    assert main(['gains', f'{folder}/empty.csv', *AT, *urdf]) == 2
    assert '--payload-com goes with LOADED' in capsys.readouterr().err
    assert main(['gains', f'{folder}/empty.csv']) == 2
    assert 'name the robot' in capsys.readouterr().err


def test_a_mapping_with_a_scale_is_refused(folder, tmp_path, capsys):
    (tmp_path / 'map.yaml').write_text('torque: {scale: 2.0}')
    assert main([*command(folder, '.csv', '--columns', str(tmp_path / 'map.yaml'))]) == 2
    assert 'torque has a scale, which gains estimates' in capsys.readouterr().err
