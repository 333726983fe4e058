# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from control_arm import small_arm
from hypothesis import given, settings
from hypothesis import strategies as st

from robodyn_ros.control.feedforward.additive_torque import AdditiveTorque, State
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.models.catalog import with_friction
from robodyn_ros.models.interface import Array

MODEL, VALUES = small_arm()
TORQUE = ModelTorque(MODEL, VALUES)
PERIOD = 0.002
LIMIT = np.array([60.0, 30.0])
REST = np.zeros(2)
GRAVITY = MODEL.torque(REST[None], REST[None], REST[None], VALUES)[0]


def make(**changes: object) -> AdditiveTorque:
    options: dict[str, object] = {
        'joints': MODEL.joint_names,
        'max_torque': LIMIT,
        'max_torque_rate': 50.0 * LIMIT,
        'ramp_up_time': 0.05,
        'ramp_down_time': 0.03,
        **changes,
    }
    return AdditiveTorque(torque=TORQUE, settings=FeedforwardSettings(**options))  # type: ignore[arg-type]


def at_rest(law: AdditiveTorque, cycles: int) -> Array:
    """Torque of so many cycles at rest, shape (cycles, n)."""
    return np.array([law.update(REST, REST, REST).copy() for _ in range(cycles)])


def motion(count: int) -> tuple[Array, Array, Array]:
    time = np.arange(count)[:, None] * PERIOD
    rate = np.array([2.0, 3.0])
    return 0.5 * np.sin(rate * time), 0.5 * rate * np.cos(rate * time), np.zeros((count, 2))


@pytest.mark.parametrize('delay', [0, 3])
@pytest.mark.parametrize('scale', [1.0, 0.4])
def test_active_torque_is_the_models_so_many_cycles_earlier(delay: int, scale: float) -> None:
    law = make(additive_torque_delay=delay, feedforward_scale=scale, max_torque=[1e3, 1e3],
               max_torque_rate=[1e6, 1e6])  # fmt: skip
    q, qd, qdd = motion(100)
    law.start()
    sent = np.array([law.update(*row).copy() for row in zip(q, qd, qdd, strict=True)])
    expected = scale * MODEL.torque(q, qd, qdd, VALUES)
    assert law.state is State.ACTIVE
    np.testing.assert_allclose(sent[30:], expected[30 - delay : 100 - delay], rtol=1e-12)
    np.testing.assert_allclose(law.requested, expected[-1] / scale, rtol=1e-12)


def test_at_standstill_friction_stays_that_of_the_motion_before() -> None:
    law = make(additive_torque_delay=0, max_torque=[1e3, 1e3], max_torque_rate=[1e6, 1e6])
    law.start()
    law.update(REST, REST, REST)
    np.testing.assert_allclose(law.requested, GRAVITY, rtol=1e-12)
    law.update(REST, np.array([0.3, -0.3]), REST)
    law.update(REST, REST, REST)
    np.testing.assert_allclose(law.requested, GRAVITY + np.array([3.0, -3.0]), rtol=1e-12)
    law.stop()
    for _ in range(20):
        law.idle()
    law.start()
    law.update(REST, REST, REST)
    np.testing.assert_allclose(law.requested, GRAVITY, rtol=1e-12)


def test_at_rest_friction_fades_out_and_gravity_stays() -> None:
    law = make(
        max_torque=[1e3, 1e3], max_torque_rate=[1e6, 1e6], friction_fade_time=0.5,
        additive_torque_delay=0,
    )  # fmt: skip
    law.start()
    law.update(REST, np.array([0.3, -0.3]), REST)
    sent = at_rest(law, 260)
    np.testing.assert_allclose(sent[30:125] - GRAVITY, np.tile([3.0, -3.0], (95, 1)), rtol=1e-9)
    np.testing.assert_allclose(sent[249:], np.tile(GRAVITY, (11, 1)), atol=1e-12)
    assert np.abs(np.diff(sent[30:], axis=0)).max() < 1.01 * 3.0 / 125.0
    moving = np.array([0.3, -0.3])  # friction is there again at once
    law.update(REST, moving, REST)
    expected = MODEL.torque(REST[None], moving[None], REST[None], VALUES)[0]
    np.testing.assert_allclose(law.requested, expected, rtol=1e-9)


