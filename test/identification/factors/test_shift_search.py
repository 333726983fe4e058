# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.identification.factors.joint_fit import fit_joint
from robodyn_ros.identification.factors.shift_search import (
    best_shift,
    extract_vibration,
    smooth_torque,
    torque_shift,
)
from robodyn_ros.identification.fit.choice import FOUR
from robodyn_ros.identification.fit.folds import labels_of
from robodyn_ros.identification.fit.time_offset import OffsetTrial
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.recording.recording import Recording

STEP = 0.002
REACH = 20


@pytest.mark.parametrize('true', [-2.3, 0.0, 1.7])
def test_the_shift_of_the_smallest_residual_is_found_between_samples(true):
    def residual(shift):
        return (shift - true) ** 2

    shifts = np.arange(-5, 6)
    assert best_shift(residual(shifts), -5, residual) == pytest.approx(true, abs=1e-5)


def test_a_shift_at_the_end_of_the_range_is_none():
    assert best_shift(np.array([0.0, 1.0, 2.0]), 0, float) is None
    assert best_shift(np.array([2.0, 1.0, 0.0]), 0, float) is None


def in_a_loop(seed: int) -> Recording:
    """Return the motion of a mass of 2.5 kg in a position loop, with random forces on it."""
    random = np.random.default_rng(seed)
    time = np.arange(0.0, 20.0, STEP)
    frequencies, phases = np.array([0.15, 0.35, 0.6]), random.uniform(0.0, 6.3, 3)
    reference = np.sin(2 * np.pi * np.outer(time, frequencies) + phases) @ [0.1, 0.05, 0.04]
    position, speed = reference[0], 0.0
    positions, forces = [], []
    for wanted, rate in zip(reference, np.gradient(reference, STEP), strict=True):
        force = 785.0 * (50.0 * (wanted - position) + rate - speed)
        positions.append(position)
        forces.append(force)
        speed += STEP * (force + random.normal(0.0, 4.0) - 12.0 * speed) / 2.5
        position += STEP * speed
    signals = {'position': np.array(positions)[:, None], 'torque': np.array(forces)[:, None]}
    return Recording(joints=('z',), time=time, source='loop', **signals)


@pytest.mark.parametrize('seed', range(3))
def test_the_answer_of_a_drive_to_disturbances_explains_more_than_its_early_torque(seed):
    signals = process(in_a_loop(seed), ('z',), IdentifyOptions())
    rows = np.arange(REACH, len(signals) - REACH, 4)
    regressor = np.column_stack([signals.acceleration[rows], signals.velocity[rows]])
    torque = smooth_torque(signals.torque[:, 0])
    own = fit_joint(regressor, np.arange(2), torque[rows], np.ones(len(rows), dtype=bool))
    assert own is not None
    shift = torque_shift(own, torque, rows, REACH).shift
    assert shift == pytest.approx(-5.2, abs=0.5)  # although nothing is early
    facts = own, labels_of(signals.position[rows]), torque, rows
    assert (OffsetTrial(*facts).gain(shift, FOUR) or 0.0) > 0.1
    assert (
        OffsetTrial(*facts, answer=lambda: extract_vibration(signals)[rows, 0]).gain(shift, FOUR)
        is None
    )


def test_a_motion_up_to_the_cutoff_leaves_nothing_to_disturbances():
    signals = process(in_a_loop(0), ('z',), IdentifyOptions(filter_cutoff=1.0))
    assert not extract_vibration(signals).any()
