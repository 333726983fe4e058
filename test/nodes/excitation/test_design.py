# SPDX-License-Identifier: Apache-2.0
"""A motion designed beside the excitation node: parameters, search, what becomes of it."""

import time
from pathlib import Path

import numpy as np
import pytest
from excitation_client import ROOT, robot_limits
from idle_nodes import idle_nodes
from rclpy.parameter import Parameter
from robodyn_ros.action import Excite

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque_limits import peak_torque
from robodyn_ros.errors import RobodynError
from robodyn_ros.excitation.catalog import load_motion
from robodyn_ros.excitation.collisions.scene_shape import Surroundings
from robodyn_ros.excitation.design.problem import DesignProblem
from robodyn_ros.excitation.limits.constraints import TorqueLimit
from robodyn_ros.excitation.limits.joint_limits import check_motion
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.nodes.excitation import design as excitation_design
from robodyn_ros.nodes.excitation.design import Designer
from robodyn_ros.robot_file import load_robot

pytestmark = pytest.mark.ros
AXIS = 'single_rotary_axis'
SMALL = {
    'motion.kind': 'optimised', 'optimise.time': 1.0, 'optimise.processes': 0,
    'optimise.starts': 1, 'optimise.samples': 30, 'optimise.harmonics': 2,
    'optimise.duration': 6.0, 'optimise.velocity_margin': 0.25,
}  # fmt: skip
PHASE = Excite.Feedback
LIMIT = 9.0


class Goal:
    """Stands for the action's goal handle."""

    def __init__(self):
        self.feedback = []

    def publish_feedback(self, feedback):
        self.feedback.append(feedback)


@pytest.fixture
def make(tmp_path):
    """Return a function that makes a designer of a node with these parameters."""
    with idle_nodes(1) as create:

        def make(values, robot=AXIS, rules=()):
            values = {
                'urdf': str(ROOT / 'urdf' / f'{robot}.urdf'), 'robot_description': '',
                'model_file': '', 'output_directory': str(tmp_path), **values,
            }  # fmt: skip
            node = create(values)
            for name in ('urdf', 'robot_description', 'model_file', 'motion.kind'):
                if name in values:
                    node.declare_parameter(name, '')
            node.declare_parameter('dynamic_model', 0)
            runs, results = [], []
            designer = Designer(
                node,
                robot_limits(robot),
                lambda *arguments: runs.append(arguments),
                lambda *arguments: results.append(arguments),
                rules,
            )
            return designer, runs, results

        yield make


def finish(designer):
    """Look after the search until it is over, as the node's timer does."""
    deadline = time.monotonic() + 60.0
    while designer.busy:
        assert time.monotonic() < deadline
        designer._look()
        time.sleep(0.02)


def looked_at(search, goal):
    """Return the search, ended only when the node has told of what was found.

    On a busy machine it is over before the node looks at all.
    """

    def found(*arguments, **options):
        result = search(*arguments, **options)
        # Two looks: one may have begun before.
        enough, deadline = len(goal.feedback) + 2, time.monotonic() + 60.0
        while len(goal.feedback) < enough and time.monotonic() < deadline:
            time.sleep(0.01)
        return result

    return found


def test_a_designed_motion_is_saved_and_run(make, tmp_path, monkeypatch):
    designer, runs, results = make(SMALL)
    goal = Goal()
    monkeypatch.setattr(excitation_design, 'search', looked_at(excitation_design.search, goal))
    assert designer.asked and 'designed for at most 1 s' in designer.begin(
        goal, designer.prepare(Excite.Goal())
    )
    finish(designer)
    ((motion, handle, file),) = runs
    assert handle is goal and not results
    check_motion(load_motion(file), robot_limits(AXIS).scale(velocity=0.751))
    assert load_motion(file).describe() == motion.describe() and motion.duration == 6.0
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith('motion_20')
    assert {'trajectory.yaml', 'trajectory.csv', 'joints.png'} <= {
        p.name for p in folder.iterdir()
    }
    assert {item.phase for item in goal.feedback} == {PHASE.DESIGNING}
    progress = [item.progress for item in goal.feedback]
    assert progress == sorted(progress)
    said = list(dict.fromkeys(item.message.split(' so far')[0] for item in goal.feedback))
    # A quiet machine has found a motion before the first look.
    said = said[said[0] == 'searching' :]
    assert said == ['best condition number', 'saving the motion and its pictures']


def test_torque_max_of_the_node_is_kept_while_searching(make):
    model = robot_model(ROOT / 'urdf' / f'{AXIS}.urdf', friction=())
    values = np.nan_to_num(model.prior())
    torque = ModelTorque(model, values)
    peaks = []
    for rules in ((), (TorqueLimit(tuple(values), (LIMIT,), model.describe()),)):
        designer, runs, _ = make(SMALL, rules=rules)
        designer.begin(Goal(), designer.prepare(Excite.Goal()))
        finish(designer)
        peaks.append(peak_torque(torque, runs[0][0]).torque[0])
    assert peaks[1] <= LIMIT < peaks[0], peaks


