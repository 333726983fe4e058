# SPDX-License-Identifier: Apache-2.0
"""State of the robot as an input of a real monitor: never OK unless the robot says it is ready."""

import pytest
from collision_client import MODEL, OK, STALE, UNKNOWN, VALUES, Monitor, levels
from node_process import EFFORT, NodeProcess, closed
from robodyn_ros.msg import CollisionState, ModelHealth
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from writers import result_file

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.common import LATCHED_QOS
from robodyn_ros.nodes.collision_monitor.reactions.robot_state_input import message_type

pytestmark = pytest.mark.ros


def test_never_ok_unless_both_topics_say_that_the_robot_is_ready(tmp_path):
    """The robot's mode (numbers with constants, regular) and its stop (latched)."""
    cell = Monitor(
        tmp_path, 11,
        **{
            'robot_state.topics': '[status, stopped]',
            'robot_state.types': '[robodyn_ros/msg/ModelHealth, std_msgs/msg/Bool]',
            'robot_state.fields': '[kind, data]', 'robot_state.ready': "['NONE PAYLOAD', 'false']",
            'robot_state.timeouts': [STALE, 0.0],
        },
    )  # fmt: skip
    with closed(cell):
        process = cell.process
        mode = process.publisher(ModelHealth, 'status')

        def run(kind, count=60):
            rows = []
            for _ in range(count // 20):
                mode.publish(ModelHealth(kind=kind))
                process.known_to('collision_monitor')
                rows += cell.run(20)
            return rows

        unknown = run(ModelHealth.NONE)
        assert (levels(unknown) == UNKNOWN).all(), 'the other topic has said nothing'
        assert unknown[-1].fault_code == CollisionState.FAULT_ROBOT_UNKNOWN
        assert 'data of stopped has' in unknown[-1].message
        stopped = process.publisher(Bool, 'stopped', LATCHED_QOS)
        stopped.publish(Bool(data=True))
        process.known_to('collision_monitor')
        assert run(ModelHealth.NONE)[-1].fault_code == CollisionState.FAULT_ROBOT_STOPPED
        stopped.publish(Bool(data=False))
        process.known_to('collision_monitor')
        assert (levels(run(ModelHealth.NONE, 80))[-1] == OK).all(), 'switched on: no reset needed'

        bad = run(ModelHealth.FRICTION)
        assert (levels(bad) == UNKNOWN).all() and 'kind of status is 3, ready' in bad[-1].message
        assert 'still reports' in process.call(Trigger, 'reset', Trigger.Request()).message
        assert (levels(run(ModelHealth.PAYLOAD)) == UNKNOWN).all(), 'until somebody has looked'
        assert process.call(Trigger, 'reset', Trigger.Request()).success
        assert (levels(run(ModelHealth.PAYLOAD, 80))[-1] == OK).all()

        # The publishers of both are gone: the regular one is late, of the latched one it is known.
        process.node.destroy_publisher(stopped)
        process.wait(
            lambda: cell.run(1)[-1].fault_code == CollisionState.FAULT_ROBOT_UNKNOWN, 'UNKNOWN'
        )
        assert process.interrupt() == 0


@pytest.mark.parametrize(('name', 'text'), [
    ('no_such_package/msg/State', 'not installed here: source the workspace'),
    ('std_msgs/msg/NoSuchType', 'not installed here'), ('std_msgs/Bool', 'expected a type'),
    ('os.path/msg/Join', 'expected a type'),
])  # fmt: skip
def test_a_type_that_cannot_be_used_is_refused(name, text):
    with pytest.raises(ConfigError, match=text):
        message_type(name)


@pytest.mark.parametrize(('number', 'changed', 'text'), [
    (12, {'robot_state.fields': '[mode]'}, "has no field 'mode', there is: data"),
    (13, {'robot_state.ready': "['']"}, 'no value means that the robot is ready'),
])  # fmt: skip
def test_a_wrong_declaration_ends_the_node_with_a_sentence(tmp_path, number, changed, text):
    values = {
        'autostart': 'true', 'result_file': result_file(tmp_path, MODEL, VALUES), **EFFORT,
        'robot_state.topics': '[stopped]', 'robot_state.types': '[std_msgs/msg/Bool]',
        'robot_state.ready': "['false']", **changed,
    }  # fmt: skip
    with pytest.raises(AssertionError, match=text):
        NodeProcess('collision_monitor', number, tmp_path / 'log', values).close()
