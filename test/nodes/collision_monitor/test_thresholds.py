# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from collision_client import (
    COLLISION,
    MODEL,
    OK,
    STALE,
    UNKNOWN,
    VALUES,
    Monitor,
    learned_file,
    levels,
)
from healthy_arm import flat_law
from node_process import closed
from writers import result_file

from robodyn_ros.control.collision.setup import collision_settings, load_thresholds
from robodyn_ros.control.collision.thresholds_file import write_thresholds
from robodyn_ros.errors import ControlError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.models.payload import payload_of
from robodyn_ros.nodes.collision_monitor.parameters import DETECTOR

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def monitor(tmp_path_factory):
    """Monitor with learned thresholds, also of the change at rest, without a reference."""
    folder = tmp_path_factory.mktemp('learned')
    learned = learned_file(folder, [12.0, 8.0], rest=np.array([1.0, 0.5]))
    with closed(Monitor(folder, 9, thresholds=learned)) as monitor:
        yield monitor


def test_learned_thresholds_hold_and_sensitivity_divides_them_at_run_time(monitor):
    seen = levels(monitor.run(100))
    assert (seen[-1] == OK).all()
    np.testing.assert_array_equal(monitor.states[-1].threshold, [12.0, 8.0])
    assert (levels(monitor.run(40, push=4.5))[-1] == OK).all()
    wish = partial(monitor.process.set_parameter, 'collision_monitor', 'sensitivity')
    answers = [wish(value) for value in (2.1, 2.0)]
    assert [each.successful for each in answers] == [False, True]
    assert levels(monitor.run(40, push=4.5))[-1].tolist() == [OK, COLLISION]
    np.testing.assert_array_equal(monitor.states[-1].threshold, [6.0, 4.0])


def test_thresholds_of_another_payload_are_refused(tmp_path):
    file, model = tmp_path / 'thresholds.yaml', load_identified_model(
        result_file(tmp_path, MODEL, VALUES)
    )  # fmt: skip
    write_thresholds(flat_law(model.hash, np.array([12.0, 8.0])), file)
    assert load_thresholds(str(file), model) is not None
    loaded = replace(model, payload=payload_of(MODEL, 0.5))
    with pytest.raises(ControlError, match='learned with another model or payload'):
        load_thresholds(str(file), loaded)
    write_thresholds(flat_law(loaded.loaded_hash, np.array([12.0, 8.0])), file)
    assert load_thresholds(str(file), loaded) is not None


def test_a_monitor_without_thresholds_says_where_they_come_from():
    options = {name: default for name, default, *_ in DETECTOR}
    with pytest.raises(
        ControlError, match='there are no thresholds: learn them with `robodyn thr'
    ):
        collision_settings(['a', 'b'], options)


def test_thresholds_at_rest_without_a_reference_are_a_warning_once(monitor):
    process = monitor.process
    deadline = process.now() + 30.0
    while 'weak pushes at rest are NOT found' not in monitor.process.said():
        assert process.now() < deadline
        monitor.run(20)
    begin = process.now()
    while process.now() < begin + 1.5 * STALE:  # several checks more
        monitor.run(20)
    text = monitor.process.said()
    assert text.count('NOT found') == 1
    assert 'the reference is not known: no controller_state of the controller' in text


def test_what_no_longer_monitors_a_joint_is_refused_at_run_time(tmp_path):
    """The effort limits of the arm are 100 Nm."""
    given = {'max_torque_error': '[60.0, 5.0]', 'torque_error_enable': '[true, false]'}
    with closed(Monitor(tmp_path, 10, **given)) as monitor:
        wish = partial(monitor.process.set_parameter, 'collision_monitor', 'sensitivity')
        assert wish(0.7).successful
        refused = wish(0.5)
        assert not refused.successful and 'joint1 is not monitored' in refused.reason
        assert levels(monitor.run(100))[-1].tolist() == [OK, UNKNOWN]
        assert monitor.process.details()['not_monitored'] == 'joint2'
        assert 'not monitored (torque_error_enable): joint2' in monitor.process.said()
