# SPDX-License-Identifier: Apache-2.0
"""`robodyn excite`: options to files, figures and sentences."""

import csv
import json
import signal

import numpy as np
import pytest
from published import PUMA, robot, urdf
from robots import LWR4

from robodyn_ros.cli import excite
from robodyn_ros.cli.main import main
from robodyn_ros.excitation.catalog import load_motion
from robodyn_ros.excitation.design.criteria import Criterion

LIMITS = """
joint_limits:
  joint1: {max_velocity: 1.7453, max_acceleration: 2.0944, min_position: -2.0, max_position: 2.0}
  joint2: {max_velocity: 1.0472, max_acceleration: 2.0944, min_position: -1.5, max_position: 1.5}
"""
SCARA = """
kind: scara
dynamic_model: 1
joints: [joint1, joint2, joint3]
geometry: {L1: 0.35, L2: 0.25}
friction: [viscous, coulomb]
"""
QUICK = ['--time', '1.5', '--processes', '0', '--starts', '1', '--samples', '60']


@pytest.fixture
def files(tmp_path):
    (tmp_path / 'puma.urdf').write_text(urdf(PUMA))
    (tmp_path / 'limits.yaml').write_text(LIMITS)
    (tmp_path / 'scara.yaml').write_text(SCARA)
    return tmp_path


def test_writes_what_it_says(files, capsys):
    arguments = ['--urdf', str(files / 'puma.urdf'), '--limits', str(files / 'limits.yaml')]
    out = files / 'out'
    code = main(
        ['excite', *arguments, '--no-rotor-inertia', '--criterion', 'cond', '--motion', 'fourier',
         '--duration', '10', '--harmonics', '3', '--out', str(out), '--json', *QUICK]
    )  # fmt: skip
    facts = json.loads(capsys.readouterr().out)
    assert code == 0 and facts['criterion'] == 'cond' and facts['duration'] == 10.0
    assert sorted(path.name for path in out.iterdir()) == [
        'joints.png', 'motion.html', 'path.png', 'trajectory.csv', 'trajectory.yaml',
    ]  # fmt: skip
    assert all(path.read_bytes()[:4] == b'\x89PNG' for path in out.glob('*.png'))
    trajectory = load_motion(facts['files']['trajectory'])
    motion = trajectory.sample(np.arange(60) * (10.0 / 60))
    figures = Criterion(robot('puma')).figures(
        motion.position, motion.velocity, motion.acceleration
    )
    assert facts['value'] == pytest.approx(figures['condition_number'], rel=1e-6)
    for entry in facts['joints']:
        assert max(entry[k] for k in ('position', 'velocity', 'acceleration')) <= 1.0
    with (out / 'trajectory.csv').open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:4] == ['t', 'q_joint1', 'qd_joint1', 'qdd_joint1']
    assert len(rows) == 1001 and float(rows[-1]['t']) == 10.0
    there = trajectory.sample(np.array([float(rows[333]['t'])]))
    assert float(rows[333]['qd_joint4']) == pytest.approx(there.velocity[0, 3], abs=1e-9)
    assert np.abs(there.velocity[0, :2]).max() < 1.7454


@pytest.mark.parametrize(
    ('extra', 'words'),
    [
        (['--floor', '0.1', '--position', '0,1.8,0,0,0,0,0'], 'and the floor at z = 0.1 m'),
        (['--floor', '2.0'], 'start and end with --position (optimise.position of the node)'),
        (['--frames', 'hand', '--floor', '0.1'], "has no link 'hand'"),
    ],
)
def test_what_is_impossible_is_one_sentence(extra, words, capsys):
    assert main(['excite', '--urdf', str(LWR4), *QUICK, *extra]) == 2
    error = capsys.readouterr().err
    assert error.count('\n') == 1 and words in error


@pytest.mark.parametrize(
    ('option', 'word'),
    [('--time', '0'), ('--duration', 'nan')],
)
def test_a_number_that_cannot_be_used_is_one_sentence(option, word, capsys):
    assert main(['excite', '--urdf', str(LWR4), *QUICK, option, word]) == 2
    error = capsys.readouterr().err
    assert error.count('\n') == 1 and f'{option[2:]} must' in error


def pressing(times):
    """A search during which Ctrl-C is pressed."""

    def search(design, values, *, progress, cancel):
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        return real(design, values, progress=progress, cancel=cancel)

    real = excite.search
    return search


def test_ctrl_c_keeps_the_best_so_far(files, capsys, monkeypatch):
    monkeypatch.setattr(excite, 'search', pressing(1))
    before = signal.getsignal(signal.SIGINT)
    command = ['excite', '--urdf', str(files / 'puma.urdf'), '--limits',
               str(files / 'limits.yaml'), '--out', str(files / 'out'), '--json', *QUICK,
               '--time', '100']  # fmt: skip
    assert main(command) == 130
    assert signal.getsignal(signal.SIGINT) == before
    facts = json.loads(capsys.readouterr().out)
    assert facts['interrupted'] and not facts['complete'] and facts['seconds'] < 30.0
    assert load_motion(facts['files']['trajectory']).duration == 20.0


def test_second_ctrl_c_gives_up(files, capsys, monkeypatch):
    monkeypatch.setattr(excite, 'search', pressing(2))
    command = ['excite', '--urdf', str(files / 'puma.urdf'), '--out', str(files / 'out'), *QUICK]
    assert main(command) == 130
    assert capsys.readouterr().err.endswith('interrupted\n') and not (files / 'out').exists()
