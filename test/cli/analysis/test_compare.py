# SPDX-License-Identifier: Apache-2.0
import json

import numpy as np
import pytest
import yaml
from robots import random_urdf
from simulation import arm, record
from writers import write_csv

from robodyn_ros.cli.main import main
from robodyn_ros.identification.files.result_file import model_parameters


@pytest.fixture
def command(tmp_path):
    xml = random_urdf(2, 42, types=('revolute',))
    (tmp_path / 'cad.urdf').write_text(xml)
    model, values = arm(xml)
    content = model_parameters(model, values, np.full(len(values), np.nan))
    (tmp_path / 'result.yaml').write_text(yaml.safe_dump({'dynamic_model': content}))
    write_csv(record(model, values, 800, derivatives=False, rate=400.0), tmp_path / 'run.csv')
    names = [str(tmp_path / name) for name in ('cad.urdf', 'result.yaml', 'run.csv')]
    return ['compare', '--urdf', *names]


def test_the_result_has_smaller_errors_than_the_cad(command, tmp_path, capsys):
    assert main([*command, '--json', '--out', str(tmp_path / 'out')]) == 0
    facts = json.loads(capsys.readouterr().out)
    errors = {name: max(each['rms_error']) for name, each in facts['torque_errors'].items()}
    assert errors['result'] < 0.1 * errors['CAD']
    assert (tmp_path / 'out' / 'comparison.json').is_file() and len(facts['files']) == 4
    assert facts['base_parameters'][0]['difference'] is not None
    assert main([*command, '--filter-cutoff', '20']) == 0
    assert 'RMS torque error' in capsys.readouterr().out
    assert main([*command[:3], str(tmp_path), command[-1]]) == 0  # the folder of result.yaml
    capsys.readouterr()
    assert main([*command[:3], '/no/such/result.yaml', command[-1]]) == 2
    assert capsys.readouterr().err.startswith('error: ')
    assert main([*command[:3], command[-1], command[-2]]) == 2
    error = capsys.readouterr().err
    assert 'the result comes first, then the recording: ' in error
    assert 'run.csv is a recording (CSV), not a result file' in error