def test_design_only_does_not_run_and_saves_where_it_is_told(make, tmp_path):
    designer, runs, results = make(SMALL)
    goal, where = Goal(), tmp_path / 'there'
    designer.begin(
        goal, designer.prepare(Excite.Goal(design_only=True, output_directory=str(where)))
    )
    finish(designer)
    ((handle, result),) = results
    assert handle is goal and result.success and not runs
    assert result.motion_file == str(where / 'trajectory.yaml')
    assert 'condition number' in result.message and 'saved: ' in result.message


@pytest.mark.parametrize(
    ('reason', 'pictures'), [('the goal was cancelled', True), ('the node ends', False)]
)
def test_cancel_keeps_the_best_so_far(make, reason, pictures):
    designer, runs, results = make({**SMALL, 'optimise.time': 500.0, 'optimise.starts': 900})
    goal, deadline = Goal(), time.monotonic() + 60.0
    designer.begin(goal, designer.prepare(Excite.Goal()))
    while not any(item.message.startswith('best') for item in goal.feedback):
        assert time.monotonic() < deadline
        designer._look()
        time.sleep(0.02)
    designer.cancel(reason, pictures=pictures)
    finish(designer)
    ((_, result),) = results
    assert not runs and not result.success
    assert result.message.startswith(f'{reason}; the best motion so far is kept: ')
    file = Path(result.motion_file)
    check_motion(load_motion(file), robot_limits(AXIS))
    assert file.with_name('joints.png').exists() == pictures


@pytest.mark.parametrize(
    ('values', 'words'),
    [
        ({'model_file': f'{ROOT}/config/robots/scara.yaml'}, "no limits for joint 'joint2'"),
        ({'dynamic_model': 2, 'model_file': 'none.yaml'}, 'none.yaml'),
    ],
)  # fmt: skip
def test_what_cannot_be_designed_is_refused_at_once(make, tmp_path, values, words):
    designer, *_ = make({**SMALL, **values})
    with pytest.raises(RobodynError, match=words):
        designer.begin(Goal(), designer.prepare(Excite.Goal()))
    assert not designer.busy and not list(tmp_path.iterdir())


def test_a_limit_that_forbids_every_motion_is_the_result(make, tmp_path):
    space = {'optimise.frames': ['arm'], 'optimise.floor': 9.0}
    designer, runs, results = make({**SMALL, **space})
    designer.begin(Goal(), designer.prepare(Excite.Goal()))
    finish(designer)
    assert 'even at rest a limit is broken' in results[0][1].message
    assert not runs and not list(tmp_path.iterdir())


@pytest.mark.parametrize('robot', ['six_axis', 'scara', 'delta'])
def test_ready_files_design_for_our_own_robots(make, robot):
    file = load_robot(f'{ROOT}/config/robots/{robot}.yaml#optimised')
    values = file.content['excitation']
    flat = {
        f'{group}.{k}': v for group in ('motion', 'optimise') for k, v in values[group].items()
    }
    if 'model' in file.content:
        flat['model_file'] = file.reference
    designer, *_ = make(flat, robot)
    assert designer.asked
    design = designer.prepare(Excite.Goal(), Surroundings(unchecked=('an octomap',))).design
    assert design.coverage.unchecked[-1] == 'an octomap'
    problem = DesignProblem(design)
    assert len(problem.criterion.columns) > 5 and design.margins.velocity == 0.1
    weights = design.criterion.torque_weights
    assert len(weights) == len(design.model.joints) and min(weights) == 1.0


def test_an_option_that_cannot_be_used_is_refused_when_it_is_set(make):
    """It would block every motion: `optimise.box` holds for motions from files too."""
    designer, _, _ = make({'optimise.floor': -0.5})
    for name, value in (('box', [1.0] * 6), ('floor', np.nan), ('criterion', 'best')):
        parameter = Parameter(f'optimise.{name}', value=value)
        (answer,) = designer._node.set_parameters([parameter])
        assert not answer.successful, (name, value)
        assert answer.reason.startswith(f'parameter optimise.{name}: '), answer.reason
    good = Parameter('optimise.box', value=[-1.0, -1.0, -1.0, 1.0, 1.0, 2.0])
    other = Parameter('unrelated', value=1.0)
    designer._node.declare_parameter('unrelated', 0.0)
    assert all(answer.successful for answer in designer._node.set_parameters([good, other]))
    assert designer.values()['box'][5] == 2.0
    low = designer._node.set_parameters([Parameter('optimise.floor', value=2.0)])[0]
    assert not low.successful and 'floor must be below the top of box, z = 2' in low.reason
    (none,) = designer._node.set_parameters(
        [Parameter('optimise.box', Parameter.Type.DOUBLE_ARRAY, [])]
    )
    assert none.successful and 'box' not in designer.values()


def test_an_option_that_cannot_be_used_ends_the_node(make):
    with pytest.raises(RobodynError, match='parameter optimise: box must be six finite numbers'):
        make({'optimise.box': [0.0, 1.0]})
