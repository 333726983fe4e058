# SPDX-License-Identifier: Apache-2.0
"""A UR10 does what an unlimited motion does not: it keeps torque, space and itself in mind.

Every limit is judged here by an oracle of its own: Pinocchio's algorithms on the URDF as it is.
"""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from robots import UR10

from robodyn_ros.excitation.collisions.self_collision import SelfCollisionLimit
from robodyn_ros.excitation.design.optimize import optimise
from robodyn_ros.excitation.design.problem import Design, DesignProblem
from robodyn_ros.excitation.design.search import ROUNDS, begin, improve
from robodyn_ros.excitation.limits.constraints import SpaceLimit, TorqueLimit
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion
from robodyn_ros.models.serial.urdf import UrdfModel

MODEL = UrdfModel.from_file(UR10, rotor_inertia=False)
LIMITS = replace(
    JointLimits.from_urdf(MODEL.urdf),
    lower=np.radians([-120.0, -150.0, -150.0, -170.0, -150.0, -170.0]),
    upper=np.radians([120.0, -30.0, 150.0, 170.0, 150.0, 170.0]),
    acceleration=np.full(6, 3.0),
)
FLOOR, WALL = 0.4, 0.95
EFFORT = (30.0, 90.0, 50.0, 10.0, 5.0, 2.0)
RULES = {
    'self-collision': SelfCollisionLimit(str(UR10)),
    'floor and box': SpaceLimit(
        ('forearm_link', 'wrist_3_link'), (-WALL, -WALL, FLOOR), (WALL, WALL, np.inf)
    ),
    'torque': TorqueLimit(tuple(MODEL.prior()), EFFORT),
}
DESIGN = Design(MODEL, LIMITS, samples=60, harmonics=3, position=(0.0, -1.2, 1.0, -1.4, -1.5, 0.0))
PIN = pin.buildModelFromUrdf(str(UR10))
DATA = PIN.createData()


def collisions(q):
    """Poses at which links that no joint joins overlap."""
    geometry = pin.buildGeomFromUrdf(PIN, str(UR10), pin.GeometryType.COLLISION)
    objects = geometry.geometryObjects
    for first in range(len(objects)):
        for second in range(first):
            one, other = objects[first].parentJoint, objects[second].parentJoint
            if PIN.parents[one] != other and PIN.parents[other] != one and one != other:
                geometry.addCollisionPair(pin.CollisionPair(second, first))
    data = geometry.createData()
    return sum(pin.computeCollisions(PIN, DATA, geometry, data, row, True) for row in q)


def outside(q):
    """Largest distance of the frames outside the box and below the floor."""
    worst = -np.inf
    for row in q:
        pin.framesForwardKinematics(PIN, DATA, row)
        for name in ('forearm_link', 'wrist_3_link'):
            x, y, z = DATA.oMf[PIN.getFrameId(name)].translation
            worst = max(worst, abs(x) - WALL, abs(y) - WALL, FLOOR - z)
    return max(0.0, worst)


def overload(motion):
    """Largest torque beyond what is allowed, by the recursive Newton-Euler algorithm."""
    rows = zip(motion.position, motion.velocity, motion.acceleration, strict=True)
    torque = np.array([pin.rnea(PIN, DATA, *row) for row in rows])
    return max(0.0, (np.abs(torque) / EFFORT).max() - 1.0)


BROKEN = {
    'self-collision': lambda motion: collisions(motion.position),
    'floor and box': lambda motion: outside(motion.position),
    'torque': overload,
}


@pytest.fixture(scope='module')
def free():
    """What a search finds that knows of no rule; no clock has a say in it."""
    problem = DesignProblem(DESIGN)
    plan = replace(ROUNDS[0], iterations=15)
    found = improve(problem, begin(problem, 0, 0), plan, lambda: False, lambda value: None)
    return problem.finish(found.x).trajectory


@pytest.mark.parametrize('name', RULES)
def test_limit_is_kept_that_a_free_motion_breaks(name, free):
    assert BROKEN[name](free.grid(0.01)) > 0.0
    design = replace(DESIGN, rules=(RULES[name],))
    result = optimise(design, starts=1, seconds=1.5, processes=0)
    check_motion(result.trajectory, LIMITS)
    assert BROKEN[name](result.trajectory.grid(0.0023)) == 0.0
    assert np.ptp(result.trajectory.grid(0.1).position, axis=0).min() > 0.05  # it moves
