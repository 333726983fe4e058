# SPDX-License-Identifier: Apache-2.0
"""The identification node with real recorder, excitation and simulated cell, over real DDS."""

import os
from pathlib import Path

import numpy as np
import pytest
import yaml
from action_msgs.msg import GoalStatus
from control_arm import write_axis
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from robodyn_ros.action import Excite, RunIdentification
from robodyn_ros.msg import FaultCode, IdentificationReport
from robodyn_ros.srv import IdentificationFinish, IdentificationStart, Identify
from ros_client import PATIENCE, environment
from std_srvs.srv import Trigger
from writers import write_csv

from robodyn_ros.cli.demo.client import Client
from robodyn_ros.cli.demo.processes import NodeProcesses
from robodyn_ros.errors import RobodynError
from robodyn_ros.excitation.catalog import load_motion
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.payload import payload_of
from robodyn_ros.nodes.base.common import LATCHED_QOS
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.recording import Recording

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]
ROOT = Path(__file__).resolve().parents[3]
ACTION = 'identification/run_identification'
DESIGN = {
    'optimise.time': 1.0, 'optimise.processes': 0, 'optimise.starts': 1, 'optimise.samples': 40,
    'optimise.duration': 5.0, 'optimise.velocity_margin': 0.1, 'optimise.acceleration_margin': 0.1,
}  # fmt: skip
MOTION = {'kind': 'sine', 'joints': ['joint1'], 'start': [0.05], 'target': [0.25]}


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('identification')


@pytest.fixture(scope='module')
def nodes(folder):
    before = dict(os.environ)
    os.environ.update(environment(42))
    with NodeProcesses(folder / 'nodes') as nodes:
        yield nodes
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope='module')
def client(folder, nodes):
    robot = {'robot': write_axis(folder, 0.005)}
    motion = {f'motion.{key}': value for key, value in MOTION.items()}
    motion |= {'motion.frequency': [0.7], 'motion.duration': 5.0, **DESIGN}
    motion['allow_unchecked'] = True
    with Client(nodes.check) as client:
        nodes.start('cell', {**robot, 'real_time_factor': 0.0})
        robot['use_sim_time'] = True
        nodes.start('recorder', robot)
        nodes.start('excitation', {**robot, **motion})
        speeds = {'speeds': [1.0], 'confirm_each_speed': True}
        out = {'output_directory': str(folder / 'out')}
        nodes.start('identification', {**robot, **out, **speeds})
        yield client


def excite(client):
    return client.run_action(Excite, 'excitation/excite', Excite.Goal(), 60.0)


def check(report, folder):
    """The mass and the friction of the simulated cell were found."""
    assert report.success and report.validated
    # the axis' torque is noisy, so the filtered error tells more than the relative residual
    assert max(report.validation_mean_relative_torque_error) < 0.05
    # Of two friction laws that fit alike either may be chosen: only their torques agree.
    torque = load_identified_model(report.result_file).torque
    speed = np.array([[0.15]])
    friction = (torque(0 * speed, speed, 0 * speed) - torque(0 * speed, -speed, 0 * speed)) / 2
    assert friction.item() == pytest.approx(20.0 + 200.0 * 0.15, rel=0.1)
    assert Path(report.result_file).parent == folder
    page = Path(report.report_file)
    assert page.parent == folder and 'Identification succeeded' in page.read_text()


def test_the_action_moves_records_identifies_and_validates(client, folder):
    reports = []
    client.node.create_subscription(
        IdentificationReport, 'identification/report', reports.append, LATCHED_QOS
    )
    seen = []
    validation = folder / 'validation.yaml'
    validation.write_text(yaml.safe_dump({**MOTION, 'frequency': [0.45], 'duration': 4.0}))
    goal = RunIdentification.Goal(
        output_directory=str(folder / 'action'),
        validation_motion_file=str(validation),
        speeds=[0.8, 1.0],
    )
    confirm = client.node.create_client(Trigger, 'identification/confirm')
    answers = []
    with pytest.raises(RobodynError, match='nothing waits for it'):
        client.call(Trigger, 'identification/confirm', Trigger.Request())

    def operate(feedback):
        seen.append(feedback)
        if feedback.phase == RunIdentification.Feedback.WAITING:
            answers.append(confirm.call_async(Trigger.Request()))

    result = client.run_action(RunIdentification, ACTION, goal, 90.0, operate)
    check(result.report, folder / 'action')
    assert Path(result.report.recording) == folder / 'action' / 'excitation'
    phases = [feedback.phase for feedback in seen]
    assert phases[0] == RunIdentification.Feedback.MOVING_TO_START
    wanted = {
        RunIdentification.Feedback.EXCITING,
        RunIdentification.Feedback.VALIDATING,
        RunIdentification.Feedback.IDENTIFYING,
        RunIdentification.Feedback.REHEARSING,
    }
    assert wanted <= set(phases)
    assert answers[0].result().success  # later ones may come when nothing waits any more
    (ask, *_) = (item.message for item in seen if item.phase == item.WAITING)
    assert ask.startswith('the motion ran at 80% of its speed, 100% is next: call ~/confirm')
    recorded = read_recording(result.report.recording)
    assert 5.0 < recorded.time[-1] - recorded.time[0] < 12.0  # without the slow run
    assert all(0.0 <= feedback.progress <= 1.0 for feedback in seen)
    client.wait(lambda: bool(reports), PATIENCE, 'the report')
    assert str(reports[-1].parameters) == str(result.report.parameters)  # NaN is not itself


