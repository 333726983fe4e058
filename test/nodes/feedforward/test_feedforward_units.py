# SPDX-License-Identifier: Apache-2.0
"""Feed-forward with drives in per mille behind gears, and parameters that are refused."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from feedforward_client import (
    COMMON,
    DELAY,
    MODEL,
    NAMES,
    PERIOD,
    VALUES,
    Trajectories,
    arrays,
    message,
)
from node_process import EFFORT, closed
from ros_client import environment
from writers import result_file

pytestmark = pytest.mark.ros
RATED = np.array([2.0, 1.0])  # Nm, of the motors
GEAR = np.array([50.0, 80.0])
DIRECTION = np.array([1.0, -1.0])
DRIVES = {
    'effort.joints': '[joint1, joint2]', 'effort.unit': 'permille_rated_current',
    'effort.command_unit': 'permille_rated_torque', 'effort.side': 'motor',
    'effort.rated_current': 4000.0, 'effort.torque_constant': '[0.5, 0.25]',
    'effort.rated_torque': '[2000.0, 1000.0]', 'effort.gear_ratio': '[50.0, 80.0]',
    'effort.direction': '[1, -1]',
}  # fmt: skip
LIMITS = {'torque_max': '[400.0, 400.0]', 'torque_threshold': '[150.0, 80.0]'}


@pytest.fixture(scope='module')
def node(tmp_path_factory):
    with closed(Trajectories(tmp_path_factory.mktemp('units'), 11, **DRIVES, **LIMITS)) as node:
        yield node


def permille(torque):
    """Return joint torque in the unit of the drives; rated current gives rated torque here."""
    return np.asarray(torque) * DIRECTION / GEAR / RATED * 1000.0


def test_feedback_comes_and_commands_leave_in_the_units_of_the_drives(node):
    begin_moving(node)
    state = node.feedback(permille([10.0, 20.0]))
    np.testing.assert_allclose(state.feedback, [10.0, 20.0])
    out = node.sent(message(duration=4.0))
    _, q, qd, qdd, effort = arrays(out)
    expected = MODEL.torque(q, qd, qdd, VALUES)
    begin, end = round(0.1 / PERIOD) + DELAY, round(4.0 / PERIOD)
    np.testing.assert_allclose(
        effort[begin + DELAY : end + DELAY], permille(expected[begin:end]), atol=1e-7
    )


def begin_moving(node):
    """Torque feedback flows, no fault, and torque will be added."""
    node.feedback([0.0, 0.0])
    node.ready()
    node.feedback([0.0, 0.0])


def test_a_trajectory_that_needs_more_is_refused_with_joint_and_time(node):
    begin_moving(node)
    text = node.refused(message(duration=0.1))
    assert 'torque_max is 400' in text and "of joint 'joint1' at" in text


REFUSED = [
    (dict.fromkeys(EFFORT), 'the effort of the joint states is not declared: declare its'),
    ({'torque_max': 'rated'}, 'torque_max: rated needs effort.rated_current of joint'),
    ({'torque_threshold': '[1.0, 2.0, 3.0]'}, 'one value for each of the 2 joints, got 3'),
    ({'effort.unit': 'N'}, 'is revolute, so its torque is in Nm; effort.* declares N'),
    (
        {**DRIVES, 'effort.rated_torque': '[15.0, 10.0]', 'max_torque': '[30.0, 30.0]'},
        'permille_rated_torque, a drive takes at most 32767',
    ),
    ({'effort.gravity': 'excluded', 'torque_threshold': '5.0'}, 'is declared without gravity'),
    ({'effort.unit': 'Nmm'}, 'effort.unit must be one of'),
    ({'effort.gear': '3.0'}, "there is no parameter 'effort.gear'"),
    ({'model_hash': 'abc'}, 'the parameter model_hash accepts only abc'),
    ({'max_torque': '[1.0]', 'max_torque_rate': '[.nan]'}, "'max_torque_rate': element 0 is nan"),
    (
        {'max_torque': '[1.0, 2.0, 3.0]'},
        'joints (joint1, joint2), max_torque has 3 values (',
    ),
    ({'max_torque_rate': '[100.0]'}, 'cannot fall to zero within ramp_down_time'),
    ({'check_controller': 'true'}, 'waits for controller /joint_trajectory_controller'),
    ({'result_file': 'bad'}, 'has no usable joint (because)'),
    ({'allowed_joints': '[elbow]'}, "allowed_joints: 'elbow' is no joint of the model"),
    ({'robot': 'ur10'}, 'is of another robot: it has the joints joint1, joint2'),
]


@pytest.fixture(scope='module')
def problems(tmp_path_factory):
    """Return the refusal of each set of `REFUSED`."""
    folder = tmp_path_factory.mktemp('refused')
    shared = {**COMMON, 'result_file': str(result_file(folder, MODEL, VALUES))}
    sets = [{**shared, **values} for values, _ in REFUSED]
    (folder / 'bad').mkdir()
    bad = str(result_file(folder / 'bad', MODEL, VALUES, bad=NAMES))
    sets = [
        {**each, 'result_file': bad} if each['result_file'] == 'bad' else each for each in sets
    ]
    sets = [{name: v for name, v in given.items() if v is not None} for given in sets]
    program = Path(__file__).parents[2] / 'support' / 'ros' / 'configured_feedforward.py'
    done = subprocess.run(
        [sys.executable, str(program), json.dumps(sets)], capture_output=True, text=True,
        timeout=110, check=False, env=environment(14),
    )  # fmt: skip
    found = [line[8:] for line in done.stdout.splitlines() if line.startswith('PROBLEM ')]
    assert len(found) == len(REFUSED), done.stderr
    return found


@pytest.mark.parametrize('number', range(len(REFUSED)))
def test_activation_is_refused_unless_semantics_limits_and_model_match(problems, number):
    assert REFUSED[number][1] in problems[number]


def test_a_robot_that_adds_gravity_to_commands_gets_torque_without_it(tmp_path):
    with closed(Trajectories(tmp_path, 15, **{'effort.command_gravity': 'excluded'})) as node:
        _, q, qd, qdd, effort = arrays(node.sent(message()))
    still = np.zeros_like(q)
    friction = [i for i, p in enumerate(MODEL.parameters) if 'friction' in p.name]
    rigid = VALUES.copy()
    rigid[friction] = 0.0
    gravity = MODEL.torque(q, still, still, rigid)
    expected = MODEL.torque(q, qd, qdd, VALUES) - gravity
    first, last = round(0.1 / PERIOD) + DELAY, round(1.0 / PERIOD)
    np.testing.assert_allclose(
        effort[first + DELAY : last + DELAY], expected[first:last], atol=1e-9
    )
    assert np.abs(gravity).max() > 1.0
