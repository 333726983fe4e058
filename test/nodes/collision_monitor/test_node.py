# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from collision_client import (
    COLLISION,
    CONTACT,
    MODEL,
    NAMES,
    OK,
    PERIOD,
    UNKNOWN,
    VALUES,
    Monitor,
    learned_file,
    levels,
)
from diagnostic_msgs.msg import DiagnosticStatus
from node_process import closed, joint_state
from robodyn_ros.msg import CollisionState
from ros_client import details
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.ros
GAP = 4.0
"""Between two samples after which the monitor settles anew, in [s]."""


@pytest.fixture(scope='module')
def monitor(tmp_path_factory):
    with closed(Monitor(tmp_path_factory.mktemp('monitor'), 4)) as monitor:
        yield monitor


def test_unknown_until_settled_then_ok(monitor):
    assert list(monitor.states[-1].level) == [UNKNOWN, UNKNOWN]
    assert monitor.states[-1].fault_code != CollisionState.FAULT_NONE
    errors = monitor.process.listen(JointState, 'collision_monitor/torque_error')
    monitor.process.known_to('collision_monitor')
    seen = levels(monitor.run(120))
    assert (seen[:40] == UNKNOWN).all()
    assert (seen[-50:] == OK).all()
    state = monitor.states[-1]
    assert list(state.name) == NAMES
    np.testing.assert_allclose(state.threshold, [10.0, 5.0])
    assert np.abs(state.torque_error).max() < 0.5
    assert state.message == 'ok'
    assert state.fault_code == CollisionState.FAULT_NONE
    monitor.process.settle()
    same = [row for row in errors if row.header.stamp == state.header.stamp]
    assert list(same[0].name) == NAMES and same[0].effort == state.torque_error
    assert not same[0].position and not same[0].velocity
    assert np.isnan(errors[0].effort).all(), 'not settled: no old value looks like a measurement'


def test_collision_latches_calls_stop_once_and_is_cleared_by_reset(monitor):
    monitor.run(80)
    contact = levels(monitor.run(20, push=4.0))
    assert (contact[-1] == [OK, CONTACT]).all()
    seen = levels(monitor.run(15, push=9.0))
    assert (seen[-1] == [OK, COLLISION]).all()
    monitor.process.wait(lambda: monitor.stops, 'the call of the stop service')
    after = monitor.run(60)
    assert after[-1].latched
    assert 'joint2' in after[-1].message
    assert after[-1].fault_code == CollisionState.FAULT_NONE  # the level says it
    assert (levels(after)[:, 1] == COLLISION).all()
    monitor.process.settle()
    assert monitor.stops == 1
    monitor.time += GAP
    status = monitor.process.status()
    assert status.level == DiagnosticStatus.ERROR
    assert status.hardware_id == 'robodyn collision monitor'
    assert details(status)['latched'] == 'True'
    monitor.run(80)
    assert monitor.process.reset().message == 'collision cleared'
    assert (levels(monitor.run(80))[-1] == OK).all()
    monitor.run(15, push=9.0)
    monitor.process.wait(lambda: monitor.stops == 2, 'the second call')
    held = monitor.process.reset()
    assert not held.success and 'joint2 is still' in held.message
    monitor.run(60)
    assert monitor.process.reset().success


def test_a_bad_sample_is_unknown(monitor):
    """Other bad samples: control/collision/test_detector.py."""
    monitor.time += GAP
    assert (levels(monitor.run(80))[-1] == OK).all()
    q, qd, _ = monitor.sample()
    state = monitor.publish(joint_state(NAMES, monitor.time, q, qd, [np.nan, 0.0]))
    assert list(state.level) == [UNKNOWN, UNKNOWN]


def test_messages_of_other_publishers_on_the_topic_change_nothing(monitor):
    monitor.time += GAP
    assert (levels(monitor.run(80))[-1] == OK).all()
    count = len(monitor.states)
    for _ in range(5):
        q, qd, _ = monitor.sample()
        monitor.joint_states.publish(joint_state(['finger'], monitor.time, [0.0], [0.0], [0.0]))
        monitor.joint_states.publish(joint_state(NAMES, monitor.time, q, qd))
        assert (levels(monitor.run(1)) == OK).all()
    assert len(monitor.states) == count + 5


