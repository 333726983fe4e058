"""What the tests of the feed-forward node share: its model, parameters, motions and a stream."""

import time

import numpy as np
import pytest
from control_arm import small_arm

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.msg')
from builtin_interfaces.msg import Duration, Time  # noqa: E402
from node_process import EFFORT, NodeProcess, joint_state, result_file  # noqa: E402
from residuals import GEAR_RATIO, proportional  # noqa: E402
from robodyn_ros.msg import TorqueState  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

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
}


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


class Trajectories:
    """A feed-forward in trajectory mode; trajectories in and out."""

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
        process.node.create_timer(0.05, self._on_timer)
        process.wait_for(until)

    def _on_timer(self):
        """Measured torque flows all the time once a test has set it."""
        if self.effort is not None:
            state = joint_state(NAMES, time.time(), effort=self.effort)
            self.joint_states.publish(state)

    def sent(self, trajectory) -> JointTrajectory:
        self.out.clear()
        self.trajectory.publish(trajectory)
        self.process.wait(lambda: self.out, 'the trajectory')
        return self.out[-1]

    def refused(self, trajectory) -> str:
        """Diagnostics after a trajectory that is refused."""
        self.out.clear()
        before = self._refusals()
        self.trajectory.publish(trajectory)
        self.process.wait(lambda: self._refusals() > before, 'the refusal in the diagnostics')
        assert not self.out
        return self.process.diagnostics[-1].status[0].message

    def _refusals(self) -> int:
        """Trajectories refused so far, by the last diagnostics."""
        last = self.process.diagnostics[-1:] or [None]
        values = last[0].status[0].values if last[0] else []
        return max([int(item.value) for item in values if item.key == 'refused'], default=0)

    def feedback(self, effort):
        """Let this measured torque flow, and return a torque state that has seen it."""
        self.effort = None
        self.process.spin(0.1)
        self.states.clear()
        self.effort = effort
        self.process.wait(lambda: self.states, 'the torque state')
        return self.states[-1]


class Stream:
    """A streaming feed-forward; one reference in, one command out.

    Its result has a residual torque, which acts when joint states have the motors' positions.
    """

    def __init__(self, folder, number=2, script=None, until='active', **options) -> None:
        parameters = {
            **COMMON, 'mode': 'streaming', 'reference_timeout': 0.3,
            'result_file': result_file(folder, MODEL, VALUES, proportional(NAMES)), **options,
        }  # fmt: skip
        log = folder / 'log'
        self.process = NodeProcess('feedforward', number, log, parameters, script=script)
        self.commands = self.process.listen(
            Float64MultiArray, 'forward_effort_controller/commands', 1000
        )
        self.states = self.process.listen(TorqueState, 'feedforward/torque_state')
        self.joint_states = self.process.publisher(JointState, 'joint_states')
        self.reference = self.process.publisher(JointState, 'feedforward/reference')
        self.time = time.time()
        self.process.wait_for(until)

    def ready(self):
        """Start from zero, whatever came before: a slow answer lets the reference go stale."""
        self.process.enable(False)
        self.process.reset()
        assert self.process.enable(True).success

    def motion(self):
        self.time += PERIOD
        rate = np.array([2.0, 3.0])
        q = 0.4 * np.sin(rate * self.time)
        return q, 0.4 * rate * np.cos(rate * self.time)

    def sides(self, q, deflection):
        """Joint states of an arm whose gears are deflected, encoders on both sides."""
        motors = [f'{name}_motor' for name in NAMES]
        both = [*q, *(GEAR_RATIO * (np.asarray(q) + deflection))]
        self.joint_states.publish(joint_state([*NAMES, *motors], self.time, both))

    def run(self, count: int, deflection=None):
        """Reference and command of each cycle; with a deflection after its joint states."""
        rows = []
        for _ in range(count):
            q, qd = self.motion()
            if deflection is not None:
                self.sides([0.1, 0.2], deflection)
            before = len(self.states)
            self.process.exchange(
                self.reference,
                joint_state(NAMES, self.time, q, qd),
                lambda n=before: len(self.states) > n,
                'a torque state',
            )
            rows.append((q, qd, np.array(self.states[-1].additive_command)))
        return [np.array(column) for column in zip(*rows, strict=True)]