def blended(change: Callable[[AdditiveTorque], None], **options: object) -> tuple[Array, Array]:
    """Torque (N, n) at rest from the cycle of a change on, and that before it (n,)."""
    torque = ModelTorque(MODEL, VALUES)
    settings = FeedforwardSettings(
        joints=MODEL.joint_names, max_torque=[1e4, 1e4], max_torque_rate=[1e6, 1e6],
        ramp_up_time=0.05, additive_torque_delay=0, **options,
    )  # fmt: skip
    law = AdditiveTorque(torque=torque, settings=settings)
    law.start()
    before = at_rest(law, 40)[-1]
    change(law)
    return at_rest(law, 40), before


@pytest.mark.parametrize(
    ('change', 'factor'),
    [
        (lambda law: setattr(law, 'scale', 0.4), 0.4),
        (lambda law: law.set_values(5.0 * VALUES), 5.0),
    ],
)
def test_other_scale_and_values_are_blended_in_over_ramp_up_time(
    change: Callable[[AdditiveTorque], None], factor: float
) -> None:
    sent, before = blended(change)
    share = np.minimum(1.0, np.arange(1, 41) / 25.0)[:, None]
    np.testing.assert_allclose(sent, before * (1.0 + (factor - 1.0) * share), rtol=1e-9)


def test_a_change_during_a_change_goes_on_from_there() -> None:
    def change(law: AdditiveTorque) -> None:
        law.set_values(5.0 * VALUES)
        at_rest(law, 10)
        law.set_values(2.0 * VALUES)
        law.scale = 0.5

    sent, before = blended(change)
    share = np.minimum(1.0, np.arange(1, 41) / 25.0)[:, None]
    value, scale = 2.6 + share * (2.0 - 2.6), 1.0 - 0.5 * share
    np.testing.assert_allclose(sent, before * value * scale, rtol=1e-9)


def test_what_changes_while_no_torque_is_applied_counts_from_the_start_on() -> None:
    law = make(max_torque=[1e3, 1e3], max_torque_rate=[1e6, 1e6], ramp_up_time=0.02)
    law.scale = 0.5
    law.start()
    np.testing.assert_allclose(law.update(REST, REST, REST), 0.1 * 0.5 * GRAVITY, rtol=1e-9)


def test_values_that_change_while_no_torque_is_applied_count_at_once() -> None:
    law = AdditiveTorque(torque=ModelTorque(MODEL, VALUES), settings=make().settings)
    law.set_values(2.0 * VALUES)
    law.update(REST, REST, REST)
    np.testing.assert_allclose(law.requested, 2.0 * GRAVITY, rtol=1e-9)


@pytest.mark.parametrize('scale', [np.nan, np.inf, -0.1, 1.1])
def test_a_scale_that_is_none_is_refused_and_the_old_one_holds(scale: float) -> None:
    law = make(feedforward_scale=0.7)
    with pytest.raises(ControlError, match='feedforward_scale must be from'):
        law.scale = scale
    assert law.scale == 0.7


def test_ramp_in_rises_in_proportion_from_zero() -> None:
    law = make(max_torque_rate=[1e6, 1e6], max_torque=[1e3, 1e3])
    assert not law.applied.any()
    law.start()
    sent = at_rest(law, 30)
    share = np.minimum(1.0, np.arange(1, 31) / 25.0)[:, None]
    np.testing.assert_allclose(sent, share * GRAVITY, rtol=1e-9)
    assert law.state is State.ACTIVE


def test_limit_and_rate_hold_where_the_model_asks_for_more() -> None:
    law = make()
    law.start()
    before = law.applied.copy()
    for count in range(199):
        acceleration = np.full(2, 1e3 if count % 80 < 40 else -1e3)
        sent = law.update(REST, REST, acceleration)
        assert (np.abs(sent) <= LIMIT).all()
        assert (np.abs(sent - before) <= 50.0 * LIMIT * PERIOD * (1 + 1e-9)).all()
        before = sent.copy()
    np.testing.assert_array_equal(np.abs(before), LIMIT)


