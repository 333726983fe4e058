# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from control_arm import small_arm
from healthy_arm import flat_law

from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.ramp_law import LEVEL
from robodyn_ros.control.collision.ramp_thresholds import RampThresholds
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.models.catalog import with_friction
from robodyn_ros.models.interface import Array

MODEL, VALUES = small_arm()
TORQUE = ModelTorque(MODEL, VALUES)
PERIOD = 0.002
OK, CONTACT, COLLISION, UNKNOWN = Level.OK, Level.CONTACT, Level.COLLISION, Level.UNKNOWN


def make(**changes: object) -> TorqueErrorDetector:
    options: dict[str, object] = {
        'joints': MODEL.joint_names,
        'max_torque_error': [10.0, 5.0],
        'contact_threshold': [6.0, 3.0],
        **changes,
    }
    return TorqueErrorDetector(torque=TORQUE, settings=CollisionSettings(**options))  # type: ignore[arg-type]


class Healthy:
    """Samples of an arm that does what the model says, and one external torque."""

    def __init__(self, start: float = 100.0) -> None:
        self.time = start

    def sample(self, push: float = 0.0, joint: int = 0) -> tuple[float, Array, Array, Array]:
        self.time += PERIOD
        rate = np.array([3.0, 4.0])
        q, qd = 0.5 * np.sin(rate * self.time), 0.5 * rate * np.cos(rate * self.time)
        torque = MODEL.torque(q[None], qd[None], -(rate**2 * q)[None], VALUES)[0]
        torque[joint] -= push
        return self.time, q, qd, torque


def settled(detector: TorqueErrorDetector, arm: Healthy) -> None:
    for _ in range(60):
        detector.update(*arm.sample())
    assert (detector.level == OK).all(), detector.message


def test_healthy_motion_is_ok_after_settling_and_unknown_before() -> None:
    detector, arm = make(), Healthy()
    assert detector.message == 'no joint states yet'
    first = detector.update(*arm.sample()).copy()
    assert (first == UNKNOWN).all() and detector.message == 'settling'
    levels = [first, *(detector.update(*arm.sample()).copy() for _ in range(999))]
    assert (np.array(levels[:50]) == UNKNOWN).all()
    assert (np.array(levels[51:]) == OK).all()
    # What filters leave of a healthy motion is small beside the torque of some 30 Nm.
    assert np.abs(detector.torque_error).max() < 0.2


def test_torque_error_is_what_the_world_adds() -> None:
    detector, arm = make(), Healthy()
    settled(detector, arm)
    for _ in range(40):
        detector.update(*arm.sample(push=4.0))
    np.testing.assert_allclose(detector.torque_error, [4.0, 0.0], atol=0.2)


def test_contact_then_collision_which_latches_until_reset() -> None:
    detector, arm = make(), Healthy()
    settled(detector, arm)
    for _ in range(20):
        detector.update(*arm.sample(push=4.0, joint=1))
    assert list(detector.level) == [OK, CONTACT]
    assert detector.message == 'contact at joint2'
    assert not detector.latched
    for _ in range(20):
        detector.update(*arm.sample(push=8.0, joint=1))
    for _ in range(100):
        detector.update(*arm.sample())
    assert list(detector.level) == [OK, COLLISION]
    assert detector.latched
    assert detector.message == 'collision at joint2'
    for _ in range(20):  # a contact elsewhere does not hide it
        detector.update(*arm.sample(push=8.0))
    assert list(detector.level) == [CONTACT, COLLISION]
    assert detector.message == 'collision at joint2'
    detector.lose('no joint states')
    assert list(detector.level) == [UNKNOWN, COLLISION]
    detector.reset()
    settled(detector, arm)
    assert not detector.latched


