# SPDX-License-Identifier: Apache-2.0
"""Limits, and motions held against them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import JOINTS, limits, random_fourier

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.models.serial.urdf_file import parse_urdf

URDF = """<robot name="r"><link name="l0"/><link name="l1"/><link name="l2"/><link name="l3"/>
<joint name="turn" type="revolute"><parent link="l0"/><child link="l1"/>
  <limit lower="-1" upper="2" velocity="3" effort="40"/></joint>
<joint name="slide" type="prismatic"><parent link="l1"/><child link="l2"/>
  <limit lower="0" upper="0.5" velocity="0.7" effort="9"/></joint>
<joint name="spin" type="continuous"><parent link="l2"/><child link="l3"/></joint></robot>"""


def swing(frequency=0.5, target=1.0, duration=20.0):
    return SineMotion(
        joints=JOINTS,
        start=[0.0, 0.0, 0.0],
        target=[0.1, target, 0.1],
        frequency=[0.1, frequency, 0.1],
        duration=duration,
    )


def test_limits_of_a_urdf():
    found = JointLimits.from_urdf(parse_urdf(URDF))
    assert found.joints == ('turn', 'slide', 'spin') and found.units == ('rad', 'm', 'rad')
    np.testing.assert_array_equal(found.lower, [-1, 0, -np.inf])
    np.testing.assert_array_equal(found.velocity, [3, 0.7, np.inf])
    assert np.isinf(found.acceleration).all()
    chosen = JointLimits.from_urdf(parse_urdf(URDF), joints=['slide', 'turn'])
    assert chosen.joints == ('slide', 'turn')
    np.testing.assert_array_equal(chosen.effort, [9, 40])
    filled = chosen.with_default_acceleration()
    np.testing.assert_allclose(filled.acceleration, [0.7, 3.0])
    assert chosen.default_acceleration_note().endswith('1 s: slide 0.7 m/s^2, turn 3 rad/s^2')
    assert filled.default_acceleration_note() == ''
    with pytest.raises(MotionError, match="'spin' has neither a velocity nor an acceleration"):
        found.with_default_acceleration()
    with pytest.raises(MotionError, match="no moving joint 'x', there are: turn, slide, spin"):
        JointLimits.from_urdf(parse_urdf(URDF), joints=['x'])
    with pytest.raises(MotionError, match="no limits for joint 'y'"):
        chosen.select(['y'])


def test_scaling_takes_a_share():
    half = limits(velocity=2.0, acceleration=8.0).scale(velocity=0.5, acceleration=0.25)
    assert half.velocity[0] == 1.0 and half.acceleration[0] == 2.0
    for factor in (0.0, 1.01, np.nan):
        with pytest.raises(MotionError, match='velocity scaling factor must be in'):
            half.scale(velocity=factor)


@pytest.mark.parametrize('name', ['velocity', 'acceleration', 'jerk', 'effort'])
@pytest.mark.parametrize('value', [0.0, -1.0, np.nan])
def test_limits_must_be_above_zero(name, value):
    arrays = {key: np.ones(1) for key in ('velocity', 'acceleration', 'jerk', 'effort')}
    with pytest.raises(MotionError, match=f"limit {name} of joint 'a' must be above 0"):
        JointLimits(('a',), ('rad',), [-1], [1], **{**arrays, name: np.array([value])})


def test_sentence_names_joint_time_value_and_limit():
    # velocity of joint b: pi 0.5 1.0 sin(...) = 1.571 rad/s at a quarter period after 0.5 s
    with pytest.raises(MotionError, match=r"joint 'b' reaches the velocity -?1\.5708 rad/s") as e:
        check_motion(swing(), limits(velocity=1.5))
    assert str(e.value).endswith('the limit is -1.5 rad/s') or '-1.57' not in str(e.value)
    time = float(str(e.value).split('t = ')[1].split(' s')[0])
    assert abs(np.sin(2 * np.pi * 0.5 * (time - 0.5))) == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(MotionError, match=r"joint 'b' reaches the position 1 rad .* limit is 0.9"):
        check_motion(swing(), limits(position=0.9))
    with pytest.raises(MotionError, match=r"joint 'b' reaches the position -1 .* limit is -0.9"):
        check_motion(swing(target=-1.0), limits(position=0.9))
    with pytest.raises(MotionError, match=r"joint 'b' reaches the acceleration -?\d.* rad/s\^2"):
        check_motion(swing(), limits(acceleration=4.0))


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(['position', 'velocity', 'acceleration']))
def test_verdict_turns_at_the_true_maximum_also_between_samples(seed, name):
    motion = random_fourier(seed)
    fine = np.abs(getattr(motion.grid(1e-3), name)).max()
    generous = {'position': 1e3, 'velocity': 1e3, 'acceleration': 1e3}
    # a coarse grid (10 ms) must not miss what happens between its samples
    check_motion(motion, limits(**{**generous, name: fine * 1.002}), period=0.01)
    with pytest.raises(MotionError, match=f'reaches the {name}'):
        check_motion(motion, limits(**{**generous, name: fine * (1 - 3e-5)}), period=0.01)


def test_motion_that_is_no_number_is_refused():
    class Broken(PointToPoint):
        def sample(self, time):
            motion = super().sample(time)
            motion.velocity[len(time) // 2] = np.nan
            return motion

    with pytest.raises(MotionError, match='velocity nan'):
        check_motion(Broken(joints=JOINTS, start=[0] * 3, target=[1] * 3, duration=5.0), limits())
