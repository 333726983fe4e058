# SPDX-License-Identifier: Apache-2.0
import json
from dataclasses import replace

import numpy as np
import pytest
import yaml
from prg_results import model_of, result_of
from robots import random_urdf
from simulation import arm, record
from verdicts import with_bad

from robodyn_ros.errors import IdentificationError
from robodyn_ros.findings import Finding
from robodyn_ros.identification.files.export import export
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.recording.readers import read_recording


@pytest.fixture(scope='module')
def urdf_result():
    model, truth = arm(random_urdf(2, 3, types=('revolute',)))
    options = IdentifyOptions(keep_signals=True)
    return identify(record(model, truth, 1500, noise=0.02), model, options=options)


@pytest.fixture(scope='module')
def crank_result():
    model = model_of('rotary3')
    values = np.array([0.5, 0.0, 4.0, 0.0, 0.3, 0.7])
    return identify(record(model, values, 3000, noise=0.01), model)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_urdf_robot_gets_a_urdf_and_its_signals(urdf_result, tmp_path):
    files = export(urdf_result, tmp_path / 'new' / 'folder')
    assert names(tmp_path / 'new' / 'folder') == [
        'identification',
        'inertials.yaml',
        'isaac_lab.yaml',
        'result.json',
        'result.yaml',
        'robot.urdf',
        'robot.xml',
    ]
    assert files.prg is None and not files.notes
    facts = json.loads(files.facts.read_text())
    assert facts['signals_file'] == str(files.signals) and facts['prg_file'] is None
    assert facts['mjcf_file'] == str(files.mjcf)
    assert {*facts['simulators']} == {'joint1', 'joint2'}
    back = read_recording(files.signals, topic='/identification/filtered')
    kept = urdf_result.signals
    np.testing.assert_array_equal(back.torque, kept.processed.torque)
    error = np.abs(kept.predicted - kept.processed.torque).max(axis=0)
    peak = np.abs(kept.processed.torque).max(axis=0)
    assert (error / peak >= urdf_result.identification.max_relative_torque_error - 1e-12).all()


def test_a_softmc_kind_gets_a_prg_with_the_same_values(crank_result, tmp_path):
    files = export(crank_result, tmp_path)
    assert names(tmp_path) == ['IDNT1.PRG', 'result.json', 'result.yaml']
    text = files.prg.read_text()
    assert f'A1.DynamicParameter[1] = {crank_result.values[0]:.9e}' in text
    assert f'A1.CoulombFriction = {-crank_result.values[5]:.9e}' in text


def test_the_result_file_has_the_facts_of_the_document(crank_result, tmp_path):
    export(crank_result, tmp_path)
    content = yaml.safe_load((tmp_path / 'result.yaml').read_text())
    facts = content['/**']['ros__parameters']['identification']
    fit = crank_result.identification
    assert facts['success'] is True and facts['date'] == crank_result.date
    assert facts['max_relative_torque_error'] == fit.max_relative_torque_error.tolist()
    assert facts['mean_relative_torque_error'] == fit.mean_relative_torque_error.tolist()
    assert facts['max_relative_error_allowed'] == 0.5
    assert facts['filter_cutoff'] == 0.0  # the recording has accelerations
    assert (facts['samples'], facts['raw_samples']) == (2994, 3000)  # without six at reversals
    assert facts['moving_samples'] == fit.moving_samples.tolist()
    assert facts['velocity_threshold'] == fit.velocity_threshold.tolist()
    assert facts['dynamic_parameter_names'] == ['I', 'L^2', 'M*g*A', 'g*L']
    values = facts['dynamic_parameter_values']
    assert values[0] == crank_result.values[0] and np.isnan([values[1], values[3]]).all()
    assert facts['dynamic_parameter_status'][1] == 'unseen'
    assert facts['viscous_friction'] == {'joint1': crank_result.values[4]}
    assert facts['coulomb_friction'] == {'joint1': crank_result.values[5]}
    assert 'minimum norm' in facts['completion_rule']
    back = load_identified_model(tmp_path / 'result.yaml')
    np.testing.assert_array_equal(back.values, crank_result.values)
    plain = json.loads((tmp_path / 'result.json').read_text())
    assert plain['dynamic_parameters'][1]['value'] is None
    assert plain['friction']['coulomb_friction']['joint1'] == crank_result.values[5]


def test_of_a_failure_only_facts_and_signals_are_written(urdf_result, tmp_path):
    finding = Finding('x', 'because', severity='error')
    verdict = with_bad(urdf_result.verdict)
    failed = replace(urdf_result, success=False, verdict=verdict, findings=(finding,))
    files = export(failed, tmp_path)
    assert names(tmp_path) == ['identification', 'result.json'] and files.result is None
    assert export(failed, tmp_path, export_failed=True).result == tmp_path / 'result.yaml'


def test_what_does_not_fit_into_a_prg_is_said_and_costs_nothing(tmp_path):
    model = model_of('delta')
    values = np.linspace(0.5, 1.5, len(model.parameters))
    values[5] = 0.0
    files = export(result_of(model, values), tmp_path)
    assert files.prg is None and names(tmp_path) == ['result.json', 'result.yaml']
    assert 'no .PRG file is written' in files.notes[0]
    assert json.loads(files.facts.read_text())['notes'] == list(files.notes)


def test_somebody_s_recording_of_that_name_is_kept(urdf_result, tmp_path):
    (tmp_path / 'identification').mkdir()
    (tmp_path / 'identification' / 'mine.mcap').write_bytes(b'mine')
    files = export(urdf_result, tmp_path)
    assert files.signals is None and 'is kept' in files.notes[0]
    assert (tmp_path / 'identification' / 'mine.mcap').read_bytes() == b'mine'
    assert files.result.is_file()


def test_a_folder_that_cannot_be_made_is_one_sentence(urdf_result, tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(IdentificationError, match='cannot be made'):
        export(urdf_result, tmp_path / 'file')


def test_a_joint_that_is_not_usable_does_not_spoil_the_others(urdf_result, tmp_path):
    """It is written, and result.yaml says which joint it is."""
    name = urdf_result.model.joint_names[0]
    verdict = with_bad(urdf_result.verdict, name)
    files = export(replace(urdf_result, success=False, verdict=verdict), tmp_path)
    model = load_identified_model(files.result)
    assert model.verdict.list_refused('feedforward') == {name: 'because'}
    assert model.verdict.list_refused('monitoring', [name]) == {}
