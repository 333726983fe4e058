# SPDX-License-Identifier: Apache-2.0
"""The streaming feed-forward without DDS: whatever arrives, in seconds instead of minutes.

The whole promise is
`ROBODYN_FUZZ_MESSAGES=1000000 pytest --timeout 0 test/nodes/feedforward/test_feedforward_fuzz.py`.
"""

import os

import numpy as np
import pytest
from control_arm import small_arm
from fake_node import FakeNode
from fuzzed_references import FuzzedReferences
from lifecycle_msgs.msg import State, TransitionEvent
from rclpy.clock import ClockType
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.feedforward.additive_torque import AdditiveTorque
from robodyn_ros.control.feedforward.reference_timeout import HIGHEST, LOWEST
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.nodes.feedforward import streaming as feedforward_streaming

MESSAGES = int(os.environ.get('ROBODYN_FUZZ_MESSAGES', '6000'))
MODEL, VALUES = small_arm()
PERIOD = 0.002
LIMIT = np.array([60.0, 30.0])
CYCLES = 10
"""Of the ramp to zero."""
STEP = LIMIT / CYCLES
INT16 = 32767.0


def streaming(node, timeout=0.02, **declared):
    given = {'unit': 'Nm', 'side': 'joint', 'gravity': 'included', **declared}
    effort = EffortDeclaration.from_mapping(given).for_joints(MODEL.joints)
    settings = FeedforwardSettings(
        joints=MODEL.joint_names,
        max_torque=LIMIT,
        period=PERIOD,
        ramp_up_time=0.01,
        ramp_down_time=CYCLES * PERIOD,
    )
    effort.check_limit(settings.limit)
    law = AdditiveTorque(torque=ModelTorque(MODEL, VALUES), settings=settings)
    mode = feedforward_streaming.StreamingMode(node, timeout)
    mode.use(law, effort, StateWatch(width=2, timeout=0.5))
    mode.begin(True)
    return mode, effort


def act(mode, random, law_may_start):
    """Make one change that services and parameters may make at any time."""
    if law_may_start and mode.fault:
        mode.reset()
        mode.enable()
    choice = random.integers(300)
    if choice == 0:
        mode.disable()
    elif choice == 1 and not mode.fault:
        mode.enable()
    elif choice == 2:
        mode.set_scale(float(random.random()))
    elif choice == 3:
        mode._on_watchdog()


def commands_of(node, factor):
    rows = node.published['forward_effort_controller/commands']
    values = np.array([np.frombuffer(row, '<f8', 2, len(row) - 16) for row in rows])
    rows.clear()
    return values / factor