@pytest.mark.parametrize(
    ('given', 'debounce'), [({'debounce': 1}, 1), ({}, 2), ({'debounce': 3}, 3)]
)
def test_levels_are_reached_with_the_last_sample_of_the_debounce(
    given: dict[str, int], debounce: int
) -> None:
    detector, arm = make(torque_error_filter=1.0, filter_cutoff=200.0, **given), Healthy()
    settled(detector, arm)
    for push, level in ((8.0, CONTACT), (30.0, COLLISION)):
        seen = []
        while detector.level[0] != level:
            detector.update(*arm.sample(push=push))
            over = abs(detector.torque_error[0]) > (6.0 if level == CONTACT else 10.0)
            seen.append(over)
        assert seen[-debounce:] == [True] * debounce and sum(seen) == debounce
        assert list(detector.level) == [level, OK]


def test_around_standstill_the_extra_torque_is_added_to_both_thresholds() -> None:
    detector, still = make(low_velocity_torque=[4.0, 2.0]), np.zeros(2)
    gravity = MODEL.torque(still[None], still[None], still[None], VALUES)[0]
    stamp = 1.0
    for push, level in ((9.9, OK), (10.1, CONTACT), (13.9, CONTACT), (14.1, COLLISION)):
        for _ in range(100):
            stamp += PERIOD
            detector.update(stamp, 1e-9 * stamp + still, still, gravity - [push, 0.0])
        assert list(detector.level) == [level, OK]


def test_torque_error_filter_is_softmcs() -> None:
    raw, smooth, arm = make(torque_error_filter=1.0), make(torque_error_filter=0.3), Healthy()
    expected = np.zeros(2)
    for count in range(100):
        sample = arm.sample(push=5.0 * (count > 50))
        raw.update(*sample)
        smooth.update(*sample)
        expected = 0.3 * raw.torque_error + 0.7 * expected
        np.testing.assert_allclose(smooth.torque_error, expected, atol=1e-9)


def test_joint_that_is_not_enabled_is_never_ok_and_never_latches() -> None:
    detector, arm = make(torque_error_enable=[False, True]), Healthy()
    for _ in range(200):
        detector.update(*arm.sample(push=50.0))
    assert list(detector.level) == [UNKNOWN, OK]
    assert not detector.latched
    assert detector.message == 'ok'
    for _ in range(50):
        detector.update(*arm.sample())
    assert detector.message == 'ok'
    detector = make(torque_error_enable=[False, False])
    for push in (0.0, 50.0):
        for _ in range(100):
            detector.update(*arm.sample(push=push))
        assert list(detector.level) == [UNKNOWN, UNKNOWN]
        assert detector.message == 'no joint is enabled'


def test_low_velocity_raises_the_threshold_and_fades_with_the_hold_time() -> None:
    detector = make(low_velocity=0.2, low_velocity_torque=[4.0, 2.0], low_velocity_hold=0.1)
    still, moving = np.zeros(2), np.ones(2)
    for count in range(100):
        detector.update(1.0 + PERIOD * count, 1e-9 * count + still, still, still)
    np.testing.assert_allclose(detector.threshold, [14.0, 7.0])
    for count in range(100, 225):
        detector.update(1.0 + PERIOD * count, moving * count, moving, still)
        if count == 125:
            assert 10.0 < detector.threshold[0] < 14.0
    np.testing.assert_allclose(detector.threshold, [10.0, 5.0])


BAD = {
    'nan': lambda s: (s[0], s[1], s[2], np.array([np.nan, 0.0])),
    'infinite velocity': lambda s: (s[0], s[1], np.array([np.inf, 0.0]), s[3]),
    'short': lambda s: (s[0], s[1][:1], s[2], s[3]),
    'time goes back': lambda s: (s[0] - 1.0, *s[1:]),
    'does not advance': lambda s: (s[0] - PERIOD, *s[1:]),
    'gap': lambda s: (s[0] + 1.0, *s[1:]),
    'time is nan': lambda s: (np.nan, *s[1:]),
    'huge': lambda s: (s[0], s[1], s[2] + 1e200, s[3]),
}


def learned() -> TorqueErrorDetector:
    file = flat_law('', np.array([10.0, 5.0]))
    given = file.settings(CollisionSettings(MODEL.joint_names, 1.0))
    return TorqueErrorDetector(torque=TORQUE, settings=given, thresholds=file.thresholds())


