# SPDX-License-Identifier: Apache-2.0
"""Promises of the controller plugin for any input: one test per promise, on its own law.

The same class `GuardedTorque` runs in the plugin; on the real ros2_control the promises are seen
in test_ros2_control.py.
"""

import hashlib
import json

import numpy as np
import pytest
import yaml
from controller_build import run_check, use_results
from controller_law import law_words, run_law
from nonsense import Nonsense, check_promise
from robots import SIX_AXIS
from writers import result_file

from robodyn_ros.control.torque_threshold import TorqueThreshold
from robodyn_ros.models.catalog import robot_model

PERIOD, DOWN, LIMIT, RATE, WINDOW = 0.002, 0.2, 60.0, 600.0, 0.01
SWAY = {'window': WINDOW, 'limit': LIMIT, 'rate': RATE}
CYCLES = 600
BAD = 300  # cycle in which something goes wrong


def written(folder, **options):
    model = robot_model(SIX_AXIS, **options)
    return result_file(folder, model, np.nan_to_num(model.prior(), nan=1.0))


@pytest.fixture(scope='module')
def file(tmp_path_factory):
    return written(tmp_path_factory.mktemp('promises'))


def sway(count=CYCLES):
    """A smooth motion of six joints without standstill."""
    time = PERIOD * np.arange(count)[:, None]
    speed = np.linspace(1.0, 2.0, 6)
    angle = speed * time + np.arange(6)
    return [np.sin(angle), speed * np.cos(angle), -(speed**2) * np.sin(angle)]


def check_bounds(applied):
    assert np.isfinite(applied).all() and (np.abs(applied) <= LIMIT).all()
    steps = np.abs(np.diff(applied, axis=0, prepend=0.0))
    assert (steps <= RATE * PERIOD * (1 + 1e-9)).all()


def check_ramped_out(out, fault, *, since, within=DOWN):
    """A torque before, none `within` seconds after cycle `since`, and a fault that stays."""
    last = since + round(within / PERIOD)
    assert np.abs(out.applied[since - 1]).max() > 5.0
    assert not out.applied[last:].any()
    assert set(out.fault[last:]) == {fault} and set(out.fault[:since]) == {''}
    check_bounds(out.applied)


def test_any_output_is_finite_within_limit_and_rate(file):
    states = sway()
    for kind, size in zip(states, (3.0, 100.0, 1e4), strict=True):
        kind[BAD:] = np.random.default_rng(1).uniform(-size, size, (CYCLES - BAD, 6))
    out = run_law(file, states, **SWAY)
    check_bounds(out.applied)
    assert (np.abs(out.applied) == LIMIT).any()  # the limit was needed
    assert np.isclose(np.abs(np.diff(out.applied, axis=0)), RATE * PERIOD).any()  # and the rate
    assert np.isfinite(out.requested).all() and np.abs(out.requested).max() > 10.0 * LIMIT


@pytest.mark.parametrize('kind', range(3))
@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf, 1e200])
def test_a_reference_with_one_bad_value_is_refused_whole(file, kind, bad):
    states = sway()
    states[kind][BAD, 4] = bad
    out = run_law(file, states, **SWAY)
    check_ramped_out(out, 'reference not finite', since=BAD)
    before, at, after = out.position[BAD - 1 : BAD + 2]
    np.testing.assert_array_equal(at, before)  # of no joint
    np.testing.assert_array_equal(out.requested[BAD], out.requested[BAD - 1])
    np.testing.assert_array_equal(after, states[0][BAD + 1])  # the motion goes on


@pytest.mark.parametrize('kind', range(3))
def test_a_reference_without_one_of_its_three_quantities_is_a_fault_of_its_own(file, kind):
    """A joint_trajectory_controller with command_interfaces [position, velocity], for example."""
    states = sway()
    states[kind][BAD:] = np.nan
    out = run_law(file, states, **SWAY)
    check_ramped_out(out, 'reference incomplete', since=BAD)
    assert not np.ptp(out.position[BAD - 1 :], axis=0).any()


def test_the_remains_of_a_deactivated_controller_are_no_incomplete_reference(file):
    """It ended in motion, as with Ctrl-C: its command_interfaces are configured."""
    states = sway()
    for kind in states:
        kind[BAD:] = np.nan
    states[1][BAD, :3] = states[2][BAD, :2] = 0.0  # seen while it writes
    states[1][BAD + 1] = states[2][BAD + 1] = 0.0
    out = run_law(file, states, **SWAY)
    check_ramped_out(out, 'reference missing', since=BAD + 10)


def test_a_reference_that_is_missing_for_a_moment_holds_on(file):
    states = sway()
    for kind in states:
        kind[BAD : BAD + 10] = np.nan  # reference_timeout
    out = run_law(file, states, **SWAY)
    assert set(out.fault) == {''} and np.abs(out.applied[BAD:]).max() > 5.0
    assert np.ptp(out.position[BAD - 1 : BAD + 10], axis=0).max() == 0.0
    check_bounds(out.applied)


