# SPDX-License-Identifier: Apache-2.0
"""What static poses of an arm with heavy links identify: gravity and constant torques."""

import numpy as np
import pytest

from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.recording.readers import read_recording

OFFSET = np.array([0.4, -0.3])


def link(name, mass, x):
    inertia = '<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>'
    return (
        f'<link name="{name}"><inertial><origin xyz="{x} 0 0.02"/><mass value="{mass}"/>'
        f'{inertia}</inertial></link>'
    )


def joint(name, parent, child, x):
    limit = '<limit lower="-3" upper="3" effort="80" velocity="3"/>'
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{x} 0 0"/><axis xyz="0 1 0"/>{limit}</joint>'
    )


def write_urdf(path, masses, places):
    path.write_text(
        '<robot name="two"><link name="base"/>'
        + joint('a', 'base', 'one', 0.0) + link('one', masses[0], places[0])
        + joint('b', 'one', 'two', 0.4) + link('two', masses[1], places[1])
        + '</robot>'
    )  # fmt: skip
    return path


@pytest.fixture(scope='module')
def poses(tmp_path_factory):
    """The model by a rough URDF, the true torque of gravity, and two tables of poses."""
    folder = tmp_path_factory.mktemp('poses')
    truth = robot_model(write_urdf(folder / 'truth.urdf', (3.0, 2.0), (0.2, 0.15)), friction=[])
    rough = robot_model(write_urdf(folder / 'rough.urdf', (2.6, 2.3), (0.22, 0.14)))
    rng = np.random.default_rng(2)

    def table(count):
        q = rng.uniform(-2.0, 2.0, (count, 2))
        torque = truth.torque(q, 0.0 * q, 0.0 * q, truth.prior()) + OFFSET
        torque += 0.02 * rng.standard_normal(q.shape)
        path = folder / f'{count}.csv'
        header = 'q_a,q_b,tau_a,tau_b'
        np.savetxt(path, np.hstack([q, torque]), delimiter=',', header=header, comments='')
        return read_recording(path, joints=['a', 'b'])

    return rough, truth, table(120), table(60)


def test_gravity_and_constants_are_identified_and_nothing_else_is_claimed(poses):
    model, truth, train, test = poses
    result = identify(train, model, validation=test)
    assert result.success and 'static_poses' in [each.code for each in result.findings]
    words = {each.feedforward.word for each in result.verdict.joints}
    assert words == {'with care'}
    assert all('static_poses' in each.feedforward.text for each in result.verdict.joints)
    assert result.verdict.inertials.word == 'with care'
    q = np.random.default_rng(5).uniform(-2.0, 2.0, (50, 2))
    still = np.zeros_like(q)
    expected = truth.torque(q, still, still, truth.prior()) + OFFSET
    found = result.model.torque(q, still, still, result.values)
    assert np.abs(found - expected).max() < 0.05
    assert result.identification.relative_residual < 0.02
    assert result.validation.relative_residual < 0.02
    errors = [each.code for each in result.findings if each.severity == 'error']
    assert not errors


def test_wrong_torques_of_poses_are_not_usable(poses):
    model, _, train, _ = poses
    wrong = np.random.default_rng(1).permutation(train.torque)
    result = identify(type(train)(**{**vars(train), 'torque': wrong}), model)
    assert not result.success
