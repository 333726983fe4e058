# SPDX-License-Identifier: Apache-2.0
import json

import numpy as np
import pytest

from robodyn_ros.cli.main import main
from robodyn_ros.excitation.motions.bidirectional import BidirectionalMotion


def test_friction_of_a_recorded_experiment(tmp_path, capsys):
    motion = BidirectionalMotion(
        joints=['a', 'b'],
        start=[0.0, 0.0],
        target=[0.8, -0.8],
        speeds=[0.1, 0.2, 0.5, 1.0],
        max_velocity=[1.0, 0.5],
        max_acceleration=[10.0, 10.0],
    ).grid(0.005)
    torque = 2.0 * motion.velocity + 3.0 * np.sign(motion.velocity) + 5.0 * np.cos(motion.position)
    signals = {'positions': motion.position, 'velocities': motion.velocity, 'torques': torque}
    np.savez(tmp_path / 'run.npz', times=motion.time, **signals)
    command = ['friction', str(tmp_path / 'run.npz'), '--joints', 'a,b', '--friction', 'linear']
    assert main([*command, '--json', '--out', str(tmp_path / 'out')]) == 0
    found = json.loads(capsys.readouterr().out)['friction']
    for joint in 'ab':
        values = {item['name']: item for item in found[joint]['values']}
        assert values['viscous_friction']['value'] == pytest.approx(2.0, rel=0.02)
        assert values['coulomb_friction']['value'] == pytest.approx(3.0, rel=0.02)
        assert values['viscous_friction']['lower'] < values['viscous_friction']['upper']
        assert 0.3 < found[joint]['share'] < 1.0
    page = (tmp_path / 'out' / 'friction.html').read_text()
    assert page.count('expression">b</th>') >= 2  # a row per value
    assert (tmp_path / 'out' / 'friction.png').read_bytes()[:4] == b'\x89PNG'
    rows = (tmp_path / 'out' / 'friction.csv').read_text().splitlines()
    assert rows[0] == 'joint,speed,friction' and rows[-1].startswith('b,')
    assert main(command) == 0
    text = capsys.readouterr().out
    assert '3 Nm, 3 to 3' in text and 'usable' in text
    (tmp_path / 'file').touch()
    with pytest.raises(SystemExit, match='2'):  # before the work
        main([*command, '--out', str(tmp_path / 'file')])
    assert 'file is a file, expected a folder' in capsys.readouterr().err


def test_what_makes_a_joint_unusable_is_said_in_full(tmp_path, capsys):
    """Times twice as long as they were, and a column of accelerations that has only zeros."""
    time = np.arange(4000) * 0.005
    position = 0.5 * np.sin(2.0 * np.pi * 0.3 * time)
    velocity = np.gradient(position, time)
    torque = 2.0 * velocity + 3.0 * np.sign(velocity)
    table = np.column_stack([2.0 * time, position, velocity, 0.0 * time, torque])
    file = tmp_path / 'run.csv'
    np.savetxt(file, table, delimiter=',', header='time,q1,dq1,ddq1,tau1', comments='')
    assert main(['friction', str(file)]) == 1
    text = capsys.readouterr().out
    assert '2 times the derivatives' in text and 'Check the units of the stamps' in text
    assert 'rank_deficient' not in text
