# SPDX-License-Identifier: Apache-2.0
"""Recordings whose noise, gaps or late torque ask for a lower cut-off than their motion does."""

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.recording.recording import Recording

AXIS = """<robot name="one"><link name="base"/><joint name="a" type="continuous">
<parent link="base"/><child link="arm"/><axis xyz="0 0 1"/><limit effort="25" velocity="30"/>
</joint><link name="arm"><inertial><mass value="1.0"/><origin xyz="0.1 0 0"/>
<inertia ixx="0.01" iyy="0.04" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def chirp(rate, highest, late, noise, seed=0):
    """Record an axis from 0.1 Hz on for 30 s, with a late torque."""
    random, time = np.random.default_rng(seed), np.arange(0.0, 30.0, 1.0 / rate)
    bend = 2.0 * np.pi * (highest - 0.1) / 30.0
    angle = 2.0 * np.pi * 0.1 * time + 0.5 * bend * time**2
    speed = 2.0 * np.pi * 0.1 + bend * time
    q, qd = 0.3 * np.sin(angle), 0.3 * speed * np.cos(angle)
    qdd = 0.3 * (bend * np.cos(angle) - speed**2 * np.sin(angle))
    torque = np.interp(time - late, time, 0.08 * qdd + 0.2 * qd + 0.3 * np.tanh(qd / 0.02))
    torque += 0.02 * random.normal(size=len(time))
    q += noise * random.normal(size=len(time))
    return Recording(time, ('a',), q[:, None], torque[:, None], source='chirp')


@pytest.mark.parametrize(
    ('rate', 'highest', 'late', 'noise'),
    [(500.0, 15.0, 4.0, 1e-3), (100.0, 4.0, 30.0, 1e-4)],
)
def test_a_late_torque_is_corrected_and_does_not_smooth_the_motion(rate, highest, late, noise):
    facts = 1e-3 * late, noise
    test = chirp(rate, 0.6 * highest, *facts, seed=1)
    model = robot_model(AXIS, friction='auto')
    result = identify(chirp(rate, highest, *facts), model, validation=test)
    found = {item.code: item.text for item in result.findings}
    assert result.success and 'disturbed_interval' not in found
    delay = float(found['time_offset'].split(' ms')[0].split()[-1])
    assert delay == pytest.approx(late, abs=max(0.2, 60.0 / rate))
    assert result.filter_cutoff >= min(1.8 * highest, 0.2 * rate)
    assert result.identification.relative_residual < 0.015


@pytest.fixture(scope='module')
def case():
    return arm(random_urdf(3, 71, types=('revolute',)))


def error(case, recording, rate):
    """Relative error on another motion."""
    test = record(*case, 3000, seed=1, derivatives=False, rate=rate)
    result = identify(recording, case[0], validation=test)
    assert result.success, result.findings
    return result.validation.relative_residual


def taken(recording, rows, position):
    return Recording(
        recording.time[rows], recording.joints, position[rows], recording.torque[rows],
        source='taken',
    )  # fmt: skip


def test_pauses_that_are_cut_out_cost_nothing(case):
    whole = record(*case, 12_000, derivatives=False, rate=100.0, noise=0.01)
    rows = whole.time % 6.0 > 3.0
    assert error(case, taken(whole, rows, whole.position), 100.0) < 0.012


@pytest.mark.parametrize('share', [0.014, 0.05])
def test_repeated_positions_and_uneven_stamps_cost_little(case, share):
    random = np.random.default_rng(3)
    whole = record(*case, 3000, derivatives=False, rate=100.0, noise=0.01)
    rows = np.sort(random.choice(len(whole), int(0.97 * len(whole)), replace=False))
    position = whole.position.copy()
    for sample, joint in np.argwhere(random.random(position.shape) < share):
        position[sample, joint] = position[sample - 1, joint] if sample else position[0, joint]
    assert error(case, taken(whole, rows, position), 100.0) < 0.02


def test_a_slow_motion_with_noise_is_still_predicted(case):
    whole = record(*case, 15_000, derivatives=False, rate=250.0, noise=0.01)
    noise = 3e-3 * np.random.default_rng(0).normal(size=whole.position.shape)
    every = np.arange(len(whole))
    assert error(case, taken(whole, every, whole.position + noise), 250.0) < 0.03
