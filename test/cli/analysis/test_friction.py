# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

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
    command = ['friction', str(tmp_path / 'run.npz'), '--joints', 'a,b', '--law', 'linear']
    assert main([*command, '--json', '--out', str(tmp_path / 'out')]) == 0
    found = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(found['b']['speed'], [0.05, 0.1, 0.25, 0.5], rtol=1e-3)
    for joint in 'ab':
        speed = np.array(found[joint]['speed'])
        np.testing.assert_allclose(found[joint]['friction'], 2.0 * speed + 3.0, rtol=1e-3)
        np.testing.assert_allclose(found[joint]['linear']['viscous'], 2.0, rtol=0.01)
    page = (tmp_path / 'out' / 'friction.html').read_text()
    assert page.count('expression">b</th>') == 5  # four speeds and a law
    assert (tmp_path / 'out' / 'friction.png').read_bytes()[:4] == b'\x89PNG'
    assert len((tmp_path / 'out' / 'friction.csv').read_text().splitlines()) == 9
    assert main(command) == 0 and 'a: linear: viscous 2' in capsys.readouterr().out
    (tmp_path / 'file').touch()
    with pytest.raises(SystemExit, match='2'):  # before the work
        main([*command, '--out', str(tmp_path / 'file')])
    assert 'file is a file, expected a folder' in capsys.readouterr().err