def test_a_reference_older_than_its_time_out_ramps_to_zero_and_latches(file):
    states = sway()
    for kind in states:
        kind[BAD : BAD + 11] = np.nan
    out = run_law(file, states, **SWAY)
    check_ramped_out(out, 'reference missing', since=BAD + 10)


def test_a_reference_frozen_while_its_velocity_moves_ramps_to_zero_and_latches(file):
    states = sway()
    states[0][BAD:] = states[0][BAD - 1]
    out = run_law(file, states, **SWAY)
    check_ramped_out(out, 'reference frozen', since=BAD + 10)


def test_a_reference_that_holds_still_is_no_fault(file):
    states = sway()
    states[0][BAD:] = states[0][BAD - 1]
    states[1][BAD:] = 0.0  # and a JTC that holds goes on commanding the last acceleration
    out = run_law(file, states, **SWAY)
    assert set(out.fault) == {''}
    still = [states[0][BAD:], 0.0 * states[0][BAD:], 0.0 * states[0][BAD:]]
    holding = run_law(file, still, **SWAY)
    weight = np.abs(out.requested[-1] - holding.requested[-1])
    # Friction of the motion before: 1 Nm, and 1 Nm s/rad at the end of the window.
    assert (weight <= 1e-9).all()  # and that is gone after friction_fade_time
    early = np.abs(out.requested[BAD + 2] - holding.requested[-1])
    assert ((early > 0.9) & (early <= 1.0 + WINDOW + 1e-9)).all()


def test_measured_positions_frozen_while_the_reference_moves_ramp_to_zero_and_latch(file):
    states = sway()
    measured = states[0].copy()
    measured[BAD:] = measured[BAD - 1]
    out = run_law(file, states, measured=measured, **SWAY)
    away = np.abs(states[0][BAD - 1 :] - states[0][BAD - 2]).max(axis=1) > 0.01
    assert 0 < np.argmax(away) < 10
    check_ramped_out(out, 'state frozen', since=BAD + np.argmax(away) + 50)  # state_timeout
    measured[BAD:, 0] += 1e-9 * np.arange(CYCLES - BAD)  # one that still moves is enough
    assert set(run_law(file, states, measured=measured, **SWAY).fault) == {''}


def test_a_slow_robot_with_coarse_encoders_is_no_fault(file):
    speed, step = 0.012, 2.0 * np.pi / 4096.0  # further apart than state_timeout
    angle = speed * PERIOD * np.arange(2000)[:, None] * np.ones((1, 6))
    states = [angle, np.full_like(angle, speed), np.zeros_like(angle)]
    measured = step * np.round(angle / step)
    out = run_law(file, states, measured=measured, **SWAY)
    assert set(out.fault) == {''} and np.abs(out.applied[-1]).max() > 5.0


def test_a_robot_that_stood_for_long_may_take_the_time_out_to_follow(file):
    states = sway()
    states = [np.vstack([np.repeat(kind[:1] * held, 1000, axis=0), kind])
              for kind, held in zip(states, (1.0, 0.0, 0.0), strict=True)]  # fmt: skip
    measured = np.vstack([np.repeat(states[0][:1], 40, axis=0), states[0][:-40]])
    assert set(run_law(file, states, measured=measured, **SWAY).fault) == {''}


def test_measured_positions_that_are_missing_ramp_to_zero_and_latch(file):
    states = sway()
    measured = states[0].copy()
    measured[BAD:, 2] = np.nan
    out = run_law(file, states, measured=measured, **SWAY)
    check_ramped_out(out, 'state missing', since=BAD + 50)


def test_time_going_back_ramps_to_zero_and_latches(file):
    time = PERIOD * np.arange(CYCLES)
    time[BAD:] -= 0.01
    out = run_law(file, sway(), time=time, **SWAY)
    check_ramped_out(out, 'time back', since=BAD)


def test_time_that_jumps_forward_ramps_to_zero_and_latches(file):
    time = PERIOD * np.arange(CYCLES)
    time[BAD:] += 2.0
    out = run_law(file, sway(), time=time, **SWAY)
    check_ramped_out(out, 'time forward', since=BAD)
    time[BAD:] -= 1.99  # less than reference_timeout
    assert set(run_law(file, sway(), time=time, **SWAY).fault) == {''}


def test_after_a_pause_of_the_loop_the_torque_ramps_in_again(file):
    time, elapsed = PERIOD * np.arange(CYCLES), np.full(CYCLES, PERIOD)
    time[BAD:] += 2.0 - PERIOD
    elapsed[BAD] = 2.0
    out = run_law(file, sway(), time=time, elapsed=elapsed, **SWAY)
    assert set(out.fault) == {''}
    assert np.abs(out.applied[BAD - 1]).max() > 5.0
    after = CYCLES - BAD
    share = np.minimum(1.0, np.arange(1, after + 1) * PERIOD / 0.1)[:, None]  # ramp_up_time
    assert (np.abs(out.applied[BAD:]) <= LIMIT * share + 1e-9).all()
    assert np.abs(out.applied[-1]).max() > 5.0
    steps = np.abs(np.diff(out.applied[BAD:], axis=0))
    assert (steps <= RATE * PERIOD * (1 + 1e-9)).all()


