# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.gear_torque_block import read_residual, residual_block
from robodyn_ros.identification.gears.selection import fit_residual

RANDOM = np.random.default_rng(2)
JOINTS = ('a', 'b')


def signals(samples=9000):
    """Deflections of two joints that swing, their rates and the motors' velocities."""
    time = np.arange(samples) / 50.0
    turn = time[:, None] * [1.1, 1.7] + [0.0, 1.0]
    slow = time[:, None] * [0.43, 0.31]
    deflection = 1e-3 * (np.sin(turn) + 0.6 * np.sin(2.3 * slow))
    return deflection, np.gradient(deflection, 0.02, axis=0), np.cos(1.9 * slow + 0.3)


def loaded_friction(deflection, velocity):
    """Friction that grows with the load that the deflection shows, for joint a only."""
    return np.sign(velocity) * np.abs(deflection) * 5000.0 * [1.0, 0.0]


@pytest.fixture(scope='module', params=['rbf', 'gmr'])
def trained(request):
    seen = signals()
    torque = loaded_friction(seen[0], seen[2]) + 0.1 * RANDOM.normal(size=seen[0].shape)
    used = np.ones(torque.shape, dtype=bool)
    return fit_residual(JOINTS, seen, torque, used, kind=request.param, cutoff=5.0)


def test_what_the_deflection_shows_is_learned_where_it_shows_something(trained):
    residual, tried = trained
    assert residual.inputs == ('deflection', 'deflection_rate', 'motor_velocity')
    assert [each.inputs for each in tried] == [residual.inputs, residual.inputs[:2]]
    assert tried[0].rms_share[0] < 0.5 and tried[0].rms_share[1] > 0.95
    seen = signals(2000)
    got, expected = residual.torque(*seen), loaded_friction(seen[0], seen[2])
    assert np.sqrt(np.mean((got - expected)[:, 0] ** 2)) < 0.4 * expected[:, 0].std()
    assert (got[:, 1] == 0.0).all()  # noise is no torque


def test_the_torque_is_limited_and_fades_beyond_the_training(trained):
    residual, _ = trained
    middle, span = (residual.high + residual.low) / 2, residual.high - residual.low
    middle[:, 0] = residual.high[:, 0]
    steps = np.linspace(0.0, 0.6, 61)[:, None, None]
    path = middle + steps * span * [1.0, 0.0, 0.0]
    torque = residual.torque(path[..., 0], path[..., 1], np.sign(path[..., 2]) * path[..., 2] ** 2)
    assert (np.abs(torque) <= residual.limit).all()
    np.testing.assert_allclose(torque[:51, 0], torque[0, 0] * np.linspace(1, 0, 51), atol=1e-9)
    assert (torque[50:] == 0.0).all()


def test_a_block_is_read_as_it_was_written(trained):
    residual, _ = trained
    block = residual_block(residual, 'model')
    again = read_residual(block, JOINTS, 'model', 'file')
    seen = signals(50)
    np.testing.assert_array_equal(again.torque(*seen), residual.torque(*seen))
    assert again.cutoff == 5.0 and read_residual(None, JOINTS, 'model', 'file') is None


@pytest.mark.parametrize(
    'change, reason',
    [
        ({'kind': 'net'}, 'kind'),
        ({'inputs': ['velocity']}, 'inputs'),
        ({'joints': ['b', 'a']}, 'joints'),
        ({'limit': [np.nan, 1.0]}, r'limit\[0\] must be a finite number'),
        ({'limit': [1e9, 1.0]}, 'hash'),
        ({'gear_ratio': [0.0, 1.0]}, 'gear_ratio'),
        ({'numbers': [0.0] * 5000}, 'at most'),
        ({'numbers': [0.0] * 50}, 'cannot be used'),
        ({'hash': 'other'}, 'hash'),
        ({'cutoff': -1.0}, 'cutoff must be a finite number >= 0'),
    ],
)
def test_a_block_that_was_changed_is_refused(trained, change, reason):
    block = {**residual_block(trained[0], 'model'), **change}
    with pytest.raises(IdentificationError, match=reason):
        read_residual(block, JOINTS, 'model', 'file')
