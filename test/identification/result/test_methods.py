# SPDX-License-Identifier: Apache-2.0
"""Both kinds of result answer alike: summary, torque, URDF and plot."""

import numpy as np
import pytest
from robots import SINGLE_ROTARY_AXIS
from simulation import arm, record

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.result_file import load_identified_model, write_result
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify

MODEL, VALUES = arm(SINGLE_ROTARY_AXIS)
RECORDING = record(MODEL, VALUES, 3000)


@pytest.fixture(scope='module')
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp('result') / 'result.yaml'
    fresh = identify(RECORDING, MODEL, options=IdentifyOptions(keep_signals=True))
    write_result(fresh, path)
    return fresh, load_identified_model(path)


def test_a_loaded_result_has_the_summary_of_the_fresh_one(results):
    fresh, loaded = (result.summary() for result in results)
    assert fresh == loaded
    assert fresh.startswith('identification succeeded')


def test_torque_is_that_of_the_robot_for_one_sample_and_for_many(results):
    motion = RECORDING.position, RECORDING.velocity, RECORDING.acceleration
    for result in results:
        torque = result.torque(*motion)
        np.testing.assert_allclose(torque, RECORDING.torque, atol=1e-3)
        np.testing.assert_allclose(result.torque(*(each[7] for each in motion)), torque[7])


@pytest.mark.parametrize(
    'shapes', [((2,), (2,), (2,)), ((3, 1), (3, 1), (1,)), ((), (), ()), ((1, 3), (1, 3), (1, 3))]
)
def test_torque_of_another_shape_is_refused(results, shapes):
    for result in results:
        with pytest.raises(IdentificationError, match=r'of shape \(N, 1\) or \(1,\), got'):
            result.torque(*(np.zeros(shape) for shape in shapes))
