# SPDX-License-Identifier: Apache-2.0
"""A payload that is picked up is named; other contacts are collisions as before."""

from __future__ import annotations

import numpy as np
import pytest
from control_arm import six_axis_cell
from robots import SIX_AXIS

from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.states.payload_change import PayloadChange
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import Array
from robodyn_ros.models.payload import payload_of

PERIOD, PICK = 0.004, 1.0
TORQUE = six_axis_cell()[1]
MODEL = robot_model(SIX_AXIS)
THRESHOLDS = np.array([12.0, 15.0, 8.0, 1.2, 1.2, 0.6])


def motion(seed: int, moves: bool) -> tuple[Array, Array, Array]:
    """Time (N,), position and velocity (N, 6) in poses in which the tool is far from the base."""
    random = np.random.default_rng(seed)
    time = PERIOD * np.arange(round(2.0 / PERIOD))
    middle = np.array([0.3, 0.6, -0.3, 0.5, 0.8, 0.2]) + random.uniform(-0.2, 0.2, 6)
    rate, size = random.uniform(1.0, 2.0, 6), 0.3 * moves
    angle = rate * time[:, None]
    return time, middle + size * np.sin(angle), size * rate * np.cos(angle)


def run(
    seed: int,
    added: Array,
    *,
    moves: bool = False,
    limit: float | None = 5.0,
    adopted: float = 0.0,
) -> tuple[list[int], TorqueErrorDetector, Array]:
    """Return worst levels, the detector and times, until a payload is known.

    :param added: torque from `PICK` on, shape (N, 6), or parameter values of a payload
    :param adopted: mass that was adopted before, in [kg]
    """
    time, q, qd = motion(seed, moves)
    qdd = np.gradient(qd, PERIOD, axis=0)
    torque = TORQUE.torque(q, qd, qdd)
    if added.ndim == 1:
        added = MODEL.torque(q, qd, qdd, added) if added.any() else 0.0 * q
    rise = np.clip((time - PICK) / 0.1, 0.0, 1.0)[:, None]
    torque += rise * added
    torque += np.random.default_rng(seed).normal(size=q.shape) * 0.03 * THRESHOLDS
    settings = CollisionSettings(TORQUE.joints, THRESHOLDS, period=PERIOD)
    change = None if limit is None else PayloadChange(MODEL, limit, PERIOD)
    if change is not None:
        change.adopted = adopted
    detector = TorqueErrorDetector(torque=TORQUE, settings=settings, payload=change)
    worst: list[int] = []
    for sample in zip(time.tolist(), q, qd, torque, strict=True):
        worst.append(int(detector.update(*sample).max()))
        if change is not None and change.picked is not None:
            break
    return worst, detector, time


def load(mass: float) -> Array:
    return payload_of(MODEL, mass, center_of_mass=[0.02, 0.0, 0.05]).added


@pytest.mark.parametrize('moves', [False, True])
@pytest.mark.parametrize('mass', [2.8, -2.8])
def test_a_payload_is_named_with_its_mass_and_is_no_collision(mass: float, moves: bool) -> None:
    for seed in range(4):
        added = load(abs(mass)) * np.sign(mass)
        worst, detector, time = run(seed, added, moves=moves, adopted=max(-mass, 0.0))
        change = detector.payload
        assert max(worst) == Level.CONTACT, seed
        assert change is not None and change.picked is not None
        assert abs(change.picked.mass - mass) < max(change.interval, 0.1) < 1.0
        assert PICK + 0.5 < time[len(worst)] < PICK + 0.75
        what = 'picked up' if mass > 0.0 else 'put down'
        assert what in detector.message and '2.8 +- ' in change.message


def test_without_a_limit_or_above_it_it_is_a_collision() -> None:
    """The limit is that of all payloads together."""
    for limit, adopted in ((None, 0.0), (0.0, 0.0), (2.0, 0.0), (5.0, 3.0)):
        worst, _, time = run(1, load(2.8), limit=limit, adopted=adopted)
        assert PICK < time[worst.index(Level.COLLISION)] < PICK + 0.12


def test_without_a_limit_a_collision_is_named_and_stays_one() -> None:
    worst, detector, _ = run(1, load(2.8), limit=0.0)
    assert worst == run(1, load(2.8), limit=None)[0] and worst[-1] == Level.COLLISION
    assert 'it looks like a payload of 2.8 kg, or a hand that pulls down' in detector.message
    push = np.zeros((len(motion(0, False)[0]), 6))
    push[:, 3] = 5.0 * THRESHOLDS[3]
    worst, detector, _ = run(2, push, limit=0.0)
    assert worst[-1] == Level.COLLISION and 'payload' not in detector.message


def test_a_push_up_with_nothing_adopted_is_found_as_soon_as_without_a_payload() -> None:
    first = [run(1, -load(2.8), limit=limit)[0].index(Level.COLLISION) for limit in (None, 5.0)]
    assert first[1] <= first[0] + 2


def test_while_a_collision_is_latched_nothing_is_explained() -> None:
    time = motion(1, False)[0]
    weight = np.where(time < PICK + 0.3, 8.0, 2.8)[:, None]
    q = motion(1, False)[1]
    worst, detector, _ = run(1, weight * MODEL.torque(q, 0.0 * q, 0.0 * q, load(1.0)))
    assert worst[-1] == Level.COLLISION and detector.message.startswith('collision')
    assert detector.payload is not None and detector.payload.picked is None


def test_a_push_on_a_joint_is_found_as_soon_as_without_a_payload() -> None:
    for joint in (0, 1, 3):
        push = np.zeros((len(motion(0, False)[0]), 6))
        push[:, joint] = 3.0 * THRESHOLDS[joint]
        first = [run(2, push, limit=limit)[0].index(Level.COLLISION) for limit in (None, 5.0)]
        assert first[1] <= first[0] + 2


def test_a_torque_that_goes_on_growing_is_a_collision() -> None:
    """An obstacle below or above the tool."""
    time, q, qd = motion(3, False)
    growing = (
        MODEL.torque(q, qd, 0.0 * q, load(1.0)) * (30.0 * np.maximum(time - PICK, 0.0))[:, None]
    )
    worst, detector, _ = run(3, growing)
    assert detector.payload is not None and detector.payload.picked is None
    assert PICK < time[worst.index(Level.COLLISION)] < PICK + 0.3
