# SPDX-License-Identifier: Apache-2.0
"""The results that the plugin refuses because no robot has them are refused by the nodes."""

import numpy as np
import yaml
from control_arm import six_axis_cell, small_arm
from controller_build import use_results
from controller_models import MODELS
from robots import SIX_AXIS
from writers import result_file

from robodyn_ros.control.robot_check import check_possible
from robodyn_ros.errors import ControlError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.payload import payload_of


def written(folder, number, model, values, facts=None, payload=None):
    (folder / str(number)).mkdir()
    path = result_file(folder / str(number), model, values, payload)
    if facts:
        content = yaml.safe_load(path.read_text())
        content['/**']['ros__parameters']['identification'] = facts
        path.write_text(yaml.safe_dump(content, width=10**6))
    return path


def cases():
    """Yield models, values, facts and payloads."""
    small, honest = small_arm()
    arm, values = robot_model(SIX_AXIS), six_axis_cell()[1].values
    apparent = {'physically_consistent': False, 'usual_torque': [30.0, 20.0]}
    for model, known in ((small, honest), (arm, values)):
        names = np.array([item.name for item in model.parameters])
        for part in ('', 'rotor', 'friction', 'link2', 'joint2.rotor'):
            for factor in (1.0, -1.0, 0.3, 40.0, 1e3, 1e12):
                changed = np.where([part in name for name in names], factor * known, known)
                yield model, changed, None, None
                if model is small:
                    yield model, changed, apparent, None
                    yield model, changed, {'usual_torque': [1e12, 1e12]}, None
    yield small, honest, None, payload_of(small, 1.0, center_of_mass=[0.1, 0.0, 0.2])
    yield small, honest, None, payload_of(small, 900.0, center_of_mass=[0.1, 0.0, 0.2])
    random = np.random.default_rng(3)
    for make in MODELS.values():
        model = make()
        for sign in (1.0, -1.0):
            yield model, sign * random.uniform(0.1, 2.0, len(model.parameters)), None, None


def by_node(path):
    """Return True for a result that is used; None if a single parameter is refused."""
    try:
        check_possible(load_identified_model(path))
    except ControlError as error:
        return None if 'is negative' in str(error) else False
    return True


def test_the_plugin_refuses_the_results_that_the_nodes_refuse(tmp_path):
    files = [written(tmp_path, number, *case) for number, case in enumerate(cases())]
    said = use_results('possible', files)
    assert 15 < said.count('used') < len(said) - 15
    for line, file in zip(said, files, strict=True):
        assert by_node(file) in (line == 'used', None), (line, file)
        assert line == 'used' or 'no robot has its parameters: ' in line
