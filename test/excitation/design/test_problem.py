# SPDX-License-Identifier: Apache-2.0
"""The search as a function of numbers: derivatives, and motions that keep every limit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published import robot, table1
from robots import SIX_AXIS

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.design.criteria import Options
from robodyn_ros.excitation.design.problem import Design, DesignProblem, Smoothing
from robodyn_ros.excitation.limits.constraints import SpaceLimit, TorqueLimit
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion
from robodyn_ros.models.serial.chain import LinkTree
from robodyn_ros.models.serial.urdf import UrdfModel

ROBOT, LIMITS = robot('puma'), table1()
TORQUE = TorqueLimit(tuple(ROBOT.prior()), (25.0, 45.0, 30.0, 5.0, 5.0, 5.0))
SPACE = SpaceLimit(('link6',), lower=(-np.inf, -np.inf, -0.3))
DESIGNS = {
    'fourier': Design(ROBOT, LIMITS),
    'sines': Design(ROBOT, LIMITS, motion='sines', harmonics=3),
    'waypoints': Design(ROBOT, LIMITS, motion='waypoints'),
    'conservative': Design(ROBOT, LIMITS, conservative=True),
    'block': Design(ROBOT, LIMITS, criterion=Options('block')),
    'ruled': Design(ROBOT, LIMITS, rules=(TORQUE, SPACE), position=(0, -0.8, 0.5, 0, 0, 0)),
}


@pytest.mark.parametrize('name', DESIGNS)
def test_objective_has_its_derivative(name):
    problem = DesignProblem(DESIGNS[name])
    random = np.random.default_rng(2)
    x, way = problem.family.start(random), random.normal(size=problem.family.size)
    for stage in (Smoothing(70, 8.0, 8.0), Smoothing(100, 60.0, 150.0, 30.0)):
        sums = [problem.objective(x + h * way, stage)[0] for h in (1e-6, -1e-6)]
        slope = problem.objective(x, stage)[1]
        assert slope @ way == pytest.approx((sums[0] - sums[1]) / 2e-6, rel=1e-5)


@pytest.mark.parametrize('name', DESIGNS)
def test_finished_motions_keep_every_limit(name):
    problem = DesignProblem(DESIGNS[name])
    candidate = problem.finish(problem.family.start(np.random.default_rng(4)))
    check_motion(candidate.trajectory, LIMITS)
    motion = candidate.trajectory.grid(0.0007)
    states = motion.position, motion.velocity, motion.acceleration
    assert candidate.value == problem.criterion.value(*problem.states(candidate.trajectory))
    if name == 'ruled':
        assert 0.0 < candidate.repaired < 1.0 and candidate.broken
        torque = ROBOT.torque(*states, ROBOT.prior())
        assert (np.abs(torque) <= np.array(TORQUE.limits) * 1.0).all()
        assert LinkTree(ROBOT).places(motion.position, ['link6'])[:, 0, 2].min() >= -0.3
    else:
        assert candidate.repaired == 1.0


def random_limits(seed):
    """Limits of any size, often one-sided, missing, or too narrow for the rest position."""
    random = np.random.default_rng(seed)
    lower = random.uniform(-3.0, 1.0, 6)
    upper = lower + 10.0 ** random.uniform(-2.0, 0.7, 6)
    lower[random.uniform(size=6) < 0.1] = -np.inf
    upper[random.uniform(size=6) < 0.1] = np.inf
    velocity, acceleration = 10.0 ** random.uniform(-2.0, 1.0, (2, 6))
    velocity[random.uniform(size=6) < 0.1] = np.inf
    acceleration[random.uniform(size=6) < 0.05] = np.inf
    endless = np.full(6, np.inf)
    return JointLimits(
        LIMITS.joints, ('rad',) * 6, lower, upper, velocity, acceleration, endless, endless
    )


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(['fourier', 'sines', 'waypoints']), st.booleans())
def test_random_limits_are_never_broken(seed, motion, middle):
    limits = random_limits(seed)
    random = np.random.default_rng(seed)
    position = None if middle else random.uniform(-1.5, 1.5, 6).tolist()
    design = Design(
        ROBOT, limits, motion=motion, harmonics=3, position=position, samples=60,
        duration=10.0 ** random.uniform(0.5, 1.5),
    )  # fmt: skip
    try:
        problem = DesignProblem(design)
    except MotionError as error:
        assert any(f"'{name}'" in str(error) for name in limits.joints)
        return
    candidate = problem.finish(3.0 * problem.family.start(random))
    check_motion(candidate.trajectory, limits)
    assert np.isfinite(candidate.value)


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'motion': 'spline'}, "there is no motion 'spline' to optimise"),
        ({'motion': 'sines', 'conservative': True}, 'for Fourier motions only'),
        ({'samples': 5}, '5 samples give 30 equations for 36 parameters: at least 6'),
        ({'position': [0.0] * 5}, 'the position must be 6 finite numbers'),
        ({'position': [0, 0, 1.2, 0, 0, 0]}, "joint 'joint3' has no room to move around 1.2 rad"),
        ({'rules': (TorqueLimit(TORQUE.values, (1.0,) * 6),)}, "even at rest .* joint 'joint"),
        ({'harmonics': 1}, '2 to 100 harmonics'),
        ({'duration': -1.0}, 'duration of a motion must be above 0'),
    ],
)
def test_what_is_impossible_is_refused_with_the_reason(changes, words):
    with pytest.raises(MotionError, match=words):
        DesignProblem(Design(**{'model': ROBOT, 'limits': LIMITS, **changes}))


def test_joints_without_limits_are_named():
    with pytest.raises(MotionError, match='there are no limits for joint'):
        DesignProblem(Design(UrdfModel.from_file(SIX_AXIS), LIMITS.select(['joint1'])))
