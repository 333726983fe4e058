# SPDX-License-Identifier: Apache-2.0
"""A payload at start and at run time: feed-forward and monitor over real DDS, and the errors."""

import numpy as np
import pytest
import yaml
from feedforward_client import (
    DELAY,
    MODEL,
    NAMES,
    PERIOD,
    VALUES,
    Trajectories,
    arrays,
    message,
)
from idle_nodes import idle_nodes
from node_process import EFFORT, NodeProcess, closed, joint_state
from robodyn_ros.msg import CollisionState
from robodyn_ros.srv import SetPayload
from sensor_msgs.msg import JointState
from writers import result_file

from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.files.result_file import load_identified_model, model_parameters
from robodyn_ros.identification.result.payload_block import payload_block
from robodyn_ros.models.payload import payload_of
from robodyn_ros.nodes.robot.payload import CarriedPayload

pytestmark = pytest.mark.ros
CENTRE, INERTIA = [0.05, -0.02, 0.1], [0.01, 0.0, 0.0, 0.01, 0.0, 0.01]
PAYLOAD = payload_of(MODEL, 8.0, center_of_mass=CENTRE, inertia=INERTIA)
REQUEST = SetPayload.Request(mass=8.0, center_of_mass=CENTRE, inertia=INERTIA)
STRONG = [1000.0, 500.0]
REFUSED = (
    ({'mass': -1.0}, "the payload's mass must not be negative, got -1 kg"),
    ({'mass': float('nan')}, "the payload's mass must be finite"),
    ({'mass': 0.0, 'inertia': INERTIA}, 'no body of 0 kg has an inertia'),
    ({'mass': 1e-3, 'inertia': [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]}, 'no body of 0.001 kg that'),
    ({'mass': 1.0, 'center_of_mass': [0.0, 1.0]}, 'centre of mass needs 3 numbers'),
    ({'mass': 1.0, 'inertia': [0.1]}, 'inertia needs 6 numbers'),
    ({'mass': 1.0, 'frame': 'hand'}, "has no link 'hand'"),
    ({'mass': 2500.0}, 'payload of 2500 kg is above max_payload of '),
    ({'mass': 1e308}, 'payload of 1e+308 kg is above max_payload of '),
    ({'mass': 1.0, 'center_of_mass': [0.0, 50.0, 0.0]}, 'payload of 1 kg with its centre of'),
    ({'mass': 1.0, 'inertia': [1e6, 0.0, 0.0, 1e6, 0.0, 1e6]}, 'payload of 1 kg with its'),
)
"""Requests, and the sentence in the refusal of each."""


def test_the_next_trajectory_carries_the_payload_of_the_parameters_or_the_service(tmp_path):
    at_start = {'payload.mass': 3.0, 'payload.center_of_mass': str(CENTRE)}
    with closed(Trajectories(tmp_path, 14, **at_start)) as node:
        values = VALUES + payload_of(MODEL, 3.0, center_of_mass=CENTRE).added
        for expected in (values, VALUES + PAYLOAD.added):
            stamp = node.process.stamp(10.0)
            _, q, qd, qdd, effort = arrays(node.sent(message(stamp=stamp)))
            wanted = MODEL.torque(q, qd, qdd, expected)
            rows = slice(60, 500)  # after the ramp in; then at rest and ramping out
            applied = effort[rows.start + DELAY : rows.stop + DELAY]
            np.testing.assert_allclose(applied, wanted[rows], rtol=1e-9, atol=1e-9)
            answer = node.process.call(SetPayload, 'set_payload', REQUEST)
            assert answer.success and answer.message == 'payload of 8 kg'
        for fields, sentence in REFUSED:
            answer = node.process.call(SetPayload, 'set_payload', SetPayload.Request(**fields))
            assert not answer.success and sentence in answer.message
        assert float(node.process.details()['payload_mass']) == 8.0
        assert not node.process.diagnostics[-1].status[0].message.startswith('trajectory refused')


