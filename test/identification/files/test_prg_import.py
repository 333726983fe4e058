# SPDX-License-Identifier: Apache-2.0
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prg_results import KINDS, model_of, result_of
from robots import DATA

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.prg import prg_text
from robodyn_ros.identification.files.prg_import import read_prg, write_imported
from robodyn_ros.identification.files.result_file import load_identified_model

DOCUMENT = DATA.parent / 'reference' / 'seeds' / 'softmc_inverse_dynamic_model.txt'
VISCOUS = [154.7427791, 160.3287029, 108.5257604, 11.42833743, 24.68491129, 2.173025205]
COULOMB = [20.18153298, 46.58045702, 19.61987594, 9.12444687, 3.713111266, 0.9724658207]
FRICTION = {'viscous_friction': VISCOUS, 'coulomb_friction': COULOMB}


def written(tmp_path, text):
    path = tmp_path / 'IDNT1.PRG'
    path.write_text(text)
    return path


def example(values=None, name='puma2', **options):
    model = model_of(name)
    if values is None:
        values = np.linspace(0.5, 1.5, len(model.parameters))
    return model, prg_text(result_of(model, values, **options))


@pytest.mark.parametrize('name', ['puma2', 'puma2_fifth'])
def test_the_example_of_the_document_can_be_imported(tmp_path, name):
    if not DOCUMENT.is_file():
        pytest.skip(f'no document {DOCUMENT}')
    text = DOCUMENT.read_text()
    listing = text[text.index("1. 'Dynamic parameter") : text.index('Line 1-7 give')]
    prg = read_prg(written(tmp_path, listing), model_of(name))
    gravity = [87.59309007, 10.21832253, 30.42091725, 1.560383089]
    np.testing.assert_array_equal(prg.values[:4], gravity)
    if name == 'puma2_fifth':
        assert prg.values[4] == 0.0 and 'g*m2*l2y: taken as 0' in prg.notes[0]
    path = tmp_path / 'result.yaml'
    write_imported(prg, path, source='IDNT1.PRG')
    back = load_identified_model(path)
    np.testing.assert_array_equal(back.values, prg.values)
    assert np.isnan(back.stddevs).all()
    joints = back.model.joint_names
    for term, expected in FRICTION.items():
        assert list(back.facts[term].values()) == expected
        assert tuple(back.facts[term]) == joints
    assert back.facts['imported'] is True and back.facts['success'] is True


@pytest.mark.parametrize('name', KINDS)
def test_what_is_exported_comes_back(name, tmp_path):
    model = model_of(name, ('viscous', 'coulomb', 'offset', 'slip'))
    state = np.random.default_rng(0).uniform(-0.4, 0.4, (3, 20, len(model.joints)))
    regressor = model.regressor(*state)
    friction = np.array([item.name.endswith('friction') for item in model.parameters])
    # Nine digits of each number; DELTA: of L_TO, L_TP and the inertia that they leave.
    lost = 1e-5 if name == 'delta' else 1e-8

    @settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
    @given(seed=st.integers(0, 2**32), decades=st.floats(0.0, 3.0))
    def comes_back(seed, decades):
        random = np.random.default_rng(seed)
        values = 10.0 ** random.uniform(-decades, decades, len(model.parameters))
        values *= np.where(friction, 1.0, random.choice([-1.0, 1.0], len(values)))
        prg = read_prg(written(tmp_path, prg_text(result_of(model, values))), model)
        error = np.abs(regressor @ (prg.values - values)).max()
        assert error <= lost * np.abs(values).max() * np.abs(regressor).max()
        assert prg.success is True and not prg.notes

    comes_back()


def edited(text, pattern, replacement):
    changed, count = re.subn(pattern, replacement, text, count=1, flags=re.MULTILINE)
    assert count == 1
    return changed


@pytest.mark.parametrize(
    ('pattern', 'replacement', 'message'),
    [
        (r'^PUMA.DynamicParameter\[3\].*\n', '', r'line 14: expected PUMA.DynamicParameter\[3\]'),
        (
            r'^(PUMA.DynamicParameter\[1\].*\n)(PUMA.DynamicParameter\[2\].*\n)',
            r'\2\1',
            r'line 12: expected PUMA.DynamicParameter\[1\] = a number, got PUMA.DynamicParam',
        ),
        (r'(\[5\] = )\S+', r'\g<1>1.0', 'line 16: dynamic model 2 of a puma has 4 parameters'),
        (r'(\[2\] = )\S+', r'\g<1>nan', r'line 13: PUMA.DynamicParameter\[2\] must be a finite'),
        (r'(\[2\] = )\S+', r'\g<1>1_0', 'must be a finite number, got 1_0'),
        (r'(A2.ViscousFriction = )-', r'\1', 'line 22: A2.ViscousFriction = .* the wrong sign'),
        (r'^(A6.Coul.*\n)', r'\1A7.ViscousFriction = -1\n', 'expected PUMA.DynamicModel'),
        (r'DynamicModel = 2', 'DynamicModel = 1', 'is of dynamic model 1, the model description'),
        (r'ATTACH PUMA', 'ATTACH ROB1', 'if ROB1 is this robot'),
        (r'^TERMINATE PROGRAM\n', '', 'the file ends where TERMINATE PROGRAM is expected'),
        (r'(TERMINATE PROGRAM\n)', r'\1A1.Jerk = 1\n', 'expected nothing more, got A1.Jerk'),
        (r'succeeded!', 'failed!', 'its identification failed'),
        (r'^\n', "'robodyn some = 1\n", "'robodyn some = 1 is no parameter"),
    ],
)
def test_refuses_with_one_sentence_that_names_the_line(tmp_path, pattern, replacement, message):
    model, text = example()
    path = written(tmp_path, edited(text, pattern, replacement))
    with pytest.raises(IdentificationError, match=message) as caught:
        read_prg(path, model)
    assert str(path) in str(caught.value) and '\n' not in str(caught.value)


def test_a_file_of_fewer_axes_is_refused(tmp_path):
    _, text = example(name='scara3')
    with pytest.raises(IdentificationError, match=r'expected A4.ViscousFriction'):
        read_prg(written(tmp_path, text), model_of('scara'))


def test_without_the_comments_a_puma_has_no_gravity(tmp_path):
    model, text = example(name='puma')
    plain = '\n'.join(row for row in text.splitlines() if not row.startswith("'robodyn"))
    with pytest.raises(IdentificationError, match='Im1 is missing: the 23 parameters'):
        read_prg(written(tmp_path, plain), model)


def test_parameters_that_the_known_geometry_rules_out_are_refused(tmp_path):
    _, text = example(name='puma')
    with pytest.raises(IdentificationError, match='does not follow from its geometry'):
        read_prg(written(tmp_path, text), model_of('puma_known'))


def test_friction_needs_its_terms_in_the_model(tmp_path):
    _, text = example()
    with pytest.raises(IdentificationError, match='it has coulomb friction, the model descript'):
        read_prg(written(tmp_path, text), model_of('puma2', ('viscous',)))