@given(st.lists(st.tuples(st.floats(1e-5, 0.01), st.sampled_from([-1e3, 0.0, 1e3])), max_size=40))
def test_the_rate_holds_in_time_however_fast_references_follow(
    cycles: list[tuple[float, float]],
) -> None:
    law = make(additive_torque_delay=0)
    law.start()
    before = law.applied.copy()
    for elapsed, acceleration in cycles:
        sent = law.update(REST, REST, np.full(2, acceleration), elapsed)
        most = 50.0 * LIMIT * min(elapsed, PERIOD)
        assert (np.abs(sent - before) <= most * (1 + 1e-9) + 1e-12).all()
        before = sent.copy()


def test_references_of_half_a_period_ramp_in_by_half_the_share() -> None:
    laws = [make(max_torque_rate=[1e6, 1e6], max_torque=[1e3, 1e3]) for _ in range(2)]
    for law in laws:
        law.start()
    for _ in range(20):
        laws[0].update(REST, REST, REST, 0.5 * PERIOD)
        slow = laws[0].update(REST, REST, REST, 0.5 * PERIOD)
        np.testing.assert_allclose(slow, laws[1].update(REST, REST, REST), rtol=1e-9)
        assert slow.any()
    assert laws[0].state is State.RAMPING_IN


@pytest.mark.parametrize('cycles', [60, 10])  # active, and still ramping in
def test_stop_runs_straight_to_exactly_zero_within_ramp_down_time(cycles: int) -> None:
    law = make()
    law.start()
    at_rest(law, cycles)
    start = law.applied.copy()
    assert start.any()
    law.stop()
    sent = np.array([law.idle().copy() for _ in range(15)])
    np.testing.assert_allclose(sent, start * (1.0 - np.arange(1, 16) / 15.0)[:, None], atol=1e-12)
    assert not law.applied.any()
    assert law.state is State.INACTIVE


def test_fault_latches_until_reset_and_the_first_reason_is_kept() -> None:
    law = make()
    law.start()
    at_rest(law, 60)
    law.update(REST, np.array([np.nan, 0.0]), REST)
    assert law.fault == 'the reference is not finite'
    law.trip('another one')
    at_rest(law, 15)
    assert not law.applied.any()
    with pytest.raises(ControlError, match='the reference is not finite'):
        law.start()
    law.reset()
    law.start()
    assert law.update(REST, REST, REST).any()


@pytest.mark.parametrize('bad', [np.full(2, np.inf), np.full(2, 1e308), np.zeros(3)])
@pytest.mark.parametrize('quantity', range(3))
def test_unusable_references_are_faults(bad: Array, quantity: int) -> None:
    law = make()
    law.start()
    law.update(*(bad if row == quantity else REST for row in range(3)))
    wrong = 'not finite' if len(bad) == 2 else 'expected 2 reference positions'
    assert wrong in law.fault


def test_only_the_time_that_passed_for_the_drives_counts_for_the_rate() -> None:
    law = make(additive_torque_delay=0, max_torque_rate=LIMIT / 0.03)
    law.start()
    for passed in (0.5 * PERIOD, 0.0, 0.25 * PERIOD, 9.0):
        before = law.applied.copy()
        sent = law.update(REST, REST, np.full(2, 1e3), 0.001, passed)
        np.testing.assert_allclose(sent - before, LIMIT / 0.03 * min(0.5 * PERIOD, passed))


def test_start_and_stop_again_change_nothing_and_a_start_forgets_older_torque() -> None:
    law = make(max_torque=[1e3, 1e3], max_torque_rate=[1e6, 1e6])
    law.start()
    at_rest(law, 60)
    full = law.applied.copy()
    law.start()
    assert law.state is State.ACTIVE
    np.testing.assert_array_equal(law.update(REST, REST, REST), full)
    for _ in range(15):
        law.stop()
        law.idle()
    assert law.state is State.INACTIVE and not law.applied.any()
    law.start()
    upright = np.full(2, 0.5 * np.pi)
    first = law.update(upright, REST, REST)
    np.testing.assert_allclose(first, law.requested / 25.0, rtol=1e-9)