def test_silence_is_unknown(monitor):
    monitor.time += GAP
    assert (levels(monitor.run(80))[-1] == OK).all()
    monitor.process.wait(lambda: monitor.states[-1].level[0] == UNKNOWN, 'UNKNOWN')
    assert 'no joint states for' in monitor.states[-1].message
    assert monitor.states[-1].fault_code == CollisionState.FAULT_STATE_MISSING
    status = monitor.process.status()
    assert status.level == DiagnosticStatus.STALE


def test_interrupt_ends_cleanly(monitor):
    assert monitor.process.interrupt() == 0


def test_reference_as_source_of_the_motion(tmp_path):
    monitor = Monitor(
        tmp_path, 5, motion_source='reference', additive_torque_delay=2,
        torque_error_enable='[true, false]',
    )  # fmt: skip
    try:
        reference = monitor.process.publisher(JointState, 'collision_monitor/reference')
        refused = monitor.run(3)[-1]
        assert 'there is no usable reference' in refused.message
        assert refused.fault_code == CollisionState.FAULT_REFERENCE_MISSING
        delayed = [monitor.sample()] * 3
        for _ in range(600):  # a gap of a busy machine lets it settle anew
            ahead = monitor.sample()
            delayed = [*delayed[1:], ahead]
            reference.publish(joint_state(NAMES, monitor.time, *ahead[:2]))
            # The arm does two cycles later what the reference says.
            state = monitor.publish(joint_state(NAMES, monitor.time, *delayed[0]))
            if max(state.level) > UNKNOWN:
                break
        assert list(state.level) == [OK, UNKNOWN], state.message
        assert monitor.process.interrupt() == 0
    finally:
        monitor.process.close()


def test_a_push_at_rest_is_found_while_the_reference_is_known_to_rest(tmp_path):
    learned = learned_file(tmp_path, [10.0, 5.0], rest=np.array([1.0, 0.5]))
    monitor = Monitor(tmp_path, 9, thresholds=learned)
    try:
        reference = monitor.process.publisher(JointState, 'collision_monitor/reference')
        noise, still = np.random.default_rng(1), np.zeros((1, 2))
        q = np.array([0.3, -0.4])
        torque = MODEL.torque(q[None], still, still, VALUES)[0] + [2.0, 2.0]  # of friction

        def rest(count, push=0.0, moved=0.0):
            for _ in range(count):
                monitor.time += PERIOD
                # what one process sends comes in its order
                reference.publish(joint_state(NAMES, monitor.time, q + moved))
                state = monitor.publish(
                    joint_state(NAMES, monitor.time, q + 1e-7 * noise.normal(size=2), still[0],
                                torque - [0.0, push])
                )  # fmt: skip
            return state

        first = rest(300)
        assert list(first.level) == [OK, OK], first.message
        assert list(rest(30, push=1.5, moved=1e-6).level) == [OK, OK], 'the reference moves'
        rest(300)
        state = rest(30, push=1.5)
        assert list(state.level) == [OK, COLLISION], state.message
        assert state.message == 'collision at joint2'
    finally:
        monitor.process.close()


def test_feedback_in_the_units_of_the_drives_and_without_gravity(tmp_path):
    drives = {
        'effort.joints': '[joint1, joint2]', 'effort.unit': '[A, permille_rated_current]',
        'effort.side': 'motor', 'effort.torque_constant': '[0.5, 0.25]',
        'effort.rated_current': '[0.0, 2000.0]', 'effort.gear_ratio': '[50.0, 80.0]',
        'effort.direction': '[1, -1]', 'effort.gravity': 'excluded',
    }  # fmt: skip
    friction = [i for i, item in enumerate(MODEL.parameters) if 'friction' in item.name]
    rigid, still = VALUES.copy(), np.zeros((1, 2))
    rigid[friction] = 0.0
    with closed(Monitor(tmp_path, 6, **drives)) as monitor:
        units, weights = np.array([0.5 * 50.0, -2e-3 * 0.25 * 80.0]), []
        for count in range(140):
            q, qd, torque = monitor.sample(push=9.0 if count >= 120 else 0.0)
            weights.append(MODEL.torque(q[None], still, still, rigid)[0])
            feedback = (torque - weights[-1]) / units
            state = monitor.publish(joint_state(NAMES, monitor.time, q, qd, feedback))
            if count == 119:
                assert list(state.level) == [OK, OK], state.message
                assert np.abs(state.torque_error).max() < 0.5
        assert list(state.level) == [OK, COLLISION]
        assert np.abs(weights).max() > 6.0, 'more than a contact'
