# SPDX-License-Identifier: Apache-2.0
"""Each closed-form kind from recording and identification to result file and model."""

import numpy as np
import pytest

from robodyn_ros.identification.files.result_file import load_identified_model, write_result
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model
from robodyn_ros.recording.recording import Recording

JOINTS = [f'joint{k}' for k in range(1, 7)]
DELTA = {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.3, 'L_BC': 0.7}
KINDS = {
    'axis': {'kind': 'axis', 'type': 'rotary', 'dynamic_model': 3, 'joints': JOINTS[:1]},
    'scara': {
        'kind': 'scara',
        'dynamic_model': 1,
        'joints': JOINTS[:4],
        'geometry': {'L1': 0.3, 'L2': 0.25},
    },
    'delta3': {'kind': 'delta', 'dynamic_model': 1, 'joints': JOINTS[:3], 'geometry': DELTA},
    'delta4': {
        'kind': 'delta',
        'dynamic_model': 1,
        'joints': JOINTS[:4],
        'geometry': {**DELTA, 'h_O': 0.1},
        'prior': {'M_T': 0.2},
    },
    'puma1': {'kind': 'puma', 'dynamic_model': 1, 'joints': JOINTS},
    'puma2': {'kind': 'puma', 'dynamic_model': 2, 'joints': JOINTS, 'fifth_term': True},
}


def sines(model, seconds, slowest=0.4):
    """Time and motion: each joint through most of its range, at a frequency of its own."""
    time = np.arange(0.0, seconds, 0.004)
    count = len(model.joints)
    omega = 2 * np.pi * slowest * np.array([1.0, 1.27, 1.43, 1.13, 1.61, 0.91])[:count]
    turn = np.outer(time, omega) + np.arange(count)
    middle, reach = model.positions(np.zeros((1, count))), np.diff(model.position_limits()).T / 2
    reach = 0.9 * reach
    q = middle + reach * np.sin(turn)
    return time, q, reach * omega * np.cos(turn), -reach * omega**2 * np.sin(turn)


@pytest.mark.parametrize('name', KINDS)
def test_identifies_what_can_be_seen_and_comes_back_from_the_result_file(name, tmp_path):
    model = build_model({**KINDS[name], 'friction': ['viscous', 'coulomb']})
    slow = {'seconds': 45.0, 'slowest': 0.015} if name == 'puma2' else {'seconds': 20.0}
    time, q, qd, qdd = sines(model, **slow)
    random = np.random.default_rng(1)
    values = random.uniform(0.5, 1.5, len(model.parameters))
    torque = model.torque(q, qd, qdd, values)
    noise = random.normal(size=torque.shape) * 0.005 * torque.std(axis=0)
    recording = Recording(time=time, joints=model.joint_names, position=q, torque=torque + noise)
    result = identify(recording, model)
    assert result.success, result.findings
    write_result(result, tmp_path / 'result.yaml')
    back = load_identified_model(tmp_path / 'result.yaml')
    assert back.model.describe() == model.describe()
    found = back.model.torque(q, qd, qdd, back.values)
    error = np.linalg.norm(found - torque, axis=0) / np.linalg.norm(torque, axis=0)
    assert error.max() < 0.01
    base = base_parameters(model)
    size = np.abs(base.values(values)).max()
    np.testing.assert_allclose(
        base.values(back.values), base.values(values), rtol=0.1, atol=0.05 * size
    )