def test_after_a_short_pause_the_torque_falls_no_faster_than_its_rate_allows(file):
    time, elapsed = PERIOD * np.arange(CYCLES), np.full(CYCLES, PERIOD)
    time[BAD:] += 0.03 - PERIOD
    elapsed[BAD] = 0.03
    out = run_law(file, sway(), time=time, elapsed=elapsed, **SWAY)
    assert set(out.fault) == {''}
    steps = np.abs(np.diff(out.applied, axis=0))
    assert (steps <= RATE * elapsed[1:, None] * (1 + 1e-9) + RATE * PERIOD).all()
    assert np.abs(out.applied[BAD]).max() < np.abs(out.applied[BAD - 1]).max()
    again = run_law(file, sway(), time=time + 0.0, **SWAY)  # the same, but no pause
    assert np.abs(again.applied[BAD]).max() > np.abs(out.applied[BAD]).max()


def test_activation_starts_from_zero(file):
    out = run_law(file, sway(), **SWAY)
    assert (np.abs(out.applied[0]) <= RATE * PERIOD * (1 + 1e-9)).all()
    share = np.minimum(1.0, np.arange(1, CYCLES + 1) * PERIOD / 0.1)[:, None]  # ramp_up_time
    assert (np.abs(out.applied) <= LIMIT * share + 1e-9).all()


@pytest.mark.parametrize('value', [39.9, 40.0, -40.0, 40.1, -40.1, np.inf, -np.inf, np.nan])
def test_a_measured_torque_beyond_torque_threshold_ramps_to_zero_and_latches(file, value):
    """As TorqueThreshold of the node; the additive torque stays below it."""
    options = {**SWAY, 'limit': 30.0, 'threshold': 40.0}
    torque = np.zeros((CYCLES, 6))
    torque[BAD:, 3] = value
    out = run_law(file, sway(), torque=torque, **options)
    names = [f'joint{k}' for k in range(1, 7)]
    if TorqueThreshold(names, np.full(6, 40.0)).command(torque[-1]):
        check_ramped_out(out, 'torque threshold', since=BAD)
    else:
        assert set(out.fault) == {''} and abs(value) <= 40.0
    assert set(run_law(file, sway(), torque=torque, **SWAY).fault) == {''}  # without a threshold


def test_an_additive_torque_beyond_torque_threshold_ramps_to_zero_and_latches(file):
    out = run_law(file, sway(), threshold=40.0, **SWAY)
    first = out.fault.index('torque threshold')
    assert np.abs(out.applied[first - 1]).max() > 40.0 >= np.abs(out.applied[first - 2]).max()
    check_ramped_out(out, 'torque threshold', since=first)


def test_a_ramp_that_cannot_keep_the_rate_is_refused(file):
    """One period and a half is one cycle of ramp: the torque of 1.5 steps would leave in one."""
    words = law_words(file, window=0.0, limit=1.5, rate=500.0, ramp_down_time=0.003)
    done = run_check('law', *words)
    assert done.returncode == 1 and b'cannot fall to zero within ramp_down_time' in done.stderr


@pytest.mark.parametrize(('seed', 'more'), [(0, []), (1, ['balancer']), (2, ['slip'])])
def test_fuzzed_cycles_never_give_a_non_finite_or_over_limit_torque(seed, more, tmp_path):
    """With all that may go wrong in each of them."""
    path = written(tmp_path, friction=['linear', *more])
    out = check_promise(path, Nonsense(200_000, 6, seed))
    assert set(out.fault) == {
        '', 'reference not finite', 'torque not finite', 'reference missing', 'reference frozen',
        'state missing', 'state frozen', 'time back', 'time forward', 'torque threshold',
        'reference incomplete',
    }  # fmt: skip
    assert out.said.endswith('allocations 0\n'), out.said


def test_the_same_under_the_sanitizers(tmp_path):
    path = written(tmp_path, friction=['linear', 'slip'])
    check_promise(path, Nonsense(10_000, 6, 9), folder='sanitized')


def test_a_result_changed_by_hand_is_refused_as_by_the_python_nodes(file, tmp_path):
    content = yaml.safe_load(file.read_text())
    block = content['/**']['ros__parameters']['dynamic_model']
    path = tmp_path / 'changed.yaml'

    def answer():
        path.write_text(yaml.safe_dump(content, allow_unicode=True, width=10**6))
        return use_results('results', [path])[0]

    block['parameter_values'][3] *= 1.0 + 1e-15
    assert 'the hash does not fit the content' in answer()
    # The hash is that of Python for every kind of number and letter.
    block['parameter_values'][:7] = [0.0, -0.0, 5e-324, -2.5e-310, 1e300, 1.0 / 3.0, -12.0]
    block['parameter_names'][:3] = ['gr\u00fc\u00dfe "\\', '\U0001f916\u20ac', 'a\tb\nc\x7f\x01']
    block['description'] = f'# \u00e4 \U0001f916\n{block["description"]}  \n'
    parts = [
        block['format'], block['description'].strip(), block['parameter_names'],
        [value.hex() for value in block['parameter_values']],
    ]  # fmt: skip
    block['hash'] = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    assert answer() == 'used'
