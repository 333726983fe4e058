# SPDX-License-Identifier: Apache-2.0
"""The block `payload` of a result file: round trip, where it is found, and what is refused."""

import numpy as np
import pytest
import yaml
from robots import random_urdf
from simulation import arm

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.result_file import load_identified_model, model_parameters
from robodyn_ros.identification.result.payload_block import (
    payload_block,
    read_payload,
)
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.payload import payload_of

MODEL, VALUES = arm(random_urdf(2, 5, types=('revolute',)))
PAYLOAD = payload_of(MODEL, 2.0, center_of_mass=[0.1, 0.0, 0.2], frame='link2_part')


def content(**changes):
    """Content of a result file with a payload."""
    parameters = {
        'dynamic_model': model_parameters(MODEL, VALUES, np.full(len(VALUES), 0.1)),
        'payload': {**payload_block(PAYLOAD), **changes},
        'identification': {'success': True},
    }
    text = yaml.safe_dump({'/**': {'ros__parameters': parameters}}, width=10**6)
    return yaml.safe_load(text)


def test_what_is_written_is_read_again():
    back = load_identified_model(content())
    np.testing.assert_array_equal(back.payload.values, PAYLOAD.values)
    assert np.isnan(back.payload.stddevs).all()  # given, not identified
    assert back.payload.model.frame == 'link2_part'
    np.testing.assert_array_equal(back.values, VALUES)
    np.testing.assert_array_equal(back.loaded, VALUES + PAYLOAD.added)
    assert back.facts == {'success': True}
    states = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 20, 2))
    np.testing.assert_allclose(back.torque(*states), MODEL.torque(*states, back.loaded))


def test_a_file_without_payload_has_none():
    whole = content()
    del whole['/**']['ros__parameters']['payload']
    back = load_identified_model(whole)
    assert back.payload is None
    assert back.loaded is back.values


@pytest.mark.parametrize(
    ('changes', 'sentence'),
    [
        ({'parameter_names': ['payload.mass']}, 'the payload of this model has the parameters'),
        ({'parameter_values': [1.0]}, 'needs 10 parameter_values'),
        (
            {'parameter_values': [float('nan')] * 10},
            r'_values\[0\] must be a finite number, got nan',
        ),
        ({'parameter_values': 3.0}, 'parameter_values must be a list, got 3.0'),
        ({'frame': 'hand'}, "has no link 'hand'"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(changes, sentence):
    with pytest.raises(IdentificationError, match=f'result: .*{sentence}'):
        load_identified_model(content(**changes))


def test_incomplete_blocks_and_other_models_are_refused():
    with pytest.raises(IdentificationError, match="file: payload: entry 'parameter_names'"):
        read_payload({'frame': ''}, MODEL, 'file')
    puma = build_model(
        {'kind': 'puma', 'dynamic_model': 1, 'joints': [f'joint{k}' for k in range(1, 7)]}
    )
    with pytest.raises(
        IdentificationError, match='file: payload: dynamic model 1 of a puma cannot'
    ):
        read_payload(payload_block(PAYLOAD), puma, 'file')