KINDS = {'constant': make, 'learned': learned}


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('name', BAD)
def test_what_cannot_be_trusted_is_unknown_and_settles_anew(name: str, kind: str) -> None:
    detector, arm = KINDS[kind](), Healthy()
    settled(detector, arm)
    bad = BAD[name](arm.sample())
    assert (detector.update(*bad) == UNKNOWN).all()
    arm.time = max(arm.time, float(np.nan_to_num(bad[0])))
    levels = [detector.update(*arm.sample()).copy() for _ in range(80)]
    assert (levels[0] == UNKNOWN).all()
    assert (levels[20] == UNKNOWN).all()
    assert (levels[-1] == OK).all(), detector.message


def test_an_error_or_threshold_that_is_not_finite_is_unknown() -> None:
    detector, arm = learned(), Healthy()
    settled(detector, arm)
    detector.torque_error[:] = np.nan
    assert (detector.update(*arm.sample()) == UNKNOWN).all() and 'not finite' in detector.message
    assert not detector.torque_error.any()
    settled(detector, arm)
    detector.thresholds.law.scale[:] = np.nan  # type: ignore[attr-defined]
    assert (detector.update(*arm.sample()) == UNKNOWN).all() and 'not finite' in detector.message


def test_a_clock_that_was_set_back_is_unknown_once_and_then_counts() -> None:
    detector, arm = make(), Healthy()
    settled(detector, arm)
    stamp, *values = arm.sample()
    detector.update(stamp, *values)
    for time, text in ((stamp - 50.0, 'went back by 50 s'), (stamp - 50.0, 'does not advance')):
        assert (detector.update(time, *values) == UNKNOWN).all()
        assert detector.message == f'the time of the joint states {text}'
    arm.time -= 50.0
    settled(detector, arm)


def test_frozen_values_with_moving_stamps_are_unknown() -> None:
    detector, arm = make(frozen_timeout=0.125), Healthy()
    settled(detector, arm)
    _, *values = arm.sample()
    stamps = np.ceil(arm.time * 512.0) / 512.0 + np.arange(70) / 512.0
    frozen = [(detector.update(stamp, *values) == UNKNOWN).all() for stamp in stamps]
    assert frozen == [stamp - stamps[0] >= 0.125 for stamp in stamps]
    assert 'do not change' in detector.message


def test_lost_samples_are_bridged() -> None:
    detector, arm = make(), Healthy()
    settled(detector, arm)
    random = np.random.default_rng(3)
    for _ in range(2000):
        sample = arm.sample()
        if random.uniform() > 0.3:
            detector.update(*sample)
            assert (detector.level == OK).all(), detector.message
    # The same without the bridge would be off by half the inertia torque.
    assert np.abs(detector.torque_error).max() < 1.0


def test_jitter_of_stamps_and_a_faster_publisher_do_no_harm() -> None:
    detector, arm = make(), Healthy()
    settled(detector, arm)
    random, most = np.random.default_rng(4), 0.0
    for _ in range(500):
        stamp, *values = arm.sample()
        detector.update(stamp + random.uniform(-5.5e-4, 5.5e-4), *values)
        detector.update(stamp + 0.0009, *values)
        assert (detector.level == OK).all(), detector.message
        most = max(most, np.abs(detector.torque_error).max())
    assert most < 1.2, 'no sample is taken twice or left out'


def test_samples_within_a_period_count_once() -> None:
    detector, arm = make(debounce=3, torque_error_filter=1.0, filter_cutoff=200.0), Healthy()
    settled(detector, arm)
    stamp, *values = arm.sample(push=30.0)
    for count in range(20):
        detector.update(stamp + 1e-5 * count, *values)
    assert (detector.level == OK).all()


def test_reference_motion_is_compared_when_given() -> None:
    detector, arm = make(), Healthy()
    plain, same = make(), Healthy()
    for _ in range(60):
        stamp, q, qd, torque = arm.sample()
        detector.update(stamp, q + 0.3, qd * 0.0, torque, (q, qd))
        plain.update(*same.sample())
    assert (detector.level == OK).all(), detector.message
    np.testing.assert_array_equal(detector.torque_error, plain.torque_error)