def test_a_slow_run_that_is_stopped_leaves_out_the_faster_ones(client, folder):
    """The operator stops the robot at 30 %: it runs at no other speed, and nothing is recorded."""
    seen, stops = [], []
    stop = client.node.create_client(Trigger, 'excitation/stop')

    def press(feedback):
        seen.append(feedback)
        running = feedback.phase == feedback.REHEARSING and feedback.progress > 0.05
        if running and not stops:
            stops.append(stop.call_async(Trigger.Request()))

    goal = RunIdentification.Goal(output_directory=str(folder / 'stopped'), speeds=[0.3, 0.6, 1.0])
    with pytest.raises(RobodynError, match=r'at 30% of the speed: '):
        client.run_action(RunIdentification, ACTION, goal, 90.0, press)
    assert stops[0].result().success
    moving = [item for item in seen if item.phase == item.REHEARSING]
    assert moving and all(item.message.startswith('30% of the speed, ') for item in moving)
    assert {item.phase for item in seen} <= {
        RunIdentification.Feedback.MOVING_TO_START,
        RunIdentification.Feedback.REHEARSING,
    }
    assert not (folder / 'stopped').exists(), 'no recording, and no empty folder'


@pytest.fixture
def ask(client):
    """Return a function that sets parameters of the excitation node; sines come back."""

    def ask(**values):
        request = SetParametersAtomically.Request(
            parameters=[
                Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
                for name, value in values.items()
            ]
        )
        setter = client.node.create_client(
            SetParametersAtomically, 'excitation/set_parameters_atomically'
        )
        client.wait(setter.service_is_ready, PATIENCE, 'the parameters')
        future = setter.call_async(request)
        client.wait(future.done, PATIENCE, 'an answer')
        assert future.result().result.successful, future.result().result.reason

    yield ask
    ask(motion__kind='sine', optimise__time=1.0, optimise__starts=1)


def test_the_motion_is_designed_where_the_parameters_ask_for_it(client, folder, ask):
    ask(motion__kind='optimised')
    seen = []
    goal = RunIdentification.Goal(output_directory=str(folder / 'designed'))
    result = client.run_action(RunIdentification, ACTION, goal, 90.0, seen.append)
    check(result.report, folder / 'designed')
    designing = [item for item in seen if item.phase == RunIdentification.Feedback.DESIGNING]
    assert seen[0] is designing[0] and 's to the end of the search' in designing[-1].message
    motion = load_motion(folder / 'designed' / 'trajectory.yaml')
    recorded = read_recording(folder / 'designed' / 'excitation', joints=('joint1',))
    # the search is not recorded, and the robot did what was saved
    assert motion.duration == 5.0 and np.ptp(recorded.time) < 15.0
    swing = np.ptp(motion.grid(0.01).position)
    moving = recorded.time > recorded.time[-1] - motion.duration  # not the way to its start
    assert np.ptp(recorded.position[moving]) == pytest.approx(swing, rel=0.05)


def test_a_design_that_is_refused_leaves_no_folder(client, folder, ask):
    before = {path.name for path in folder.rglob('identification_*')}
    ask(motion__kind='optimised', optimise__box=[10.0, 10.0, 10.0, 11.0, 11.0, 11.0])
    try:
        with pytest.raises(RobodynError, match='no motion is possible'):
            client.run_action(RunIdentification, ACTION, RunIdentification.Goal(), 60.0)
    finally:
        ask(optimise__box=[-10.0, -10.0, -10.0, 10.0, 10.0, 10.0])
    assert {path.name for path in folder.rglob('identification_*')} == before


def test_start_and_finish_identify_what_the_robot_did_meanwhile(client, folder):
    started = client.call(
        IdentificationStart, 'identification/start', IdentificationStart.Request()
    )
    with pytest.raises(RobodynError, match='already recording') as busy:
        client.call(
            IdentificationStart,
            'identification/start',
            IdentificationStart.Request(),
        )
    assert busy.value.fault == 'busy'
    excite(client)
    request = IdentificationFinish.Request()
    answer = client.call(IdentificationFinish, 'identification/finish', request)
    check(answer.report, Path(started.recording).parent)
    with pytest.raises(RobodynError, match='nothing is recorded') as none:
        client.call(IdentificationFinish, 'identification/finish', request)
    assert none.value.fault == 'no_recording'


def test_identify_takes_a_recording_that_exists(client, folder):
    request = Identify.Request(
        recording=str(folder / 'action' / 'excitation'),
        validation_recording=str(folder / 'action' / 'validation'),
        output_directory=str(folder / 'again'),
        filter_cutoff_frequency=20.0,
    )
    answer = client.call(Identify, 'identification/identify', request)
    check(answer.report, folder / 'again')


