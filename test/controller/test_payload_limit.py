# SPDX-License-Identifier: Apache-2.0
"""The payloads that the plugin refuses are those that the node refuses, in the same words."""

import numpy as np
import pytest
from controller_build import run_check
from writers import result_file

from robodyn_ros.control.payload_limit import PayloadLimit
from robodyn_ros.errors import ControlError
from robodyn_ros.models.catalog import build_model, load_model, robot_model
from robodyn_ros.models.payload import PayloadModel, payload_of
from robodyn_ros.nodes.robot.model_node import effort_limits

AXIS = {'kind': 'axis', 'joints': ['joint1'], 'dynamic_model': 1}
MODELS = {
    'six_axis': lambda: robot_model('urdf/six_axis.urdf', friction=['viscous', 'coulomb']),
    'reordered': lambda: robot_model(
        'urdf/six_axis.urdf', joints=['joint3', 'joint1', 'joint2'], friction=['viscous']
    ),
    'springs': lambda: robot_model('urdf/six_axis.urdf', friction=['linear', 'balancer', 'slip']),
    'scara': lambda: load_model('config/robots/scara.yaml'),
    'delta': lambda: load_model('config/robots/delta.yaml'),
    'slide': lambda: build_model({**AXIS, 'type': 'linear'}),
    'table': lambda: build_model({**AXIS, 'type': 'rotary'}),
}
PAYLOADS = [(2500.0,), (5.0,), (1.0, 0.1, 0.0, 0.3), (1.0, 0.0, 50.0, 0.0),
            (0.5, 0.0, 0.0, 0.1, 1e6, 0.0, 0.0, 1e6, 0.0, 1e6), (1e308,)]  # fmt: skip
SCALAR = [(2500.0,), (2.0, 0.1), (1.0, 1e6), (1e308,)]


def by_node(limit, model, mass, *rest):
    rigid = len(limit._model.parameters) == 10
    centre, inertia = (list(rest[:3]), list(rest[3:])) if rigid else ([], list(rest))
    try:
        limit.check(payload_of(model, mass, center_of_mass=centre, inertia=inertia))
    except ControlError as error:
        return str(error)
    return ''


@pytest.mark.parametrize('most', [0.0, 8.0])
@pytest.mark.parametrize('name', MODELS)
def test_the_plugin_refuses_the_payloads_that_the_node_refuses(name, most, tmp_path):
    model = MODELS[name]()
    values = np.nan_to_num(model.prior(), nan=60.0 if name == 'springs' else 1.0)
    known = effort_limits(model)
    effort = [800.0] * len(model.joints) if known == [0.0] else known
    limit = PayloadLimit(PayloadModel(arm=model), values, effort=effort, max_payload=most)
    path = result_file(tmp_path, model, values)
    answers = []
    for payload in PAYLOADS if len(limit._model.parameters) == 10 else SCALAR:
        done = run_check('payload', path, most, 800.0, *payload)
        answers.append(done.stderr.decode().strip().splitlines()[-1:] if done.returncode else [])
        expected = by_node(limit, model, *payload)
        assert answers[-1] == ([expected] if expected else [])
    assert any(answers) and not all(answers)
