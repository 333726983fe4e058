# SPDX-License-Identifier: Apache-2.0
"""Designs of motions with random limits, from wide to hopeless, and a judge of what comes out.

The judge uses nothing the search uses: the motion as it comes back from its description, sampled
at times of its own, and Pinocchio's algorithms on a UR10 for torque, space and collision.
"""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pinocchio as pin
from hypothesis import strategies as st
from published import robot
from robots import UR10, random_urdf

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.catalog import build_motion
from robodyn_ros.excitation.collisions.self_collision import SelfCollisionLimit
from robodyn_ros.excitation.design.criteria import Options
from robodyn_ros.excitation.design.optimize import optimise
from robodyn_ros.excitation.design.problem import Design
from robodyn_ros.excitation.limits.bounds import Margins
from robodyn_ros.excitation.limits.constraints import SpaceLimit, TorqueLimit
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.models.serial.urdf import UrdfModel

FRAME = 'wrist_3_link'
MODELS = ('two axes', 'ur5', 'ur10')
SECONDS = 0.1
SLACK = 15.0
"""A search of so much processor time, in [s], hangs."""


@cache
def model(name):
    if name == 'two axes':
        return UrdfModel.from_xml(random_urdf(2, 5, types=('revolute',)), rotor_inertia=False)
    return UrdfModel.from_file(UR10, rotor_inertia=False) if name == 'ur10' else robot(name)


@st.composite
def designs(draw):
    """Any design: seldom a wish that cannot be, often a limit that is tight or missing."""
    name = draw(st.sampled_from(MODELS))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    chosen = model(name)
    limits = _limits(chosen.joint_names, random)
    motion = draw(st.sampled_from(['fourier', 'sines', 'waypoints']))
    rules = draw(st.sets(st.sampled_from(['torque', 'space', 'self']))) if name == 'ur10' else []
    return Design(
        model=chosen,
        limits=limits,
        criterion=Options(draw(st.sampled_from(['cond', 'det', 'block', 'block_by_condition']))),
        motion=motion,
        duration=float(10.0 ** random.uniform(0.3, 1.5)),
        harmonics=draw(st.integers(2, 6)),
        position=tuple(random.uniform(-1, 1, len(limits.joints))) if draw(st.booleans()) else None,
        samples=60,
        margins=Margins(*(random.uniform(0.0, 0.3, 3) * random.integers(2, size=3))),
        conservative=motion == 'fourier' and draw(st.booleans()),
        rules=tuple(_rule(kind, chosen, random) for kind in sorted(rules)),
    )  # fmt: skip


def _limits(names, random):
    count = len(names)

    def some(values, share):
        return np.where(random.uniform(size=count) < share, np.inf, values)

    lower = random.uniform(-3.0, 0.3, count)
    upper = lower + 10.0 ** random.uniform(-1.5, 0.8, count)
    velocity, acceleration = 10.0 ** random.uniform(-2.0, 1.0, (2, count))
    endless = np.full(count, np.inf)
    return JointLimits(
        names, ('rad',) * count, -some(-lower, 0.1), some(upper, 0.1), some(velocity, 0.1),
        some(acceleration, 0.1), endless, endless,
    )  # fmt: skip


def _rule(kind, chosen, random):
    if kind == 'torque':
        efforts = 10.0 ** random.uniform([1.5, 2.0, 1.8, 0.5, 0.3, 0.0], 3.0)
        return TorqueLimit(tuple(chosen.prior()), tuple(efforts))
    if kind == 'space':
        lower, upper = random.uniform(-1.5, 0.1, 3), random.uniform(0.3, 1.5, 3)
        return SpaceLimit((FRAME,), tuple(lower), tuple(upper))
    return SelfCollisionLimit(str(UR10))


def judge(design, seed=0):
    """Search, and fail if a limit is broken, it hangs, or is refused without a reason.

    :return: 'kept', or the sentence with which it was refused
    """
    began = time.process_time()
    try:
        result = optimise(design, seconds=SECONDS, seed=seed, starts=2, processes=0)
    except MotionError as error:
        assert time.process_time() - began < SLACK
        assert any(word in str(error) for word in ('limit', 'room', 'reach')), str(error)
        return str(error)
    assert time.process_time() - began < SLACK
    trajectory = build_motion(result.trajectory.describe())
    random = np.random.default_rng(seed)
    times = np.sort(random.uniform(0.0, trajectory.duration, 3000))
    motion = trajectory.sample(np.concatenate([times, [0.0, trajectory.duration]]))
    _judge_joints(design.limits, motion)
    for rule in design.rules:
        {TorqueLimit: _judge_torque, SpaceLimit: _judge_space}.get(type(rule), _judge_self)(
            rule, motion
        )
    return 'kept'


def _judge_joints(limits, motion):
    below, above = limits.lower - motion.position, motion.position - limits.upper
    assert np.maximum(below, above).max() <= 1e-9
    for name in ('velocity', 'acceleration'):
        share = np.abs(getattr(motion, name)) / getattr(limits, name)
        assert share.max() <= 1.0 + 1e-9, f'{name}: {share.max() - 1.0:.3g} too much'


@cache
def _arm():
    arm = pin.buildModelFromUrdf(str(UR10))
    geometry = pin.buildGeomFromUrdf(arm, str(UR10), pin.GeometryType.COLLISION)
    objects = geometry.geometryObjects
    for first in range(len(objects)):
        for second in range(first):
            one, other = objects[first].parentJoint, objects[second].parentJoint
            if one != other and arm.parents[one] != other and arm.parents[other] != one:
                geometry.addCollisionPair(pin.CollisionPair(second, first))
    return arm, arm.createData(), geometry, geometry.createData()


def _judge_torque(rule, motion):
    arm, data, *_ = _arm()
    for row in zip(motion.position, motion.velocity, motion.acceleration, strict=True):
        assert (np.abs(pin.rnea(arm, data, *row)) <= np.array(rule.limits) * (1.0 + 1e-9)).all()


def _judge_space(rule, motion):
    arm, data, *_ = _arm()
    frame = arm.getFrameId(FRAME)
    for row in motion.position:
        pin.framesForwardKinematics(arm, data, row)
        place = data.oMf[frame].translation
        assert (place >= np.array(rule.lower) - 1e-9).all()
        assert (place <= np.array(rule.upper) + 1e-9).all()


def _judge_self(rule, motion):
    arm, data, geometry, checked = _arm()
    for row in motion.position:
        assert not pin.computeCollisions(arm, data, geometry, checked, row, True)