def test_a_payload_is_identified_on_top_of_a_result(client, folder):
    """The recording of the cell with the torque of a payload added; the arm's values stay."""
    base = load_identified_model(folder / 'action' / 'result.yaml')
    bare = read_recording(folder / 'action' / 'excitation', joints=base.joints)
    signals = process(bare, base.joints, IdentifyOptions(filter_cutoff=20.0))
    payload = payload_of(base.model, 10.0)
    torque = signals.measured + payload.model.torque(*signals.motion, payload.values)
    loaded = Recording(
        time=signals.time, joints=base.joints, position=signals.measured_position, torque=torque
    )
    write_csv(loaded, folder / 'loaded.csv')
    request = Identify.Request(
        recording=str(folder / 'loaded.csv'),
        output_directory=str(folder / 'payload'),
        filter_cutoff_frequency=20.0,
        ident_payload=True,
    )
    with pytest.raises(RobodynError, match='name the result file of a run without payload'):
        client.call(Identify, 'identification/identify', request)
    request.base_result = str(folder / 'action' / 'result.yaml')
    answer = client.call(Identify, 'identification/identify', request)
    result = load_identified_model(answer.report.result_file)
    assert result.hash == base.hash
    # of a robot on rails only the mass can be seen, and the cell's torque is noisy
    mass = answer.report.base_parameters[0]
    assert mass.name.startswith('payload.m')
    assert mass.stddev < 3.5  # with the uncertainty of the torque gain
    assert abs(mass.value - 10.0) < 4.0 * mass.stddev
    assert result.payload.mass == pytest.approx(mass.value)


@pytest.mark.parametrize(
    ('request_', 'sentence'),
    [
        (
            Identify.Request(recording='x', base_result='y'),
            'base_result is for an identification with ident_payload',
        ),
        (Identify.Request(), 'name the recording'),
        (
            Identify.Request(recording='.', other_recordings=['/tmp/no_such_bag']),
            'no_such_bag: no',
        ),
        (Identify.Request(recording='.', other_recordings=['.', '/etc/x']), 'none of the allowed'),
        (Identify.Request(recording='x', filter_cutoff_frequency=-1.0), 'must be positive'),
    ],
)
def test_bad_requests_get_one_sentence(client, request_, sentence):
    with pytest.raises(RobodynError, match=sentence):
        client.call(Identify, 'identification/identify', request_)


def test_an_undeclared_effort_is_refused_before_the_robot_moves(client, nodes, folder):
    urdf, out = str(ROOT / 'urdf' / 'single_axis.urdf'), str(folder / 'undeclared')
    given = {'use_sim_time': True, 'urdf': urdf, 'output_directory': out}
    nodes.start('identification', given, name='undeclared')
    sentence = r"parameters of node 'undeclared', so the robot is not moved: .*effort\.unit"
    with pytest.raises(RobodynError, match=sentence):
        client.call(IdentificationStart, 'undeclared/start', IdentificationStart.Request())
    seen = []
    goal = RunIdentification.Goal()
    with pytest.raises(RobodynError, match=sentence):
        client.run_action(
            RunIdentification, 'undeclared/run_identification', goal, 30.0, seen.append
        )
    assert not seen and not (folder / 'undeclared').exists()
    nodes.stop('undeclared')


def test_cancel_stops_the_robot_and_writes_nothing(client, folder):
    action = ActionClient(client.node, RunIdentification, ACTION)
    client.wait(action.server_is_ready, PATIENCE, 'the action')
    seen = []
    goal = RunIdentification.Goal(output_directory=str(folder / 'cancelled'))
    future = action.send_goal_async(goal, feedback_callback=lambda m: seen.append(m.feedback))
    client.wait(future.done, PATIENCE, 'acceptance')
    exciting = RunIdentification.Feedback.EXCITING
    client.wait(lambda: any(item.phase == exciting for item in seen), PATIENCE, 'the excitation')
    again = action.send_goal_async(RunIdentification.Goal())
    client.wait(again.done, PATIENCE, 'an answer to a second goal')
    assert not again.result().accepted
    future.result().cancel_goal_async()
    result = future.result().get_result_async()
    client.wait(result.done, PATIENCE, 'the end')
    assert result.result().status == GoalStatus.STATUS_CANCELED
    assert 'cancelled' in result.result().result.message
    assert result.result().result.fault_code == FaultCode.FAULT_CANCELLED
    assert not list((folder / 'cancelled').glob('result.*'))


def test_a_missing_motion_file_is_reported_before_the_robot_moves(client):
    seen = []
    goal = RunIdentification.Goal(validation_motion_file='/tmp/no/such/motion.yaml')
    with pytest.raises(RobodynError, match=r'no/such/motion\.yaml: there is no such motion file'):
        client.run_action(RunIdentification, ACTION, goal, 60.0, seen.append)
    assert not seen