def test_friction_by_load_is_that_of_the_position_and_velocity() -> None:
    body = MODEL.parts[0]  # type: ignore[attr-defined]
    prior = np.nan_to_num(body.prior())
    model = with_friction(body, {'terms': ['coulomb', 'load'], 'load': prior.tolist()})
    values = np.concatenate([prior, [1.0, 0.3] * 2])
    settings = make().settings
    detector, arm = (
        TorqueErrorDetector(torque=ModelTorque(model, values), settings=settings),
        Healthy(),
    )
    for _ in range(100):
        stamp, q, qd, _ = arm.sample()
        qdd = -(np.array([3.0, 4.0]) ** 2) * q
        detector.update(stamp, q, qd, model.torque(q[None], qd[None], qdd[None], values)[0])
        if detector.settled:
            assert np.abs(detector.torque_error).max() < 0.3


@pytest.mark.parametrize('value', [0.49, 2.01, np.nan])
def test_sensitivity_divides_the_thresholds_and_has_limits(value: float) -> None:
    detector, arm = make(), Healthy()
    detector.sensitivity = 2.0
    settled(detector, arm)
    np.testing.assert_allclose(detector.contact_threshold, [3.0, 1.5])
    with pytest.raises(ControlError, match=r'sensitivity must be from 0\.5 to 2'):
        detector.sensitivity = value
    assert detector.sensitivity == 2.0


@pytest.mark.parametrize(
    ('changes', 'text'),
    [
        ({'filter_cutoff': 400.0}, 'filter_cutoff must be'),
        ({'joints': ('a', 'b')}, 'settings are for'),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes: dict[str, object], text: str) -> None:
    with pytest.raises(ControlError, match=text):
        make(**changes)


def rated(thresholds: RampThresholds | None = None, **changes: object) -> TorqueErrorDetector:
    options = {'max_torque_error': [10.0, 5.0], 'contact_threshold': [6.0, 3.0], **changes}
    settings_ = CollisionSettings(joints=MODEL.joint_names, **options)  # type: ignore[arg-type]
    return TorqueErrorDetector(
        torque=TORQUE, settings=settings_, thresholds=thresholds, rated=np.array([100.0, 8.0])
    )


def test_a_threshold_above_the_torque_of_the_drive_is_no_monitoring() -> None:
    detector = rated()
    detector.sensitivity = 0.7
    with pytest.raises(
        ControlError, match=r'joint2 is not monitored: its threshold of 10 Nm or N'
    ):
        detector.sensitivity = 0.5
    assert detector.sensitivity == 0.7
    for bad in ({'max_torque_error': 1e12}, {'low_velocity_torque': [0.0, 3.1]}):
        with pytest.raises(ControlError, match='is not monitored'):
            rated(**bad)
    open_ = rated(max_torque_error=[10.0, 50.0], torque_error_enable=[True, False])
    assert open_.update(*Healthy().sample())[1] == UNKNOWN


def test_learned_thresholds_above_the_torque_of_the_drive_are_no_monitoring() -> None:
    """Beyond the learned motion they grow, but not above the torque of the drive."""
    given = flat_law('hash', np.array([10.0, 5.0])).law
    huge = given.scale.copy()
    huge[1, 0, LEVEL] = 1e12
    with pytest.raises(ControlError, match='joint2 is not monitored'):
        rated(RampThresholds(replace(given, scale=huge), 0.6))
    slow = replace(given, fastest=np.full(2, 1e-9), hardest=np.full(2, 1e-9))
    detector, arm = rated(RampThresholds(slow, 0.6)), Healthy()
    for _ in range(200):
        detector.update(*arm.sample())
        assert (detector.threshold <= [100.0, 8.0]).all()
        assert (detector.contact_threshold <= detector.threshold).all()
    assert detector.threshold[1] == 8.0
