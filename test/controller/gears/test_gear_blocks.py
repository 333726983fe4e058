# SPDX-License-Identifier: Apache-2.0
"""Blocks `residual_torque` that the controller plugin refuses, as the Python reader does."""

import numpy as np
import pytest
import yaml
from controller_build import law_check, use_results
from controller_gears import random_law
from controller_models import MODELS
from writers import result_file

from robodyn_ros.bounds import GEAR_NUMBERS
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files import gear_torque_block
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.gears.maps import RbfMap
from robodyn_ros.models.gear_torque import GearTorqueLaw

KEYS = ('kind', 'joints', 'inputs', 'cutoff', 'limit', 'gear_ratio', 'low', 'high',
        'array_names', 'array_shapes', 'numbers', 'hash')  # fmt: skip
NUMERIC = ('cutoff', 'limit', 'gear_ratio', 'low', 'high', 'numbers')
KINDS = ('rbf', 'gmr')


class Written:
    """Result files of a model of one joint, with blocks that may be changed."""

    def __init__(self, folder, kind: str) -> None:
        law_check()  # skips where the plugin was not built
        model = MODELS['rotary 1']()
        self.law = random_law(model.joint_names, kind, 2)
        self.path = result_file(folder, model, np.ones(len(model.parameters)), residual=self.law)
        self.content = yaml.safe_load(self.path.read_text())
        self.parameters = self.content['/**']['ros__parameters']
        self.block = self.parameters['residual_torque']

    def write(self, block, *, fitted=False) -> None:
        """Write a block; `fitted`: with the hash of its content, if it has one."""
        if fitted:
            try:
                digest = gear_torque_block._hash(block, self.parameters['dynamic_model']['hash'])
                block = {**block, 'hash': digest}
            except Exception:  # of whatever a change made of it
                pass
        self.parameters['residual_torque'] = block
        self.path.write_text(yaml.safe_dump(self.content, width=10**6))

    def by_plugin(self) -> str:
        """'used', or why the plugin refuses the block."""
        said = use_results('results', [self.path])[0]
        begin = f'the result file {self.path} cannot be used: its block residual_torque: '
        assert said == 'used' or said.startswith(begin), said
        return said.removeprefix(begin)

    def by_python(self) -> GearTorqueLaw | None:
        """Torque that the Python nodes read; None: refused."""
        try:
            with np.errstate(all='ignore'):
                return load_identified_model(self.path).residual
        except IdentificationError as error:
            assert 'the block residual_torque cannot be used: ' in str(error)
            return None

    def check_refused(self, sentence: str, block, **options) -> None:
        """Plugin and node refuse a block; the plugin's sentence has one of several parts."""
        self.write(block, **options)
        said = self.by_plugin()
        assert any(part in said for part in sentence.split('|')) and said != 'used', said
        assert self.by_python() is None


@pytest.fixture(params=KINDS)
def written(request, tmp_path):
    return Written(tmp_path, request.param)


def test_a_block_is_used_as_it_was_written(written):
    assert written.by_plugin() == 'used'
    written.write(None)
    assert written.by_plugin() == 'used' and written.by_python() is None
    written.write({**written.block, 'cutoff': -0.0, 'limit': [0.0]}, fitted=True)
    assert written.by_plugin() == 'used' and written.by_python() is not None


def test_a_block_that_is_incomplete_changed_or_no_mapping_is_refused(written, tmp_path):
    for key in KEYS:
        block = {name: value for name, value in written.block.items() if name != key}
        written.check_refused(f'it has no "{key}"', block)
    for content in ([1], 'text', {}, 3.0):
        written.check_refused('', content)
    for key in NUMERIC:  # the least change of a number
        old = written.block[key]
        new = float(np.nextafter(old if key == 'cutoff' else old[-1], np.inf))
        block = {**written.block, key: new if key == 'cutoff' else [*old[:-1], new]}
        written.check_refused('its hash does not fit', block)
    model = MODELS['rotary 1']()
    other = result_file(tmp_path, model, 2.0 * np.ones(len(model.parameters)))
    content = yaml.safe_load(other.read_text())['/**']['ros__parameters']
    written.parameters['dynamic_model'] = content['dynamic_model']
    written.check_refused('its hash does not fit', written.block)  # it is of another model


@pytest.mark.parametrize(
    'change, sentence',
    [
        ({'kind': 'net'}, 'kind "net" is not one of rbf, gmr'),
        ({'inputs': ['motor_velocity']}, 'its inputs are not the first two or three of'),
        ({'joints': ['other']}, 'its joints are not those of the model'),
        ({'limit': [np.nan]}, 'limit must be 1 finite numbers'),
        ({'limit': ['much']}, 'limit must be 1 finite numbers'),
        ({'limit': [-1.0]}, 'a limit must not be negative'),
        ({'low': [0.0, 0.0], 'high': [1.0, 0.0]}, 'low must be below high'),
        ({'high': [1.0]}, 'high must be 2 finite numbers'),
        ({'gear_ratio': [0.0]}, 'a gear_ratio must not be 0'),
        ({'cutoff': -1.0}, 'cutoff must not be negative'),
        ({'cutoff': None}, 'cutoff must be a finite number'),
        ({'cutoff': np.inf}, 'cutoff must be a finite number'),
        ({'numbers': [0.0] * 2001}, '2001 numbers, at most 2000 per joint are possible'),
        ({'numbers': [0.0] * 9}, '9 numbers where the shapes need more'),
        ({'numbers': 'many'}, 'numbers must be'),
        ({'array_names': ['x']}, 'array_names and array_shapes must have the same length'),
        ({'array_shapes': ['[9999999]'] * 4}, 'array_names and|numbers where the shapes need'),
        ({'array_shapes': ['[-1]'] * 4}, 'array_names and|shape [-1] of'),
        ({'hash': 'other'}, 'its hash does not fit: it was changed, or belongs to another model'),
    ],
)
def test_a_block_that_was_changed_is_refused_with_a_sentence(written, change, sentence):
    written.check_refused(sentence, {**written.block, **change})


def test_a_covariance_that_cannot_be_inverted_is_refused(tmp_path):
    written = Written(tmp_path, 'gmr')
    block = {**written.block, 'numbers': [*written.block['numbers'][:-9], *[0.0] * 9]}
    written.check_refused('a covariance cannot be inverted', block, fitted=True)


@pytest.mark.parametrize('points', [153, 154])
def test_the_bound_of_numbers_is_that_of_the_python_reader(points, tmp_path):
    written = Written(tmp_path, 'rbf')
    law = random_law(MODELS['rotary 1']().joint_names, 'rbf', 3)
    centres = tuple(np.linspace(-1.0, 1.0, count)[None] for count in (2, 6, points))
    weights = np.ones((1, 2, 6, points))
    law = GearTorqueLaw(**{**vars(law), 'map': RbfMap(centres, np.ones((1, 3)), weights)})
    block = gear_torque_block.residual_block(law, written.parameters['dynamic_model']['hash'])
    written.write(block)
    fits = len(block['numbers']) <= GEAR_NUMBERS.most
    assert (len(block['numbers']) == GEAR_NUMBERS.most) == (points == 153)
    assert (written.by_plugin() == 'used') == fits == (written.by_python() is not None)
