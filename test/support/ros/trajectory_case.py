# SPDX-License-Identifier: Apache-2.0
"""Trajectories with torque without DDS: a robot and a controller that a test moves on."""

import numpy as np
from fake_node import FakeNode
from feedforward_client import LIMIT, MODEL, NAMES, STEP, VALUES, arrays, message, ramped_out
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.feedforward.trajectory_effort import TrajectoryPlanner
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque_threshold import TorqueThreshold
from robodyn_ros.nodes.feedforward.law import Law
from robodyn_ros.nodes.feedforward.trajectories import STEP as PLANNING
from robodyn_ros.nodes.feedforward.trajectories import Trajectories

EFFORT = {'unit': 'Nm', 'side': 'joint', 'gravity': 'included'}
JTC = 'joint_trajectory_controller'
TIMEOUT = 0.5


class Case:
    """Trajectories in and out, a robot that follows them, and time that passes when told to."""

    def __init__(self, clock, *, limit=None, step=STEP):
        self.clock, self.node = clock, FakeNode()
        self.torque = Trajectories(self.node)
        settings = FeedforwardSettings(
            joints=NAMES, max_torque=LIMIT, max_torque_rate=step / 0.002, ramp_up_time=0.1
        )
        threshold = TorqueThreshold(NAMES, limit, lambda: clock[0])
        planner = TrajectoryPlanner(ModelTorque(MODEL, VALUES), settings, threshold)
        effort = EffortDeclaration.from_mapping(EFFORT).for_joints(MODEL.joints)
        self.torque.use(Law(planner, effort, StateWatch(width=2, timeout=TIMEOUT)), 3)
        self.torque.begin(True)
        self.effort = ()

    @property
    def out(self):
        """Trajectories at the controller."""
        rows = self.node.published[f'{JTC}/joint_trajectory']
        return [deserialize_message(row, JointTrajectory) for row in rows]

    @property
    def efforts(self):
        return [arrays(each)[4] for each in self.out]

    @property
    def state(self):
        return self.torque.state

    def arrive(self, duration=1.0, **options):
        self.node.deliver('~/joint_trajectory', serialize_message(
            message(duration=duration, **options)
        ))  # fmt: skip

    def plan(self):
        """Let all steps of planning pass."""
        for _ in range(1000):
            self.node.timers[PLANNING]()

    def run(self, duration=10.0, **options):
        """Let the controller execute a trajectory that starts now."""
        self.arrive(duration, stamp=self.node.nanoseconds, **options)
        self.plan()
        self.sent = arrays(self.out[-1])
        self.begin = self.clock[0]
        self.node.published[f'{JTC}/joint_trajectory'].clear()

    def wanted(self):
        at, position, *_ = self.sent
        now = self.clock[0] - self.begin
        return np.array([np.interp(now, at, column) for column in position.T])

    def publish(self, position=None, velocity=(0.2, -0.3), shift=0.0, repeat=False):
        """Publish the joint state of a robot that is there, or on its way."""
        state = JointState(name=NAMES, velocity=velocity, effort=self.effort)
        state.position = (self.wanted() if position is None else position).tolist()
        now = self.node.nanoseconds + round(1e9 * shift)
        state.header.stamp.sec, state.header.stamp.nanosec = divmod(now, 10**9)
        self.node.deliver('joint_states', serialize_message(state))

    def follow(self, seconds, position=None, **options):
        """Let time pass with a joint state every 10 ms; `position`: of the time from now on."""
        for count in range(round(seconds / 0.01)):
            self.wait(0.01)
            self.publish(position and position(0.01 * count), **options)

    def wait(self, seconds):
        self.clock[0] += seconds
        self.node.timers[0.25]()


def check_stop(case):
    """Return the remainder that was sent: the motion goes on, its torque ramps to zero."""
    (stop,) = case.out
    at, position, _, _, effort = arrays(stop)
    assert ramped_out(stop) and at[-1] >= case.sent[0][-1] - 0.2
    assert (np.abs(effort) <= LIMIT).all()
    assert (np.abs(np.diff(effort, axis=0)) <= STEP * (1 + 1e-9)).all()
    path = [np.interp(at[0], case.sent[0], column) for column in case.sent[1].T]
    np.testing.assert_allclose(position[0], path, atol=1e-3)
