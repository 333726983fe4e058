import sys
import time

import numpy as np
import pytest
from control_arm import small_arm

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.msg')
from builtin_interfaces.msg import Duration, Time  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from lifecycle_msgs.srv import ChangeState  # noqa: E402
from node_process import NodeProcess, joint_state, result_file  # noqa: E402
from robodyn_ros.msg import TorqueState  # noqa: E402
from robodyn_ros.srv import LoadParameters  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

pytestmark = pytest.mark.ros
MODEL, VALUES = small_arm()
NAMES = list(MODEL.joint_names)
PERIOD = 0.002
DELAY = 3
COMMON = {
    'autostart': 'true',
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


@pytest.fixture(scope='module')
def trajectory_node(tmp_path_factory):
    folder = tmp_path_factory.mktemp('feedforward')
    # The result as a parameter file: `dynamic_model.*` are ROS parameters.
    result = result_file(folder, MODEL, VALUES)
    process = NodeProcess('feedforward', 1, folder / 'log', COMMON, params_file=result)
    try:
        process.out = process.listen(
            JointTrajectory, 'joint_trajectory_controller/joint_trajectory', 10
        )
        process.states = process.listen(TorqueState, 'feedforward/torque_state')
        process.trajectory = process.publisher(JointTrajectory, 'feedforward/joint_trajectory')
        process.joint_states = process.publisher(JointState, 'joint_states')
        process.wait_for('active')
        yield process
    finally:
        process.close()


def sent(process, trajectory) -> JointTrajectory:
    process.out.clear()
    process.trajectory.publish(trajectory)
    process.wait(lambda: process.out, 'the trajectory')
    return process.out[-1]


def test_trajectory_effort_is_model_torque_three_cycles_earlier(trajectory_node):
    stamp = time.time_ns() + 10**9
    out = sent(trajectory_node, message(names=NAMES, stamp=stamp))
    assert (out.header.stamp.sec, out.header.stamp.nanosec) == (stamp // 10**9, stamp % 10**9)
    assert list(out.joint_names) == NAMES
    at, q, qd, qdd, effort = arrays(out)
    np.testing.assert_allclose(np.diff(at), PERIOD, atol=2e-9)
    expected = MODEL.torque(q, qd, qdd, VALUES)
    begin = round(0.1 / PERIOD) + DELAY
    end = round(1.0 / PERIOD)
    np.testing.assert_allclose(
        effort[begin + DELAY : end + DELAY], expected[begin:end], rtol=1e-9, atol=1e-9
    )
    # The end: a straight ramp from gravity to exactly zero, at rest.
    ramp = effort[end + DELAY + 1 :]
    assert len(ramp) == 50
    share = np.arange(49, -1, -1)[:, None] / 50.0
    # The acceleration ends at once with the motion, which the rate limit makes last a sample.
    np.testing.assert_allclose(ramp[2:], (expected[-1] * share)[2:], atol=1e-9)
    assert not effort[-1].any()
    assert not qd[end:].any()


def test_joints_are_matched_by_name(trajectory_node):
    swapped = message(names=NAMES[::-1])
    for point in swapped.points:
        point.positions, point.velocities, point.accelerations = (
            row[::-1] for row in (point.positions, point.velocities, point.accelerations)
        )
    _, *first = arrays(sent(trajectory_node, swapped))
    _, *second = arrays(sent(trajectory_node, message()))
    for one, other in zip(first[:3], second[:3], strict=True):
        np.testing.assert_array_equal(one, other)


def break_nan(trajectory):
    trajectory.points[7].positions[1] = float('nan')


def break_unknown(trajectory):
    trajectory.joint_names = [NAMES[0], 'elbow']


def break_missing(trajectory):
    trajectory.joint_names = NAMES[:1]
    for point in trajectory.points:
        point.positions, point.velocities, point.accelerations = (
            row[:1] for row in (point.positions, point.velocities, point.accelerations)
        )


def break_twice(trajectory):
    trajectory.joint_names = [NAMES[0]] * 2


def break_times(trajectory):
    trajectory.points[3].time_from_start = trajectory.points[2].time_from_start


def break_end(trajectory):
    trajectory.points[-1].velocities[0] = 0.1


def break_past(trajectory):
    trajectory.header.stamp = Time(sec=1000)


BROKEN = {
    break_nan: 'position of joint',
    break_unknown: "'elbow', which is not one of",
    break_missing: "lacks joint 'joint2'",
    break_twice: 'more than once',
    break_times: 'must increase strictly',
    break_end: 'must end at rest, joint joint1',
    break_past: 'before it arrived',
}


def test_trajectories_without_valid_torque_are_refused_whole(trajectory_node):
    trajectory_node.out.clear()
    for spoil, text in BROKEN.items():
        broken = message()
        spoil(broken)
        trajectory_node.trajectory.publish(broken)
        trajectory_node.wait(lambda text=text: text in trajectory_node.log.read_text(), text)
    status = trajectory_node.status()
    assert {v.key: v.value for v in status.values}['refused'] == str(len(BROKEN))
    assert status.message.startswith('trajectory refused: ')
    assert not trajectory_node.out


def test_a_stop_passes_through(trajectory_node):
    out = sent(trajectory_node, JointTrajectory(joint_names=NAMES))
    assert not out.points


def test_torque_state_follows_the_running_trajectory_and_disable_takes_the_torque_away(
    trajectory_node,
):
    process = trajectory_node
    stamp = time.time_ns()
    at, q, qd, qdd, effort = arrays(sent(process, message(stamp=stamp, duration=20.0)))
    process.states.clear()
    feedback = np.array([1.0, 2.0])
    process.joint_states.publish(joint_state(NAMES, 1e-9 * stamp + 3.001, effort=feedback))
    process.wait(lambda: process.states, 'the torque state')
    state = process.states[-1]
    expected = [np.interp(3.001, at, column) for column in effort.T]
    np.testing.assert_allclose(state.additive_command, expected, atol=1e-5)
    np.testing.assert_array_equal(state.feedback, feedback)
    np.testing.assert_allclose(state.error, np.array(expected) - feedback, atol=1e-5)
    requested = MODEL.torque(q[1500:1501], qd[1500:1501], qdd[1500:1501], VALUES)[0]
    np.testing.assert_allclose(state.requested, requested, rtol=1e-9)
    assert state.enabled

    process.out.clear()
    assert process.enable(False).success
    process.wait(lambda: process.out, 'the rest of the trajectory')
    out = process.out[-1]
    assert out.header.stamp.sec == stamp // 10**9
    rest, position, _, _, faded = arrays(out)
    assert time.time_ns() * 1e-9 - stamp * 1e-9 < rest[0] + 2.0
    row = np.searchsorted(at, rest[0] - 1e-6)
    np.testing.assert_allclose(position, q[row : row + len(position)], atol=1e-12)
    assert np.abs(np.diff(faded, axis=0)).max() < 200.0 / 50 * 1.001
    assert not faded[50:].any()
    # A trajectory that comes now starts from what is left of the torque, a later one from zero.
    process.spin(0.6)
    _, *fields = arrays(sent(process, message(stamp=time.time_ns())))
    assert not fields[3].any()
    assert process.enable(True).success


def test_a_long_trajectory_is_passed_on_in_half_a_second(trajectory_node):
    long = message(points=2501, duration=20.0, stamp=time.time_ns() + 10**9)
    best = np.inf
    for _ in range(3):
        begin = time.perf_counter()
        out = sent(trajectory_node, long)
        best = min(best, time.perf_counter() - begin)
    assert len(out.points) == 10000 + 1 + DELAY + 50
    # Of this the client's own conversion to 10 000 Python points is the larger part.
    assert best < 2.0


def test_another_model_is_refused_while_active(trajectory_node, tmp_path):
    path = result_file(tmp_path, MODEL, VALUES)
    request = LoadParameters.Request(result_file=str(path))
    answer = trajectory_node.call(LoadParameters, 'load_parameters', request)
    assert not answer.success
    assert 'deactivate it' in answer.message


def test_inactive_it_passes_trajectories_through_without_torque(trajectory_node):
    """The one that is lost could be the one that stops the robot."""

    def change(transition):
        request = ChangeState.Request(transition=Transition(id=transition))
        assert trajectory_node.call(ChangeState, 'change_state', request).success

    change(Transition.TRANSITION_DEACTIVATE)
    wanted = message()
    out = sent(trajectory_node, wanted)
    assert out == wanted
    change(Transition.TRANSITION_ACTIVATE)
    assert arrays(sent(trajectory_node, message()))[4].any()


def test_interrupt_takes_the_torque_out_of_a_running_motion(trajectory_node):
    sent(trajectory_node, message(stamp=time.time_ns(), duration=20.0))
    trajectory_node.spin(0.3)
    trajectory_node.out.clear()
    assert trajectory_node.interrupt() == 0
    trajectory_node.wait(lambda: trajectory_node.out, 'end', 2.0)
    assert not arrays(trajectory_node.out[-1])[4][50:].any()


class Stream:
    """A streaming feed-forward; one reference in, one command out."""

    def __init__(self, folder) -> None:
        parameters = {
            **COMMON, 'mode': 'streaming', 'reference_timeout': 0.3,
            'result_file': result_file(folder, MODEL, VALUES),
        }  # fmt: skip
        self.process = NodeProcess('feedforward', 2, folder / 'log', parameters)
        self.commands = self.process.listen(
            Float64MultiArray, 'forward_effort_controller/commands', 1000
        )
        self.states = self.process.listen(TorqueState, 'feedforward/torque_state')
        self.reference = self.process.publisher(JointState, 'feedforward/reference')
        self.time = time.time()
        self.process.wait_for('active')

    def motion(self):
        self.time += PERIOD
        rate = np.array([2.0, 3.0])
        q = 0.4 * np.sin(rate * self.time)
        return q, 0.4 * rate * np.cos(rate * self.time)

    def run(self, count: int):
        """Reference and command of each cycle."""
        rows = []
        for _ in range(count):
            q, qd = self.motion()
            before = len(self.states)
            self.reference.publish(joint_state(NAMES, self.time, q, qd))
            self.process.wait(lambda n=before: len(self.states) > n, 'a torque state')
            rows.append((q, qd, np.array(self.states[-1].additive_command)))
        return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.fixture(scope='module')
def stream(tmp_path_factory):
    stream = None
    try:
        stream = Stream(tmp_path_factory.mktemp('stream'))
        yield stream
    finally:
        if stream is not None:
            stream.process.close()


def check_limits(commands):
    assert np.isfinite(commands).all()
    assert (np.abs(commands) <= [200.0, 100.0]).all()
    step = np.array([10000.0, 5000.0]) * PERIOD
    assert (np.abs(np.diff(commands, axis=0)) <= step * (1 + 1e-9)).all()


def test_streamed_torque_is_that_of_three_references_earlier(stream):
    q, qd, torque = stream.run(120)
    qdd = np.diff(qd, axis=0, prepend=qd[:1]) / PERIOD
    expected = MODEL.torque(q, qd, qdd, VALUES)
    np.testing.assert_allclose(torque[60:], expected[60 - DELAY : -DELAY], rtol=1e-4, atol=1e-3)
    assert np.abs(torque[0]).max() < np.abs(torque[-1]).max()
    stream.process.spin(0.05)
    commands = np.array([row.data for row in stream.commands])
    check_limits(commands)
    np.testing.assert_array_equal(commands[-1], torque[-1])


def test_references_that_cannot_be_used_are_refused_whole_and_counted(stream):
    stream.run(60)
    before = len(stream.commands)
    q, qd = stream.motion()
    for bad in (
        joint_state(NAMES, stream.time, [np.nan, 0.0], qd),
        joint_state(NAMES, stream.time, q, [0.0, np.inf]),
        joint_state(NAMES, stream.time, q, qd[:1]),
        joint_state([NAMES[0], 'elbow'], stream.time, q, qd),
        joint_state([NAMES[0]] * 2, stream.time, q, qd),
        joint_state(NAMES, stream.time - PERIOD, q, qd),
    ):
        stream.reference.publish(bad)
    stream.process.spin(0.1)
    assert len(stream.commands) == before
    stream.run(5)
    status = stream.process.status()
    assert {v.key: v.value for v in status.values}['refused'] == '6'
    assert 'stamp is that of the sample before' in status.message


def test_stale_reference_ramps_to_zero_and_latches_until_reset(stream):
    stream.run(80) if not stream.states[-1].fault else None
    if stream.states[-1].fault:
        stream.process.reset()
        stream.process.enable(True)
        stream.run(80)
    start = len(stream.commands)
    last = np.array(stream.commands[-1].data)
    begin = time.monotonic()
    stream.process.wait(lambda: not np.any(stream.commands[-1].data), 'zero torque')
    assert time.monotonic() - begin < 0.3 * 1.5 + 0.1 + 0.5
    ramp = np.array([row.data for row in stream.commands[start:]])
    check_limits(np.vstack([last, ramp]))
    np.testing.assert_allclose(ramp[:50], last * np.arange(49, -1, -1)[:, None] / 50, atol=1e-9)
    stream.process.wait(lambda: stream.states[-1].fault, 'the fault')
    assert 'no usable reference' in stream.states[-1].fault
    assert not stream.states[-1].enabled

    assert not stream.process.enable(True).success
    for _ in range(20):
        q, qd = stream.motion()
        stream.reference.publish(joint_state(NAMES, stream.time, q, qd))
        stream.process.spin(0.002)
    assert not np.any([row.data for row in stream.commands[start + 50 :]])
    assert 'cleared' in stream.process.reset().message
    assert stream.process.enable(True).success
    _, _, torque = stream.run(80)
    assert torque[-1].any()
    check_limits(torque)


def test_time_that_goes_back_is_a_fault(stream):
    stream.run(60)
    stream.time -= 1.0
    q, qd = stream.motion()
    stream.reference.publish(joint_state(NAMES, stream.time, q, qd))
    stream.process.wait(lambda: stream.states[-1].fault, 'the fault')
    assert 'went back' in stream.states[-1].fault
    stream.process.wait(lambda: not np.any(stream.commands[-1].data), 'zero torque')
    stream.process.reset()
    stream.process.enable(True)


def test_scale_changes_while_running(stream):
    stream.run(80)
    from rcl_interfaces.msg import Parameter, ParameterValue
    from rcl_interfaces.srv import SetParameters

    half = ParameterValue(type=3, double_value=0.5)
    request = SetParameters.Request(parameters=[Parameter(name='feedforward_scale', value=half)])
    assert stream.process.call(SetParameters, 'set_parameters', request).results[0].successful
    _, _, torque = stream.run(60)
    ratio = torque[-1] / np.array(stream.states[-1].requested)
    np.testing.assert_allclose(ratio, 0.5, rtol=0.1)
    check_limits(torque)


def test_interrupt_ramps_down_and_ends_with_zeros(stream):
    stream.run(80)
    start = len(stream.commands)
    assert np.any(stream.commands[-1].data)
    assert stream.process.interrupt() == 0
    stream.process.spin(0.2)
    ramp = np.array([row.data for row in stream.commands[start - 1 :]])
    check_limits(ramp)
    assert len(ramp) > 50
    assert not ramp[-5:].any()


def test_without_a_model_it_stays_unconfigured_and_says_what_to_do(tmp_path):
    process = NodeProcess('feedforward', 3, tmp_path / 'log', COMMON)
    try:
        process.wait_for('give the parameter result_file')
        path = result_file(tmp_path, MODEL, VALUES)
        answer = process.call(
            LoadParameters, 'load_parameters', LoadParameters.Request(result_file=str(path))
        )
        assert answer.success, answer.message
        process.wait_for('active')
        missing = process.call(
            LoadParameters, 'load_parameters', LoadParameters.Request(result_file='/nothing')
        )
        assert not missing.success
        assert process.interrupt() == 0
    finally:
        process.close()


def test_bad_parameters_end_with_one_sentence():
    import subprocess

    command = [sys.executable, '-m', 'robodyn_ros.nodes.feedforward', '--ros-args']
    done = subprocess.run(
        [*command, '-p', 'mode:=both'], capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 2
    assert done.stderr.strip().endswith("must be trajectory or streaming, got 'both'")
