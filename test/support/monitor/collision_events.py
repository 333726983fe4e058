# SPDX-License-Identifier: Apache-2.0
"""Events of the black box, of random operation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from control_arm import small_arm
from healthy_arm import flat_map

from robodyn_ros.control.collision.black_box.call_ring import CallRing
from robodyn_ros.control.collision.black_box.event import Event, Setup
from robodyn_ros.control.collision.black_box.recorded_detector import build_detector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.threshold_map import Bands, ThresholdMap
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.identification.files.result_file import load_identified_model, model_parameters

MODEL, VALUES = small_arm()
IDENTIFIED = load_identified_model(
    {'dynamic_model': model_parameters(MODEL, VALUES, np.full(len(VALUES), 0.1))}
)
EFFORT = EffortDeclaration.from_mapping(
    {'unit': 'A', 'side': 'motor', 'gravity': 'included', 'torque_constant': 0.7,
     'gear_ratio': 51.0, 'direction': -1}
)  # fmt: skip

BANDED = replace(
    flat_map('', np.array([10.0, 5.0])),
    map=ThresholdMap(
        Bands(np.array([0.2, 0.2]), *np.array([[[1.0], [1.2]], [[3.0], [4.0]], [[0.1], [0.1]]])),
        np.linspace(4.0, 12.0, 20).reshape(2, 10), 0.7, np.array([1.3, 1.8]), np.array([4.0, 7.0]),
        change=np.array([0.8, 0.6]),
    ),
)  # fmt: skip
"""Thresholds that differ by speed, acceleration and time since the reversal."""


def setup(*, mapped: bool = False, **changes: object) -> Setup:
    options: dict[str, object] = {
        'joints': MODEL.joint_names, 'max_torque_error': [10.0, 5.0],
        'low_velocity_torque': 1.5, 'filter_cutoff': 33.0, **changes,
    }  # fmt: skip
    settings = CollisionSettings(**options)  # type: ignore[arg-type]
    learned = BANDED if mapped else None
    return Setup(IDENTIFIED, np.array([0.0, 0.02]), settings, EFFORT, learned)


def event(seed: int, count: int = 320, capacity: int = 290) -> Event:
    """Motion with pushes, gaps, losses, resets and payloads, longer than the ring."""
    random = np.random.default_rng(seed)
    residual = ('filtered', 'observer')[seed // 2 % 2]
    enabled = [True, bool(random.integers(2))]
    mapped = seed % 3 == 0
    built = setup(residual=residual, torque_error_enable=enabled, mapped=mapped)
    recorded = build_detector(built)
    recorded.ring = CallRing(width=2, capacity=capacity, every=150)
    stamp, push = 10**18 + int(random.integers(10**9)), 0.0
    rate = np.array([3.0, 4.0])
    for _ in range(count):
        stamp += int(random.normal(2e6, 1e5)) + (random.random() < 0.01) * 10**8
        draw = random.random()
        push = 12.0 * random.random() if draw < 0.02 else push * (draw < 0.95)
        if draw > 0.98:
            name, argument = [
                ('lose', 'no joint states for 0.06 s'), ('reset', None),
                ('set_sensitivity', 0.5 + draw),
                ('set_values', (VALUES * (1.0 + 0.1 * draw)).tolist()),
                ('adjust', (VALUES * (1.0 + 0.01 * draw)).tolist()), ('rest', draw > 0.985),
            ][int(random.integers(6))]  # fmt: skip
            recorded.call(name, argument)
            continue
        angle = rate * (1e-9 * (stamp % 10**11))
        q, qd = 0.5 * np.sin(angle), 0.5 * rate * np.cos(angle)
        torque = MODEL.torque(q[None], qd[None], -(rate**2 * q)[None], VALUES)[0]
        reference = (q + 1e-3, qd) if seed % 2 else None
        effort = (torque - [0.0, push]) / (-0.7 * 51.0)
        recorded.update(stamp, q, qd, effort, reference)
    rows = recorded.ring.rows(0, recorded.ring.count)
    assert rows is not None
    return Event('collision at joint2', built, rows)
