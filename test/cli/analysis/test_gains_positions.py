# SPDX-License-Identifier: Apache-2.0
"""From positions and commands of a hobby arm to gains, a model and a file for simulators."""

import json

import numpy as np
import pytest
import yaml
from servo_arm import servo_arm

from robodyn_ros.cli.main import main


def write_positions(recording, path):
    np.savez(path, times=recording.time, positions=recording.position, action=recording.command)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    folder, plant = tmp_path_factory.mktemp('servo'), servo_arm(101)
    (folder / 'arm.urdf').write_text(plant.xml)
    for name, mass, seed in (('empty', 0.0, 101), ('loaded', 0.2, 101), ('test', 0.0, 5)):
        write_positions(plant.record(mass, seed=seed), folder / f'{name}.npz')
    return folder, plant


def test_the_mapping_of_gains_leads_to_a_file_for_simulators(folder, tmp_path, capsys):
    folder, plant = folder
    urdf, out = ['--urdf', f'{folder}/arm.urdf'], f'{tmp_path}/gains'
    load = ['--payload-mass', '0.2', '--payload-com', '0.02', '-0.01', '0.05']
    runs = [f'{folder}/empty.npz', f'{folder}/loaded.npz']
    assert main(['gains', *runs, *load, *urdf, '--out', out]) == 0
    assert '[torque_of_position_error]' in capsys.readouterr().out
    mapping = yaml.safe_load((tmp_path / 'gains/columns.yaml').read_text())
    assert mapping['torque']['unit'] == 'position_error'
    assert list(mapping['torque']['scale'].values()) == pytest.approx(plant.gain, rel=0.02)
    assert mapping['command']['delay']['joint1'] == pytest.approx(plant.delay, abs=2e-3)
    use = ['--columns', f'{out}/columns.yaml', *urdf]
    model = f'{tmp_path}/model'
    main(['identify', runs[0], '--validate', f'{folder}/test.npz', *use, '--out', model, '--json'])
    facts = json.loads((tmp_path / 'model/result.json').read_text())
    assert facts['success'] and (tmp_path / 'model/robot.xml').read_text().count('<position') == 4
    assert max(facts['closed_loop']['rms'].values()) < 0.02


def test_positions_without_gains_are_checked_but_not_identified(folder, capsys):
    folder, _ = folder
    use = [f'{folder}/empty.npz', '--urdf', f'{folder}/arm.urdf']
    assert main(['check', *use]) == 1
    assert '[effort_undeclared]' in capsys.readouterr().out
    assert main(['identify', *use]) == 2
    assert 'robodyn gains estimates the torque per rad' in capsys.readouterr().err


@pytest.fixture(scope='module')
def mixed(folder):
    """Add recordings with a torque, and with currents beside the commands."""
    folder, _ = folder
    for name in ('empty', 'loaded'):
        given = dict(np.load(folder / f'{name}.npz'))
        signal = 2.0 * (given['action'] - given['positions'])
        np.savez(folder / f'{name}_currents.npz', **given, currents=signal)
        np.savez(folder / f'{name}_tau.npz', **given, torques=signal)
    return folder


def gains(folder, empty, loaded, *more):
    load = ['--payload-mass', '0.2', '--payload-com', '0.02', '-0.01', '0.05']
    urdf = ['--urdf', f'{folder}/arm.urdf']
    return main(['gains', f'{folder}/{empty}.npz', f'{folder}/{loaded}.npz', *load, *urdf, *more])


@pytest.mark.parametrize('pair', [('empty_tau', 'loaded'), ('empty', 'loaded_tau')])
def test_signals_of_two_kinds_give_no_factor(mixed, capsys, pair):
    assert gains(mixed, *pair) == 2
    shown = capsys.readouterr()
    assert f'{pair[1]}.npz: its signal is' in shown.err and 'factor' not in shown.out


def test_the_recording_of_check_has_the_same_signal(mixed, capsys):
    check = ['--check', f'{mixed}/loaded_tau.npz', '--check-mass', '0.2']
    assert gains(mixed, 'empty', 'loaded', *check) == 2
    assert 'loaded_tau.npz: its signal is a torque or current' in capsys.readouterr().err


@pytest.mark.parametrize('unit', ['A', 'permille', 'raw'])
def test_a_unit_of_drives_is_never_an_error_of_position(mixed, capsys, unit):
    assert gains(mixed, 'empty', 'loaded', '--unit', unit) == 2
    assert f'the error of position, not one in --unit {unit}' in capsys.readouterr().err


def test_the_proposed_mapping_of_currents_is_taken(mixed, tmp_path, capsys):
    assert gains(mixed, 'empty_currents', 'loaded_currents', '--unit', 'A') == 2
    lines = [each.strip() for each in capsys.readouterr().err.splitlines()]
    (torque,) = [each for each in lines if each.startswith('torque: ')]
    assert yaml.safe_load(torque)['torque'] == {
        'columns': ['currents'], 'unit': 'A', 'scale': 'NM_PER_A'
    }  # fmt: skip
    (tmp_path / 'map.yaml').write_text(torque)
    more = ['--columns', f'{tmp_path}/map.yaml', '--out', f'{tmp_path}/out']
    gains(mixed, 'empty_currents', 'loaded_currents', '--unit', 'A', *more, '--json')
    facts = json.loads(capsys.readouterr().out)
    assert facts['unit'] == 'A'
    written = yaml.safe_load((tmp_path / 'out/columns.yaml').read_text())['torque']
    assert written['unit'] == 'A' and all(each > 0.0 for each in written['scale'].values())
