# SPDX-License-Identifier: Apache-2.0
"""Feed-forward with drives in per mille behind gears, torque_max and torque_threshold."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from feedforward_client import (
    COMMON,
    DELAY,
    MODEL,
    NAMES,
    PERIOD,
    VALUES,
    Stream,
    Trajectories,
    arrays,
    message,
    ramped_out,
)
from lifecycle_msgs.msg import Transition
from node_process import EFFORT, closed, joint_state
from robodyn_ros.msg import TorqueState
from ros_client import environment, steps
from writers import result_file

pytestmark = pytest.mark.ros
RATED = np.array([2.0, 1.0])  # Nm, of the motors
GEAR = np.array([50.0, 80.0])
DIRECTION = np.array([1.0, -1.0])
DRIVES = {
    'effort.joints': '[joint1, joint2]', 'effort.unit': 'permille_rated_current',
    'effort.command_unit': 'permille_rated_torque', 'effort.side': 'motor',
    'effort.rated_current': 4000.0, 'effort.torque_constant': '[0.5, 0.25]',
    'effort.rated_torque': '[2000.0, 1000.0]', 'effort.gear_ratio': '[50.0, 80.0]',
    'effort.direction': '[1, -1]',
}  # fmt: skip
LIMITS = {'torque_max': '[400.0, 400.0]', 'torque_threshold': '[150.0, 80.0]'}


@pytest.fixture(scope='module')
def node(tmp_path_factory):
    with closed(Trajectories(tmp_path_factory.mktemp('units'), 11, **DRIVES, **LIMITS)) as node:
        yield node


def permille(torque):
    """Return joint torque in the unit of the drives; rated current gives rated torque here."""
    return np.asarray(torque) * DIRECTION / GEAR / RATED * 1000.0


def test_feedback_comes_and_commands_leave_in_the_units_of_the_drives(node):
    begin_moving(node)
    state = node.feedback(permille([10.0, 20.0]))
    np.testing.assert_allclose(state.feedback, [10.0, 20.0])
    out = node.sent(message(duration=4.0))
    _, q, qd, qdd, effort = arrays(out)
    expected = MODEL.torque(q, qd, qdd, VALUES)
    begin, end = round(0.1 / PERIOD) + DELAY, round(4.0 / PERIOD)
    np.testing.assert_allclose(
        effort[begin + DELAY : end + DELAY], permille(expected[begin:end]), atol=1e-7
    )


def begin_moving(node):
    """Torque feedback flows, no fault, and torque will be added."""
    node.feedback([0.0, 0.0])
    node.ready()
    node.feedback([0.0, 0.0])


def refused(node, trajectory):
    """Why; the feedback must not be what is missing."""
    return node.refused(trajectory)


def test_a_trajectory_that_needs_more_is_refused_with_joint_and_time(node):
    begin_moving(node)
    text = refused(node, message(duration=0.1))
    assert 'torque_max is 400' in text and "of joint 'joint1' at" in text


def test_one_that_replaces_a_running_motion_passes_without_torque_as_it_may_be_the_stop(node):
    begin_moving(node)
    node.sent(message(duration=4.0))
    *_, effort = arrays(node.sent(message(duration=0.1)))
    assert np.abs(effort[-1]).max() == 0.0, 'what was applied ramps out'
    assert (np.diff(np.abs(effort), axis=0) <= 1e-9).all(), 'and nothing is added'


def test_an_additive_torque_beyond_the_threshold_is_refused(node):
    begin_moving(node)
    text = refused(node, message(duration=0.4))
    assert "the additive torque of joint 'joint" in text and 'torque_threshold is' in text


def test_measured_torque_beyond_the_threshold_takes_the_torque_away_until_reset(node):
    process = node.process
    begin_moving(node)
    node.sent(message(stamp=node.process.stamp(), duration=5.0))
    process.spin(0.3)
    assert node.feedback(permille([0.0, -79.0])).enabled
    node.out.clear()
    node.feedback(permille([0.0, -80.5]))
    process.wait(lambda: node.out, 'the rest of the motion')
    assert ramped_out(node.out[-1])
    process.wait_for("the measured torque of joint 'joint2' is -80.5")
    refused = process.enable(True)
    assert not refused.success and 'held at zero by a fault' in refused.message
    assert not arrays(node.sent(message(duration=4.0)))[4][100:].any()
    node.feedback([0.0, 0.0])  # or the torque that still flows trips it again
    assert 'cleared: the measured' in process.reset().message
    assert process.enable(True).success
    assert arrays(node.sent(message(duration=4.0)))[4].any()


def test_feedback_that_stays_away_while_it_moves_is_a_fault(node):
    begin_moving(node)
    node.sent(message(stamp=node.process.stamp(), duration=5.0))
    node.process.steady(False)
    node.effort = None
    node.process.wait_for('torque is zero: torque_threshold is set, but for')
    assert 'no usable effort' in node.process.reset().message
    node.process.enable(True)
    assert 'no usable effort' in node.refused(message(duration=4.0))


def test_inactive_it_passes_efforts_in_the_units_of_the_drives(node):
    assert node.process.change(Transition.TRANSITION_DEACTIVATE)
    wanted = message()
    for point in wanted.points:
        point.effort = [30.0, -40.0]
    out = node.sent(wanted)
    np.testing.assert_allclose(arrays(out)[4], np.tile(permille([30.0, -40.0]), (21, 1)))
    wanted.points[3].effort = [1e6, -1e6]  # max_torque is 200 and 100
    np.testing.assert_allclose(node.sent(wanted).points[3].effort, permille([200.0, -100.0]))
    for broken in ([30.0], [30.0, float('nan')], [float('inf'), 0.0]):
        wanted.points[3].effort = broken
        out = node.sent(wanted)
        assert not any(point.effort for point in out.points)
        assert [point.positions for point in out.points] == [p.positions for p in wanted.points]
    text = 'loses its effort: point 3 must have one fin'
    node.process.wait(lambda: text in node.process.said(), text)
    wanted.points[3].effort = [1.0, 1.0]
    wanted.joint_names = ['joint1', 'other']
    assert not node.sent(wanted).points[3].effort
    assert node.process.change(Transition.TRANSITION_ACTIVATE)


def test_efforts_that_nobody_declared_do_not_pass(tmp_path):
    with closed(
        Trajectories(tmp_path, 16, until='', autostart='false', **dict.fromkeys(EFFORT))
    ) as node:
        wanted = message()
        for point in wanted.points:
            point.effort = [30.0, -40.0]
        out = node.sent(wanted)
        text = 'the effort of the trajectory is not declared'
        node.process.wait(lambda: text in node.process.said(), text)
    assert not any(point.effort for point in out.points)
    assert [point.positions for point in out.points] == [p.positions for p in wanted.points]


@pytest.fixture(scope='module')
def stream(tmp_path_factory):
    options = {**DRIVES, 'torque_threshold': '[190.0, 90.0]'}
    with closed(Stream(tmp_path_factory.mktemp('stream_units'), 12, **options)) as stream:
        yield stream


NO_TORQUE = [0.0, 0.0]


def begin(stream):
    """Run with feedback for a moment."""
    stream.process.enable(False)
    stream.joint_states.publish(joint_state(NAMES, stream.time, effort=NO_TORQUE))
    stream.ready()
    stream.run(80, effort=NO_TORQUE)
    assert not stream.states[-1].fault, stream.states[-1].fault


def test_streamed_commands_are_in_the_units_of_the_drives_until_a_threshold(stream):
    begin(stream)
    applied = np.array(stream.states[-1].additive_command)
    np.testing.assert_allclose(stream.commands[-1].message.data, permille(applied), atol=1e-9)
    start = len(stream.commands)
    stream.joint_states.publish(joint_state(NAMES, stream.time, effort=permille([191.0, 0.0])))
    stream.process.wait(lambda: stream.states[-1].fault, 'the fault')
    assert "the measured torque of joint 'joint1' is 191, torque_thr" in stream.states[-1].fault
    assert stream.states[-1].fault_code == TorqueState.FAULT_TORQUE_THRESHOLD
    stream.come_to_zero()
    ramp = stream.commands[start:]
    change, between = steps(ramp, lambda message: message.data)
    step = np.array([10000.0, 5000.0]) * PERIOD
    assert (np.abs(change) <= np.abs(permille(step)) * between * (1 + 1e-9)).all()
    assert len(ramp) >= 50


def test_additive_torque_beyond_the_threshold_is_a_fault(stream):
    begin(stream)
    q, qd = stream.motion()
    for number in range(200):
        if stream.states[-1].fault:
            break
        stream.time += PERIOD
        fast = qd + 0.4 * number
        stream.reference.publish(joint_state(NAMES, stream.time, q + 0.01 * number, fast))
        stream.joint_states.publish(joint_state(NAMES, stream.time, effort=NO_TORQUE))
        stream.process.spin(0.004)
        stream.process.check()
    stream.process.wait(lambda: stream.states[-1].fault, 'the fault')
    assert 'the additive torque of joint' in stream.states[-1].fault
    stream.come_to_zero()


def test_no_torque_feedback_is_a_fault_with_a_threshold(stream):
    begin(stream)
    deadline = stream.process.now() + 30.0
    while not stream.states[-1].fault and stream.process.now() < deadline:
        q, qd = stream.motion()
        stream.reference.publish(joint_state(NAMES, stream.time, q, qd))
        stream.process.spin(PERIOD)
    assert 'no usable effort' in stream.states[-1].fault


REFUSED = [
    (dict.fromkeys(EFFORT), 'the effort of the joint states is not declared: declare its'),
    ({'torque_max': 'rated'}, 'torque_max: rated needs effort.rated_current of joint'),
    ({'torque_threshold': '[1.0, 2.0, 3.0]'}, 'one for each of the 2 joints, got 3'),
    ({'effort.unit': 'N'}, 'is revolute, so its torque is in Nm; effort.* declares N'),
    (
        {**DRIVES, 'effort.rated_torque': '[15.0, 10.0]', 'max_torque': '[30.0, 30.0]'},
        'permille_rated_torque, a drive takes at most 32767',
    ),
    ({'effort.gravity': 'excluded', 'torque_threshold': '5.0'}, 'is declared without gravity'),
    ({'mode': 'streaming', 'torque_max': '100.0'}, "'torque_max' is for planned motions"),
    ({'effort.unit': 'Nmm'}, 'effort.unit must be one of'),
    ({'effort.gear': '3.0'}, "there is no parameter 'effort.gear'"),
    ({'model_hash': 'abc'}, 'the parameter model_hash accepts only abc'),
    ({'max_torque': '[1.0]', 'max_torque_rate': '[.nan]'}, "'max_torque_rate': element 0 is nan"),
    ({'max_torque_rate': '[100.0]'}, 'cannot fall to zero within ramp_down_time'),
    ({'mode': 'streaming', 'check_controller': 'true'}, 'waits for controller /forward_effort'),
]


@pytest.fixture(scope='module')
def problems(tmp_path_factory):
    """Return the refusal of each set of `REFUSED`."""
    folder = tmp_path_factory.mktemp('refused')
    shared = {**COMMON, 'result_file': str(result_file(folder, MODEL, VALUES))}
    sets = [{**shared, **values} for values, _ in REFUSED]
    sets = [{name: v for name, v in given.items() if v is not None} for given in sets]
    program = Path(__file__).parents[2] / 'support' / 'ros' / 'configured_feedforward.py'
    done = subprocess.run(
        [sys.executable, str(program), json.dumps(sets)], capture_output=True, text=True,
        timeout=110, check=False, env=environment(14),
    )  # fmt: skip
    found = [line[8:] for line in done.stdout.splitlines() if line.startswith('PROBLEM ')]
    assert len(found) == len(REFUSED), done.stderr
    return found


@pytest.mark.parametrize('number', range(len(REFUSED)))
def test_activation_is_refused_unless_semantics_limits_and_model_match(problems, number):
    assert REFUSED[number][1] in problems[number]


def test_a_robot_that_adds_gravity_to_commands_gets_torque_without_it(tmp_path):
    with closed(Trajectories(tmp_path, 15, **{'effort.command_gravity': 'excluded'})) as node:
        _, q, qd, qdd, effort = arrays(node.sent(message()))
    still = np.zeros_like(q)
    friction = [i for i, p in enumerate(MODEL.parameters) if 'friction' in p.name]
    rigid = VALUES.copy()
    rigid[friction] = 0.0
    gravity = MODEL.torque(q, still, still, rigid)
    expected = MODEL.torque(q, qd, qdd, VALUES) - gravity
    first, last = round(0.1 / PERIOD) + DELAY, round(1.0 / PERIOD)
    np.testing.assert_allclose(
        effort[first + DELAY : last + DELAY], expected[first:last], atol=1e-9
    )
    assert np.abs(gravity).max() > 1.0
