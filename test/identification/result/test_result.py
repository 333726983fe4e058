# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
import yaml
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.result_file import load_identified_model, write_result
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.yaml_file import LOADER


@pytest.fixture(scope='module')
def result():
    model, truth = arm(random_urdf(3, 80))
    recording = record(model, truth, noise=0.01)
    return identify(recording, model, validation=record(model, truth, seed=1, noise=0.01))


@pytest.fixture(scope='module')
def failed():
    model, truth = arm(random_urdf(3, 80))
    recording = record(model, truth, 90, noise=0.01)
    return identify(recording, model, options=IdentifyOptions(max_relative_error=1e-6))


@pytest.fixture
def content(result, tmp_path):
    write_result(result, tmp_path / 'result.yaml')
    return yaml.load((tmp_path / 'result.yaml').read_text(), Loader=LOADER)


def model_of(content):
    return content['/**']['ros__parameters']['dynamic_model']


def test_round_trip_is_exact(result, tmp_path):
    write_result(result, tmp_path / 'result.yaml')
    loaded = load_identified_model(tmp_path / 'result.yaml')
    np.testing.assert_array_equal(loaded.values, result.values)
    np.testing.assert_array_equal(loaded.stddevs, result.stddevs)
    assert loaded.joints == result.model.joint_names
    assert loaded.model.parameters == result.model.parameters
    states = np.random.default_rng(0).normal(size=(3, 20, 3))
    expected = result.model.torque(*states, result.values)
    np.testing.assert_array_equal(loaded.torque(*states), expected)
    assert [path.name for path in tmp_path.iterdir()] == ['result.yaml']


def test_any_nesting_of_the_parameters_can_be_loaded(content):
    inner = model_of(content)
    hashes = {
        load_identified_model(mapping).hash
        for mapping in (
            content,
            content['/**'],
            {'feedforward': content['/**']},
            {'dynamic_model': inner},
            inner,
        )
    }
    assert hashes == {inner['hash']}


def test_file_holds_only_what_ros_parameters_can_be(content):
    def check(value, path):
        if isinstance(value, dict):
            for key, item in value.items():
                check(item, f'{path}.{key}')
        elif isinstance(value, list):
            assert value, f'{path} is empty and so has no type'
            assert len({type(item) for item in value}) == 1, path
            assert isinstance(value[0], (bool, int, float, str)), path
        else:
            assert isinstance(value, (bool, int, float, str)), path

    check(content['/**']['ros__parameters'], '')
    facts = content['/**']['ros__parameters']['identification']
    assert facts['success'] is True and facts['validated'] is True
    assert len(facts['max_relative_torque_error']) == 3


@pytest.mark.parametrize('key', ['format', 'hash'])
def test_missing_key_is_named(content, key):
    del model_of(content)[key]
    with pytest.raises(IdentificationError, match=f"dynamic_model: entry '{key}' is missing"):
        load_identified_model(content)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        (lambda m: m['parameter_values'].pop(), 'parameter_values has 41 entries, expected 42'),
        (lambda m: m['parameter_stddevs'].pop(), 'parameter_stddevs has 41 entries'),
        (lambda m: m['parameter_names'].pop(), 'parameter_names has 41 entries'),
        (lambda m: m['parameter_names'].reverse(), 'expected parameter link1.m, got joint3'),
        (lambda m: m['parameter_values'].__setitem__(1, np.nan), 'link1.mx is not finite'),
        (lambda m: m['parameter_values'].__setitem__(1, 'x'), 'parameter_values.1. must be a'),
        (lambda m: m['parameter_values'].__setitem__(1, 0.123), 'the hash does not fit'),
        (lambda m: m.update(hash='0'), 'the hash does not fit'),
        (lambda m: m.update(format=9), 'format must be one of 1, got 9'),
        (lambda m: m.update(joints=['a', 'b', 'c']), 'are not those of the model'),
        (lambda m: m.update(description='kind: nothing'), 'the model cannot be built'),
        (lambda m: m.update(description='{'), 'the model cannot be built'),
    ],
)
def test_damaged_files_are_refused_in_one_sentence(content, change, message):
    change(model_of(content))
    with pytest.raises(IdentificationError, match=message) as error:
        load_identified_model(content)
    assert '\n' not in str(error.value)


@pytest.mark.parametrize('text', ['', '[1, 2]', '{', 'a: 1', 'a: {b: {c: 1}}'])
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / 'x.yaml').write_text(text)
    with pytest.raises(IdentificationError, match=r'x\.yaml'):
        load_identified_model(tmp_path / 'x.yaml')
    with pytest.raises(IdentificationError, match='cannot be read'):
        load_identified_model(tmp_path / 'missing.yaml')


def test_failed_identification_is_exported_only_on_request(failed, tmp_path):
    assert not failed.success
    with pytest.raises(IdentificationError, match=r'failed and is not exported: .*joint'):
        write_result(failed, tmp_path / 'result.yaml')
    assert not list(tmp_path.iterdir())
    write_result(failed, tmp_path / 'result.yaml', export_failed=True)
    facts = yaml.safe_load((tmp_path / 'result.yaml').read_text())
    assert facts['/**']['ros__parameters']['identification']['success'] is False
    load_identified_model(tmp_path / 'result.yaml')
