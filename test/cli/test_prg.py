# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
import yaml
from prg_results import KINDS, model_of, result_of

from robodyn_ros.cli.main import main
from robodyn_ros.identification.files.prg import prg_text
from robodyn_ros.identification.files.result_file import load_identified_model


def test_a_prg_becomes_a_result_file_and_a_wrong_one_is_one_sentence(tmp_path, capsys):
    model = model_of('scara')
    values = np.linspace(0.5, 1.5, len(model.parameters))
    prg, description, out = (tmp_path / name for name in ('IDNT1.PRG', 'model.yaml', 'r.yaml'))
    prg.write_text(prg_text(result_of(model, values)))
    friction = {'dynamic_model': 1, 'friction': ['viscous', 'coulomb']}
    description.write_text(yaml.safe_dump({**KINDS['scara'], **friction}))
    command = ['prg', str(prg), '--model', str(description), '--out', str(out)]
    assert main([*command, '--robot', 'ROB1']) == 2
    for missing in (command[:-2], [*command[:2], *command[4:]]):
        with pytest.raises(SystemExit):
            main(missing)
    assert 'expected ROB1' in capsys.readouterr().err
    assert not out.exists()
    assert main(command) == 0
    back = load_identified_model(out)
    np.testing.assert_allclose(back.values, values, rtol=1e-9)
    assert back.facts['imported'] is True and back.facts['source'].endswith('IDNT1.PRG')
    assert '16 parameters written' in capsys.readouterr().out