def loaded_file(folder):
    """Result file with a payload, as an identification with payload writes it."""
    parameters = {
        'dynamic_model': model_parameters(MODEL, VALUES, np.full(len(VALUES), 0.1)),
        'payload': payload_block(PAYLOAD),
    }
    path = folder / 'loaded.yaml'
    path.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}, width=10**6))
    return path


def test_the_monitor_expects_the_payload_of_its_result_and_settles_after_a_change(tmp_path):
    """The result with its payload is loaded as parameter file."""
    options = {
        **EFFORT, 'autostart': 'true', 'max_torque_error': '[10.0, 5.0]',
        'velocity_window': '[0.0]', 'stale_timeout': 0.5, 'collision_state_rate': 0.0,
    }  # fmt: skip
    file = loaded_file(tmp_path)
    with closed(
        NodeProcess('collision_monitor', 12, tmp_path / 'log', options, params_file=file)
    ) as process:
        states = process.listen(CollisionState, 'collision_monitor/collision_state')
        joint_states = process.publisher(JointState, 'joint_states')
        clock = [1000.0]

        def run(count, values):
            for _ in range(count):
                clock[0] += PERIOD
                rate = np.array([3.0, 4.0])
                q, qd = 0.5 * np.sin(rate * clock[0]), 0.5 * rate * np.cos(rate * clock[0])
                torque = MODEL.torque(q[None], qd[None], -(rate**2 * q)[None], values)[0]
                message = joint_state(NAMES, clock[0], q, qd, torque)
                state = process.answer(joint_states, message, states)
            return list(state.level)

        assert run(100, VALUES + PAYLOAD.added) == [CollisionState.OK] * 2
        assert process.call(SetPayload, 'set_payload', SetPayload.Request(mass=0.0)).success
        assert run(1, VALUES) == [CollisionState.UNKNOWN] * 2
        assert run(100, VALUES) == [CollisionState.OK] * 2
        assert max(run(50, VALUES + 2.0 * PAYLOAD.added)) == CollisionState.COLLISION


@pytest.fixture
def carried():
    """The part of a node that knows its payload, in a node that does not spin."""
    with idle_nodes(13, 'carried') as create:

        def make(set_values=None, **parameters):
            given = {
                key if key == 'max_payload' else f'payload.{key}': value
                for key, value in parameters.items()
            }
            return CarriedPayload(create(given), set_values or (lambda values: None))

        yield make


def test_parameters_win_over_the_payload_of_the_result(carried, tmp_path):
    model = load_identified_model(loaded_file(tmp_path))
    np.testing.assert_array_equal(carried().at_start(model, STRONG)[0].values, PAYLOAD.values)
    heavier, _ = carried(mass=9.0, center_of_mass=CENTRE).at_start(model, STRONG)
    assert heavier.mass == 9.0
    np.testing.assert_allclose(heavier.center_of_mass, CENTRE)
    bare = load_identified_model(result_file(tmp_path, MODEL, VALUES))
    assert carried().at_start(bare, STRONG)[0] is None
    with pytest.raises(RobodynError, match='must not be negative'):
        carried(mass=-1.0).at_start(bare, STRONG)
    with pytest.raises(RobodynError, match=r'payload.mass'):
        carried(mass='heavy')


@pytest.mark.parametrize('source', ['parameters', 'result'])
def test_a_payload_at_start_that_the_robot_cannot_carry_is_refused(carried, tmp_path, source):
    """The arm of 1 kg m holds 8 kg at 0.4 m with some 60 Nm more."""
    model = load_identified_model(loaded_file(tmp_path))
    given = {'mass': 2500.0} if source == 'parameters' else {}
    mass = 2500 if source == 'parameters' else 8
    with pytest.raises(
        RobodynError, match=rf'payload of {mass} kg.* is above max_payload of [\d.]+'
    ):
        carried(**given).at_start(model, [30.0, 20.0])
    with pytest.raises(RobodynError, match=r'has no effort limits. Set the parameter max_payload'):
        carried(**given).at_start(model, None)
    payload, _ = carried(**given, max_payload=2500.0).at_start(model, None)
    assert payload.mass == mass
