# SPDX-License-Identifier: Apache-2.0
"""Tasks of a real monitor: other sensitivity, muted zones, and their ends."""

import numpy as np
import pytest
from collision_client import COLLISION, CONTACT, MODEL, VALUES, Monitor, levels
from lifecycle_msgs.msg import Transition
from node_process import EFFORT, NodeProcess, closed
from robodyn_ros.srv import Mute, SetTask
from writers import result_file

from robodyn_ros.nodes.base.clock import to_duration

pytestmark = pytest.mark.ros
TASKS = {
    'tasks.names': '[screw, place]', 'tasks.screw.longest': 300.0,
    'tasks.screw.sensitivity': 0.5, 'tasks.place.longest': 300.0, 'tasks.place.mute': 'true',
    'tasks.place.zone.joints': '[joint1]', 'tasks.place.zone.low': '[0.3]',
    'tasks.place.zone.high': '[1.0]', 'max_mute': 300.0,
}  # fmt: skip
PUSH = 7.0
"""Between the collision thresholds of joint 2 with sensitivity 1 (5) and 0.5 (10), in [Nm]."""


def test_a_task_changes_the_monitoring_for_its_time_and_zone(tmp_path):
    cell = Monitor(tmp_path, 19, **TASKS)
    with closed(cell):
        process = cell.process

        def start(name, duration=0.0):
            request = SetTask.Request(task=name, duration=to_duration(duration))
            return process.call(SetTask, 'set_task', request)

        cell.run(60)
        assert start('screw').message == 'task screw works, for at most 300 s'
        state = cell.run(20, push=PUSH)[-1]
        assert list(state.threshold) == [20.0, 10.0] and levels([state])[0, 1] == CONTACT
        cell.run(20)
        refused = start('weld')
        assert not refused.success and "there is no task 'weld'" in refused.message
        assert list(cell.run(1)[0].threshold) == [10.0, 5.0], 'it monitors as usual'

        # A sensitivity ends with its time, without any call.
        assert start('screw', 0.2).success
        process.wait(lambda: cell.run(1)[0].threshold[1] == 5.0, 'the end of the task')
        process.wait(lambda: 'task screw has ended' in process.said(), 'its message')

        # A mute works in its zone only, and levels are as always.
        while np.sin(3.0 * cell.time) > 0.5:
            cell.run(1)
        assert start('place').message == 'task place waits for its zone, for at most 300 s'
        assert not cell.run(5)[-1].muted
        while 0.5 * np.sin(3.0 * cell.time) < 0.32:
            cell.run(1)
        states = cell.run(20, push=9.0)
        assert states[-1].muted and states[-1].latched and levels(states[-1:])[0, 1] == COLLISION
        process.settle()
        assert not cell.stops
        while 0.5 * np.sin(3.0 * cell.time) > 0.3:
            cell.run(1, push=9.0)
        assert not cell.run(2, push=9.0)[-1].muted, 'the zone was left'
        cell.run(5, push=9.0)
        process.wait(lambda: cell.stops, 'the reaction to the collision that goes on')
        assert 'not cleared yet' in start('screw').message
        request = Mute.Request(duration=to_duration(1.0))
        assert 'not cleared yet' in process.call(Mute, 'mute', request).message
        assert process.details()['task'] == 'no task'
        assert process.interrupt() == 0


@pytest.mark.parametrize('renewed', ['mute', 'task'])
def test_asking_for_more_mute_hides_no_collision(tmp_path, renewed):
    given = {name: value for name, value in TASKS.items() if 'zone' not in name}
    cell = Monitor(tmp_path, 21, **given)
    with closed(cell):
        process = cell.process

        def mute(duration):
            request = Mute.Request(duration=to_duration(duration))
            return process.call(Mute, 'mute', request)

        def start():
            return process.call(SetTask, 'set_task', SetTask.Request(task='place'))

        cell.run(60)
        assert start().success
        assert cell.run(20, push=9.0)[-1].muted
        refused = mute(300.0) if renewed == 'mute' else start()
        assert not refused.success and 'not cleared yet' in refused.message
        if renewed == 'mute':
            process.settle()
            assert cell.run(5, push=9.0)[-1].muted and not cell.stops, 'the mute goes on'
            assert mute(0.0).success
        cell.run(10, push=9.0)
        process.wait(lambda: cell.stops, 'the reaction: the task has ended')
        assert process.details()['task'] == 'no task'
        assert process.interrupt() == 0


def test_a_task_that_would_be_muted_too_long_is_refused(tmp_path):
    values = {
        'result_file': result_file(tmp_path, MODEL, VALUES), 'max_torque_error': '[10.0, 5.0]',
        **EFFORT, **TASKS, 'max_mute': 5.0,
    }  # fmt: skip
    with closed(NodeProcess('collision_monitor', 20, tmp_path / 'log', values)) as process:
        assert not process.change(Transition.TRANSITION_CONFIGURE)
        text = 'task place: longest is 300 s, but a mute may last at most 5 s'
        process.wait(lambda: text in process.said(), 'the reason')
