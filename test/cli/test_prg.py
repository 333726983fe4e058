import numpy as np
import pytest
import yaml
from prg_results import KINDS, model_of, result_of

from robodyn_ros.cli.main import main
from robodyn_ros.identification.files.prg import prg_text
from robodyn_ros.identification.files.result_file import load_identified_model


@pytest.fixture
def files(tmp_path):
    model = model_of('scara')
    values = np.linspace(0.5, 1.5, len(model.parameters))
    (tmp_path / 'IDNT1.PRG').write_text(prg_text(result_of(model, values)))
    description = {**KINDS['scara'], 'dynamic_model': 1, 'friction': ['viscous', 'coulomb']}
    (tmp_path / 'model.yaml').write_text(yaml.safe_dump(description))
    return tmp_path, values


def command(folder, *more):
    return [
        'prg',
        str(folder / 'IDNT1.PRG'),
        '--model',
        str(folder / 'model.yaml'),
        '--out',
        str(folder / 'result.yaml'),
        *more,
    ]


def test_a_prg_becomes_a_result_file(files, capsys):
    folder, values = files
    assert main(command(folder)) == 0
    back = load_identified_model(folder / 'result.yaml')
    np.testing.assert_allclose(back.values, values, rtol=1e-9)
    assert back.facts['imported'] is True and back.facts['source'].endswith('IDNT1.PRG')
    assert '16 parameters written' in capsys.readouterr().out


def test_a_file_that_does_not_fit_is_one_sentence_and_nothing_is_written(files, capsys):
    folder, _ = files
    assert main(command(folder, '--friction-sign', 'positive')) == 2
    assert main(command(folder, '--robot', 'ROB1')) == 2
    sign, name = capsys.readouterr().err.splitlines()
    assert 'A1.ViscousFriction' in sign and 'wrong sign' in sign
    assert 'expected ROB1' in name
    assert not (folder / 'result.yaml').exists()