@pytest.mark.parametrize('drives', ['Nm', 'per mille'])
def test_fuzzed_messages_never_make_a_torque_that_is_not_finite_or_over_a_limit(clock, drives):
    facts = {} if drives == 'Nm' else {
        'command_unit': 'permille_rated_torque', 'side': 'motor', 'gear_ratio': 100.0,
        'rated_torque': 500.0, 'direction': [1, -1], 'joints': list(MODEL.joint_names),
    }  # fmt: skip
    node = FakeNode()
    mode, effort = streaming(node, **facts)
    factor = effort.command(np.ones(2)).copy()
    fuzz, random = FuzzedReferences(MODEL.joint_names, PERIOD, 1), np.random.default_rng(2)
    last, faults, moved = np.zeros((1, 2)), 0, 0
    for number in range(MESSAGES // 2):
        clock[0] += PERIOD if random.random() < 0.999 else 0.05
        mode._on_reference(fuzz.next())
        faults += bool(mode.fault)
        act(mode, random, number % 7 == 0)
        if number % 1000 == 999 or number == MESSAGES // 2 - 1:
            commands = np.vstack([last, commands_of(node, factor)])
            assert np.isfinite(commands).all()
            assert (np.abs(commands) <= LIMIT * (1 + 1e-12)).all()
            assert (np.abs(np.diff(commands, axis=0)) <= STEP * (1 + 1e-9)).all()
            assert (np.abs(commands * factor) <= INT16).all()
            moved += np.count_nonzero(np.abs(commands) > 0.5 * LIMIT)
            last = commands[-1:]
        del node.published['~/torque_state'][:]
    assert mode.refused > MESSAGES // 8 and faults > MESSAGES // 1000, 'faults are reached'
    assert moved > MESSAGES // 100, 'so are large torques'
    mode.disable()
    assert not commands_of(node, factor)[-feedforward_streaming.ZERO_REPEATS :].any()


def reference(stamp, speed=0.5):
    """Usual reference at this time in [s]."""
    message = JointState(name=list(MODEL.joint_names), position=[speed * stamp] * 2)
    message.velocity = [speed] * 2
    message.header.stamp.sec, message.header.stamp.nanosec = int(stamp), round(stamp % 1.0 * 1e9)
    return serialize_message(message)


def test_enabling_what_is_enabled_does_not_stop_the_watch_over_the_reference(clock):
    node = FakeNode()
    mode, _ = streaming(node)
    for count in range(100):
        clock[0] += PERIOD
        mode._on_reference(reference(1.0 + count * PERIOD))
    mode.enable()
    clock[0] += 0.021
    mode._on_watchdog()
    assert 'no usable reference for 0.021 s' in mode.fault
    assert not commands_of(node, 1.0)[-1].any()


@pytest.mark.parametrize('share', [0.3, 0.5, 1.0, 3.0])
def test_references_at_another_rate_do_not_raise_the_torque_faster(clock, share):
    """The time between their stamps counts, of more than a period that of one."""
    node = FakeNode()
    mode, _ = streaming(node)
    sent = [np.zeros(2)]
    for count in range(200):
        clock[0] += share * PERIOD
        mode._on_reference(reference(1.0 + count * share * PERIOD, speed=20.0))
        sent += list(commands_of(node, 1.0))
    assert not mode.fault and not mode.refused
    change = np.abs(np.diff(sent, axis=0))
    most = STEP * min(share, 1.0)
    assert (change[1:] <= most * (1 + 1e-3)).all(), 'stamps in seconds resolve 0.2 us'
    assert (change > 0.9 * most).any(), 'and the rate is reached'


def run(mode, clock, first, count, speed=0.5):
    """References in time; the stamp of the one after them."""
    for number in range(first, first + count):
        clock[0] += PERIOD
        mode._on_reference(reference(1.0 + number * PERIOD, speed))
    return first + count


def test_references_that_come_in_a_burst_do_not_change_the_torque_in_an_instant(clock):
    """After node or sender were held up for less than reference_timeout."""
    node = FakeNode()
    mode, _ = streaming(node)
    at = run(mode, clock, run(mode, clock, 0, 100), 4, speed=-20.0)  # much torque is on its way
    clock[0] += 8 * PERIOD
    before = commands_of(node, 1.0)[-1]
    for number in range(at, at + 8):
        mode._on_reference(reference(1.0 + number * PERIOD, speed=-20.0))
    change = np.abs(commands_of(node, 1.0) - before)
    assert (change <= 2.0 * STEP * (1 + 1e-9)).all() and (change >= 1.99 * STEP).any()
    run(mode, clock, at + 8, 20, speed=-20.0)
    steps = np.abs(np.diff(commands_of(node, 1.0), axis=0))
    assert (steps > 0.99 * STEP).any(), 'and then at its rate again'
    assert not mode.fault


def test_after_a_pause_that_the_watchdog_slept_through_no_reference_is_used(clock):
    node = FakeNode()
    mode, _ = streaming(node)
    at = run(mode, clock, 0, 100)
    clock[0] += 0.05  # the whole node was held up; references have queued up meanwhile
    run(mode, clock, at, 1, speed=-20.0)
    assert 'no usable reference for 0.052 s' in mode.fault
    ramp = commands_of(node, 1.0)[100:]
    assert ramp[0].any() and not ramp[CYCLES:].any()


def quiet(node, clock):
    """A mode whose automatic timeout knows no long pause; joint states are not watched."""
    mode, _ = streaming(node, timeout=0.0)
    mode._states.timeout = 0.0
    for _ in range(100_000):
        clock[0] += PERIOD
        mode._timeout.read(clock[0])
    return mode


def watched(mode, clock, seconds):
    """The watchdog comes in time, and no reference; how long that goes well, in [s]."""
    begin = now = clock[0]
    while not mode.fault and now < begin + seconds:
        clock[0] = now = clock[0] + 0.5 * LOWEST
        mode._on_watchdog()
    return now - begin


def test_the_automatic_timeout_accepts_a_pause_of_the_node_but_no_silence_of_the_sender(clock):
    node = FakeNode()
    mode = quiet(node, clock)
    at = run(mode, clock, 0, 100)
    assert not mode.fault and mode.details()['reference_timeout'] == LOWEST
    watched(mode, clock, 0.5 * LOWEST)
    clock[0] += 0.1  # the node was held up: first comes the watchdog, then what has queued up
    mode._on_watchdog()
    at = run(mode, clock, at, 100)
    assert not mode.fault
    assert 0.1 < mode.details()['longest_pause'] < 0.15
    assert HIGHEST < watched(mode, clock, 1.0) <= HIGHEST + LOWEST, 'from then on the bound'
    assert '3 times the longest recent pause' in mode.fault
    assert not commands_of(node, 1.0)[-1].any()


def test_silence_on_a_quiet_machine_trips_at_the_least_automatic_timeout(clock):
    mode = quiet(FakeNode(), clock)
    run(mode, clock, 0, 100)
    watched(mode, clock, 0.5 * LOWEST)
    assert watched(mode, clock, 1.0) <= LOWEST
    assert 'no usable reference for 0.06' in mode.fault


def test_a_sender_that_was_silent_while_the_node_was_held_up_is_a_fault(clock):
    mode = quiet(FakeNode(), clock)
    at = run(mode, clock, 0, 100)
    clock[0] += 0.05
    run(mode, clock, at + 25, 1)
    assert 'no usable reference for 0.052 s (reference_timeout is 0.04 s' in mode.fault


@pytest.mark.parametrize('share', [0.5, 0.9, 1.1, 2.0])
def test_a_sender_at_another_rate_than_the_period_is_pointed_out(clock, share):
    node = FakeNode()
    mode, _ = streaming(node)
    for number in range(1000):
        clock[0] += share * PERIOD
        mode._on_reference(reference(1.0 + number * share * PERIOD))
    told = f'every {2.0 * share:.3g} ms, the parameter period is 2 ms: additive_torque_delay of 3'
    assert (told in mode.warning) == (share in (0.5, 2.0))
    assert not mode.fault and not mode.refused


def test_another_sender_of_commands_is_pointed_out(clock):
    node = FakeNode()
    mode, _ = streaming(node)
    assert not mode.warning
    node.publishers = 2
    assert 'another node publishes to /forward_effort_controller/commands' in mode.warning


def test_a_controller_that_is_deactivated_while_it_has_torque_is_a_fault(clock):
    node = FakeNode()
    mode, _ = streaming(node)
    event = TransitionEvent()
    event.goal_state.id, event.goal_state.label = State.PRIMARY_STATE_ACTIVE, 'active'
    for starting in (State.TRANSITION_STATE_ACTIVATING, State.PRIMARY_STATE_INACTIVE):
        mode._on_transition(TransitionEvent(goal_state=State(id=starting)))
    run(mode, clock, 0, 100)
    mode._on_transition(event)
    assert not mode.fault
    event.goal_state.id, event.goal_state.label = State.PRIMARY_STATE_INACTIVE, 'inactive'
    mode._on_transition(event)
    assert 'forward_effort_controller is not active (inactive) with torque applied' in mode.fault
    assert not commands_of(node, 1.0)[-1].any(), 'activated again it gets zero'
    mode.reset()
    mode._on_transition(event)
    assert not mode.fault, 'without torque it is none'


def test_the_ramp_begins_a_period_after_the_last_command(clock):
    node = FakeNode()
    mode, _ = streaming(node)
    for count in range(100):
        mode._on_reference(reference(1.0 + count * PERIOD))
    begin, sent = clock[0], []
    mode._output.publish = lambda _: sent.append(clock[0] - begin)
    mode.disable()
    np.testing.assert_allclose(sent, PERIOD * np.arange(1, len(sent) + 1), atol=1e-9)
    assert len(sent) == CYCLES + feedforward_streaming.ZERO_REPEATS


def test_the_watchdog_needs_no_clock_of_a_simulation():
    node = FakeNode()
    streaming(node)
    assert node.timer_clocks == [ClockType.STEADY_TIME]


def test_an_exception_of_the_model_is_a_fault(clock):
    node = FakeNode()
    mode, _ = streaming(node)
    for count in range(100):
        mode._on_reference(reference(1.0 + count * PERIOD))
    full = commands_of(node, 1.0)[-1]
    assert full.any()

    def broken(*_):
        raise ValueError('broken')

    mode._law._torque.body = broken
    mode._on_reference(reference(1.2))
    assert mode.fault == 'ValueError: broken'
    assert mode.fault.name == 'unexpected'
    ramp = commands_of(node, 1.0)
    share = np.arange(CYCLES - 1, -1, -1)[:, None] / CYCLES
    np.testing.assert_allclose(ramp[0], full)
    np.testing.assert_allclose(ramp[1 : CYCLES + 1], full * share, atol=1e-9)
    assert not ramp[CYCLES:].any()


def test_inactive_it_is_silent(clock):
    node = FakeNode()
    mode, effort = streaming(node)
    factor = effort.command(np.ones(2)).copy()
    fuzz = FuzzedReferences(MODEL.joint_names, PERIOD, 1)
    for _ in range(200):
        clock[0] += PERIOD
        mode._on_reference(fuzz.next())
    mode.finish()
    commands = commands_of(node, factor)
    assert commands.any() and not commands[-5:].any(), 'it ended at zero'
    for rows in node.published.values():
        rows.clear()
    mode.disable()
    mode.reset()
    mode.enable()
    for _ in range(50):
        clock[0] += PERIOD
        mode._on_reference(fuzz.next())
        mode._on_watchdog()
    mode.disable()
    assert not any(node.published.values())