@pytest.mark.parametrize('size', [7e5, 1e6, 1e8, 1e60, -1e64, 1e66, 1e100, 1e145, -1e149])
def test_absurd_references_give_limited_torque_or_a_fault_without_a_warning(size: float) -> None:
    body = MODEL.parts[0]  # type: ignore[attr-defined]
    model = with_friction(body, {'terms': ['viscous', 'quadratic']})
    values = np.append(np.nan_to_num(body.prior()), [1.0, 1e20] * 2)
    law = AdditiveTorque(torque=ModelTorque(model, values), settings=make().settings)
    law.start()
    before = law.update(REST, REST, REST).copy()
    with np.errstate(over='raise', divide='raise', invalid='raise'):
        for count, bad in enumerate(np.eye(3) * size):
            sent = law.update(*(np.full(2, value) for value in bad)).copy()
            assert (np.abs(sent - before) <= 50.0 * LIMIT * PERIOD * (1 + 1e-9)).all()
            assert (np.abs(sent) <= LIMIT).all()
            before = sent
            # Quadratic friction exceeds 1e150 Nm, and from 1e144 rad/s on the largest number.
            excessive = count == 1 and abs(size) > 1e65
            assert law.fault == excessive * 'the model torque of the reference is not finite'
            law.reset()
            law.start()


def test_restart_while_ramping_out_makes_no_step() -> None:
    law = make()
    law.start()
    at_rest(law, 60)
    law.stop()
    before = law.idle().copy()
    law.start()
    assert law.state is State.RAMPING_IN
    sent = law.update(REST, REST, REST).copy()
    assert (np.abs(sent - before) <= 50.0 * LIMIT * PERIOD * (1 + 1e-9)).all()
    # It ramps in as from zero: in as many cycles, and from less torque than there was.
    sent = np.vstack([sent, at_rest(law, 24)])
    np.testing.assert_allclose(sent[12:], GRAVITY * np.arange(13, 26)[:, None] / 25.0, rtol=1e-9)
    assert law.state is State.ACTIVE


NUMBERS = st.one_of(st.floats(-5.0, 5.0), st.floats(allow_nan=True, allow_infinity=True, width=64))
VECTORS = st.lists(NUMBERS, min_size=1, max_size=3)
ACTIONS = st.one_of(
    st.tuples(VECTORS, VECTORS, VECTORS),
    st.tuples(*[st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=2)] * 3),
    st.sampled_from(['start', 'stop', 'idle', 'trip', 'reset', 'scale']),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(ACTIONS, min_size=20, max_size=120))
def test_garbage_never_makes_torque_that_breaks_a_limit(actions: list[object]) -> None:
    law = make()
    before = law.applied.copy()
    step = 50.0 * LIMIT * PERIOD * (1 + 1e-9)
    for action in actions:
        if isinstance(action, tuple):
            law.update(*(np.array(part) for part in action))
        elif action == 'start' and not law.fault:
            law.start()
        elif action == 'trip':
            law.trip('fuzz')
        elif action == 'scale':
            law.scale = 1.0 - law.scale
        elif action in ('stop', 'idle', 'reset'):
            getattr(law, str(action))()
        assert np.isfinite(law.applied).all()
        assert (np.abs(law.applied) <= LIMIT).all()
        assert (np.abs(law.applied - before) <= step).all()
        before = law.applied.copy()
    law.trip('end')
    for _ in range(15):
        law.idle()
    assert not law.applied.any()


def test_settings_for_other_joints_are_refused() -> None:
    assert make().joints == MODEL.joint_names
    with pytest.raises(ControlError, match='settings are for'):
        make(joints=('joint2', 'joint1'))


def test_a_refused_joint_gets_no_torque_and_the_others_get_theirs() -> None:
    both, one = make(), make(refused=(MODEL.joint_names[1],))
    sent = []
    for law in (both, one):
        law.start()
        rows = zip(*motion(100), strict=True)
        sent.append(np.array([law.update(*row).copy() for row in rows]))
    np.testing.assert_array_equal(sent[1], sent[0] * [1.0, 0.0])
    assert np.abs(sent[0][-1]).all()
