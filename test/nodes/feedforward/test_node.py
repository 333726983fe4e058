# SPDX-License-Identifier: Apache-2.0
"""Common parts of both modes of the feed-forward node: start, model and parameters."""

import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import pytest
from feedforward_client import COMMON, MODEL, VALUES, Trajectories
from lifecycle_msgs.msg import Transition
from node_process import NodeProcess, closed
from robodyn_ros.control.feedforward.delivery import Delivery
from robodyn_ros.srv import LoadModel
from writers import result_file

from robodyn_ros.nodes.feedforward.node import Feedforward

pytestmark = pytest.mark.ros


def test_without_a_model_it_stays_unconfigured_and_says_what_to_do(tmp_path):
    with closed(NodeProcess('feedforward', 3, tmp_path / 'log', COMMON)) as process:
        process.wait_for('give the parameter result_file')
        path = result_file(tmp_path, MODEL, VALUES)
        answer = process.call(LoadModel, 'load_model', LoadModel.Request(result_file=str(path)))
        assert answer.success, answer.message
        process.wait_for('active')
        missing = process.call(LoadModel, 'load_model', LoadModel.Request(result_file='/nothing'))
        assert not missing.success
        old = process.call(LoadModel, 'load_parameters', LoadModel.Request(result_file=str(path)))
        assert not old.success and old.message == '~/load_parameters is now called ~/load_model'
        assert process.interrupt() == 0


def test_a_model_that_no_robot_has_is_refused_and_the_parameters_bring_none_later(tmp_path):
    with closed(Trajectories(tmp_path, 3)) as node:
        process = node.process
        set_parameter = partial(process.set_parameter, 'feedforward')
        for name, value in (('parameter_values', (-VALUES).tolist()), ('hash', 'another')):
            answer = set_parameter(f'dynamic_model.{name}', value)
            assert not answer.successful and 'read-only' in answer.reason.replace('_', '-')
        process.change(Transition.TRANSITION_DEACTIVATE)
        for factor in (-1.0, 1e12):
            path = result_file(tmp_path, MODEL, factor * VALUES)
            answer = process.call(
                LoadModel, 'load_model', LoadModel.Request(result_file=str(path))
            )
            assert not answer.success and 'no robot has these parameters' in answer.message


def test_bad_parameters_end_with_one_sentence():

    command = [sys.executable, '-m', 'robodyn_ros.nodes.feedforward.node', '--ros-args']
    done = subprocess.run(
        [*command, '-p', 'mode:=both'], capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 2
    assert done.stderr.strip().endswith("must be trajectory or streaming, got 'both'")


@pytest.mark.parametrize(('enabled', 'level'), [(True, b'\x00'), (False, b'\x01')])
def test_diagnostics_warn_while_no_torque_is_applied(enabled, level):
    target = SimpleNamespace(problem='', delivery=Delivery.DELIVERED)
    node = object.__new__(Feedforward)
    node._killed = ''
    node._mode = SimpleNamespace(
        fault='', warning='', enabled=enabled, target=target, details=lambda: {'state': 'x'}
    )
    found, text, details = node.report()
    assert found == level and details['enabled'] is enabled
    assert ('not enabled: call ~/enable' in text) is not enabled
