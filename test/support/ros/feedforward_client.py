# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the feed-forward node's tests: model, parameters and motions."""

import numpy as np
from builtin_interfaces.msg import Duration, Time
from control_arm import small_arm
from node_process import EFFORT, NodeProcess, joint_state
from robodyn_ros.msg import TorqueState
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from writers import result_file

from robodyn_ros.control.feedforward.torque_plan import TRANSPORT

MODEL, VALUES = small_arm()
NAMES = list(MODEL.joint_names)
PERIOD = 0.002
DELAY = 3
COMMON = {
    **EFFORT,
    'autostart': 'true',
    'check_controller': 'false',
    'state_timeout': 0.0,
    'max_torque': '[200.0, 100.0]',
    'max_torque_rate': '[10000.0, 5000.0]',
    'ramp_up_time': 0.1,
    'ramp_down_time': 0.1,
    'velocity_window': '[0.0]',
    'torque_state_rate': 0.0,
}
LIMIT, STEP = np.array([200.0, 100.0]), np.array([10000.0, 5000.0]) * PERIOD
"""Largest torque and change of it in a cycle, by `COMMON`."""


def message(names=NAMES, stamp=0, points=21, duration=1.0) -> JointTrajectory:
    """There and back in `duration`, quintic points, stamp in [ns]."""
    result = JointTrajectory(joint_names=list(names))
    result.header.stamp = Time(sec=stamp // 10**9, nanosec=stamp % 10**9)
    size = np.array([0.5, -0.8])
    rate = 2.0 * np.pi / duration
    for at in np.linspace(0.0, duration, points):
        phase = rate * at
        speed = 0.0 if at in (0.0, duration) else np.sin(phase)
        point = JointTrajectoryPoint(
            positions=(size * (1.0 - np.cos(phase))).tolist(),
            velocities=(size * rate * speed).tolist(),
            accelerations=(size * rate**2 * np.cos(phase)).tolist(),
        )
        point.time_from_start = Duration(sec=int(at), nanosec=round(at % 1.0 * 1e9))
        result.points.append(point)
    return result


def arrays(trajectory: JointTrajectory):
    names = ('positions', 'velocities', 'accelerations', 'effort')
    fields = [np.array([getattr(p, name) for p in trajectory.points]) for name in names]
    stamps = [p.time_from_start for p in trajectory.points]
    return np.array([s.sec + 1e-9 * s.nanosec for s in stamps]), *fields


def ramped_out(trajectory: JointTrajectory, ramp_down_time: float = 0.1) -> bool:
    """Return True if its effort ends when the ramp does, which begins when it takes effect."""
    time, *_, effort = arrays(trajectory)
    arrival = TRANSPORT[0] + TRANSPORT[1] * len(time)
    gone = time > time[0] + arrival + ramp_down_time + 2.0 * (time[1] - time[0])
    return bool(effort.any() and not effort[gone].any())


class Trajectories:
    """A feed-forward node; trajectories in and out."""

    def __init__(self, folder, number, until='active', **parameters) -> None:
        # The result as a parameter file: `dynamic_model.*` are ROS parameters.
        result = result_file(folder, MODEL, VALUES)
        given = {name: v for name, v in {**COMMON, **parameters}.items() if v is not None}
        process = NodeProcess('feedforward', number, folder / 'log', given, params_file=result)
        self.process = process
        topic = 'joint_trajectory_controller/joint_trajectory'
        self.out = process.listen(JointTrajectory, topic, 10)
        self.states = process.listen(TorqueState, 'feedforward/torque_state')
        self.trajectory = process.publisher(JointTrajectory, 'feedforward/joint_trajectory')
        self.joint_states = process.publisher(JointState, 'joint_states')
        self.effort = None
        self._due = 0.0
        process.time.ticks.append(self._on_tick)
        process.wait_for(until)

    def _on_tick(self):
        """Measured torque flows all the time once a test has set it, every 50 ms."""
        now = self.process.now()
        if self.effort is not None and now >= self._due:
            self._due = now + 0.05
            self.joint_states.publish(joint_state(NAMES, now, effort=self.effort))

    def ready(self):
        """Torque will be added to the trajectories to come, whatever came before."""
        self.process.enable(False)
        self.process.reset()
        assert self.process.enable(True).success

    def sent(self, trajectory) -> JointTrajectory:
        """Return the output for it; the remainder of the one before has that one's stamp."""
        self.out.clear()
        self.trajectory.publish(trajectory)
        self.published = self.process.now()

        def left():
            return [each for each in self.out if each.header.stamp == trajectory.header.stamp]

        self.process.wait(left, 'the trajectory')
        return left()[-1]

    def refused(self, trajectory) -> str:
        """Return the refusal of a trajectory, which must not replace a running one."""
        self.process.wait(self._waits, 'the end of the motion before')
        self.out.clear()
        before = int(self.process.details()['refused'])
        self.trajectory.publish(trajectory)
        self.process.wait(lambda: int(self.process.details()['refused']) > before, 'the refusal')
        assert not self.out
        return self.process.diagnostics[-1].status[0].message

    def _waits(self):
        return self.process.details()['state'] == 'idle'

    def heard(self, *fields, **options):
        """Publish a joint state of now, and return the torque state that the node answers."""
        state = joint_state(NAMES, self.process.now(), *fields, **options)
        self.joint_states.publish(state)
        return self.answer(lambda stamp: stamp == state.header.stamp)

    def feedback(self, effort):
        """Let this measured torque flow, and return a torque state that has seen it."""
        self.effort = effort
        now = self.process.now()
        return self.answer(lambda stamp: stamp.sec + 1e-9 * stamp.nanosec >= now)

    def answer(self, belongs):
        """The first torque state whose stamp, that of a joint state, belongs to it."""
        self.states.clear()

        def found():
            return [state for state in self.states if belongs(state.header.stamp)]

        self.process.wait(found, 'the torque state')
        return found()[0]
