# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
from diagnosis_case import case_of
from robots import random_urdf

from robodyn_ros.findings import Finding
from robodyn_ros.identification.diagnosis.motion import (
    joint_ranges,
    motion_findings,
    region_findings,
)
from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.recording.recording import Recording

JOINTS = ('a', 'b', 'c')
SCARA = build_model(
    {
        'kind': 'scara',
        'dynamic_model': 1,
        'joints': list(JOINTS),
        'geometry': {'L1': 0.3, 'L2': 0.25},
    }
)
LIMITS = {'a': (-2.0, 2.0), 'b': (-2.0, 2.0), 'c': (-0.2, 0.0)}


def case(frequencies, amplitudes=(1.0, 1.0, 0.08), seconds=20.0, **options):
    """Sines of the three axes, with the torques of some scara."""
    time = np.arange(0.0, seconds, 0.01)
    omega = 2 * np.pi * np.array(frequencies)
    size, phase = np.array(amplitudes), np.array([0.0, 0.4, 0.9])
    turn = np.outer(time, omega) + phase
    q = size * np.sin(turn) + np.array([0.0, 0.0, -0.1])
    qd, qdd = size * omega * np.cos(turn), -size * omega**2 * np.sin(turn)
    torque = SCARA.torque(q, qd, qdd, np.ones(len(SCARA.parameters)))
    torque += 0.01 * np.random.default_rng(0).normal(size=q.shape)
    recording = Recording(
        time=time, joints=JOINTS, position=q, torque=torque, velocity=qd, acceleration=qdd
    )
    return case_of(SCARA, recording, **options)


def codes(findings):
    return [(finding.code, finding.joint) for finding in findings]


def test_a_rich_motion_has_no_findings():
    rich = case((0.25, 0.3175, 0.3575), position_limits=LIMITS)
    assert codes(motion_findings(rich)) == [] and codes(region_findings(rich)) == []


def test_a_short_motion_is_told_with_the_time_it_needs():
    (finding,) = motion_findings(case((0.05, 0.31, 0.37)))
    assert (finding.code, finding.joint) == ('too_short', 'a')
    assert 'completes 1.' in finding.text and 'Record at least' in finding.remedy


def test_times_in_another_unit_ask_for_no_longer_recording():
    short = case((0.05, 0.31, 0.37))
    told = replace(short.recording, findings=(Finding('slow_sampling', ''),))
    assert codes(motion_findings(replace(short, recording=told))) == []


def test_one_cycle_is_enough_for_the_gravity_of_a_puma_only():
    joints = tuple(f'joint{k}' for k in range(1, 7))
    time = np.arange(0.0, 3.0, 0.02)
    q = np.sin(np.outer(time, np.linspace(1.9, 2.3, 6)) + np.arange(6.0))
    recording = Recording(
        time=time, joints=joints, position=q, torque=q, velocity=q, acceleration=q
    )
    gravity = build_model({'kind': 'puma', 'dynamic_model': 2, 'joints': list(joints)})
    bodies = robot_model(random_urdf(6, 1, types=('revolute',)))
    assert codes(motion_findings(case_of(gravity, recording))) == []
    assert codes(motion_findings(case_of(bodies, recording))) == [('too_short', 'joint2')]


def test_joints_that_move_as_one_and_motions_that_repeat():
    together = motion_findings(case((0.25, 0.25, 0.37)))
    assert codes(together) == [('joints_move_together', 'b')]
    repeating = list(motion_findings(case((0.2, 0.4, 0.37))))
    assert codes(repeating) == [('motion_repeats', 'b')]
    assert 'repeats every 5 s, after 1 cycles' in repeating[0].text
    (two,) = motion_findings(case((0.4, 0.6, 0.37)))
    assert two.joint == 'b' and 'repeats every 5 s, after 2 cycles' in two.text
    assert codes(motion_findings(case((0.6, 0.8, 0.37)))) == []


def test_nothing_is_said_about_a_motion_of_which_no_sample_counts():
    moved = case((0.2, 0.4, 0.37))
    signals = replace(moved.signals, used=np.zeros_like(moved.signals.used))
    assert codes(motion_findings(replace(moved, signals=signals))) == []


def test_a_small_region_is_told_where_limits_are_known():
    small = ((0.25, 0.3175, 0.3575), (1.0, 0.2, 0.08))
    (finding,) = region_findings(case(*small, position_limits=LIMITS))
    assert (finding.code, finding.joint) == ('region_too_small', 'b')
    assert '10% of its range (-2 to 2 rad' in finding.text
    assert codes(region_findings(case(*small))) == []


def test_a_joint_that_turns_repeats_after_a_turn_and_one_that_slides_does_not():
    limits = dict.fromkeys('abc', (-20.0, 20.0))
    moved = case((0.25, 0.3175, 0.3575), (0.8, 0.77, 0.08), position_limits=limits)
    assert [item.joint for item in region_findings(moved)] == ['c', 'b']


def test_limits_of_the_urdf_are_narrowed_by_given_ones():
    xml = (
        '<robot name="r"><link name="base"/><link name="one"/><link name="two"/>'
        '<joint name="a" type="revolute"><parent link="base"/><child link="one"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="1" velocity="1"/></joint>'
        '<joint name="b" type="continuous"><parent link="one"/><child link="two"/>'
        '<axis xyz="0 1 0"/></joint></robot>'
    )
    model = robot_model(xml)
    time = np.arange(0.0, 10.0, 0.02)
    q = np.sin(np.outer(time, [2.0, 3.0]))
    recording = Recording(
        time=time, joints=('a', 'b'), position=q, torque=q, velocity=q, acceleration=q
    )
    ranges = joint_ranges(case_of(model, recording))
    np.testing.assert_array_equal(ranges, [[-1.0, 2.0], [-np.inf, np.inf]])
    given = case_of(model, recording, position_limits={'a': (-0.5, 0.5), 'other': (0.0, 1.0)})
    np.testing.assert_array_equal(joint_ranges(given)[0], [-0.5, 0.5])
