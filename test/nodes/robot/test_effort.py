# SPDX-License-Identifier: Apache-2.0
"""Parameters effort.*, torque_max and torque_threshold as a node reads them."""

import numpy as np
import pytest
from idle_nodes import idle_nodes

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.robot.effort import (
    EffortParameters,
    convert_watched_torque,
    declare_torque_limit,
    read_torque_limit,
)

pytestmark = pytest.mark.ros
SI = {'effort.unit': 'Nm', 'effort.side': 'joint', 'effort.gravity': 'included'}
DRIVES = {
    **SI, 'effort.joints': ['a', 'b'], 'effort.unit': ['A', 'Nm'], 'effort.side': 'motor',
    'effort.torque_constant': [0.5, 0.25], 'effort.gear_ratio': [100.0, 50.0],
    'effort.rated_current': 4000.0, 'effort.peak_current': 8000.0,
}  # fmt: skip


@pytest.fixture
def node_with():
    """Return a function that makes a node with these parameters, as given or from a YAML text."""
    with idle_nodes(1) as create:

        def make(values, yaml=None):
            arguments = ['--ros-args', '--params-file', str(yaml)] if yaml else None
            return create(values, cli_args=arguments)

        yield make


def test_lists_and_single_values(node_with):
    effort = EffortParameters(node_with(DRIVES))
    np.testing.assert_allclose(effort.for_joints(['b', 'a']).scale, [50.0, 50.0])
    single = EffortParameters(node_with(SI))
    assert single.for_joints(['x', 'y', 'z']).feedback_is_si


def test_a_parameter_file_with_units_that_yaml_reads_as_no(node_with, tmp_path):
    file = tmp_path / 'p.yaml'
    keys = 'side: joint, gravity: included'
    file.write_text(f'/**: {{ros__parameters: {{effort: {{unit: N, {keys}}}}}}}\n')
    assert EffortParameters(node_with({}, file)).for_joints(['a']).unit == ('N',)


def test_nothing_declared_says_what_to_declare(node_with):
    effort = EffortParameters(node_with({}))
    assert effort.declaration is None and effort.metadata() == {}
    with pytest.raises(ConfigError, match='the joint states is not declared: declare'):
        effort.for_joints(['a'])


@pytest.mark.parametrize(
    ('values', 'sentence'),
    [
        ({**SI, 'effort.unitt': 'Nm'}, "there is no parameter 'effort.unitt', there are: joints"),
        ({'effort.unit': 'Nm'}, r'parameters of n: effort\.side is missing'),
    ],
)
def test_parameters_that_cannot_be_used(node_with, values, sentence):
    with pytest.raises(ConfigError, match=sentence):
        EffortParameters(node_with(values))


@pytest.mark.parametrize(
    ('given', 'expected'),
    [(None, None), (3.0, [3.0, 3.0]), (3, [3.0, 3.0]), ([3.0, 4.0], [3.0, 4.0]),
     ('rated', [200.0, 50.0]), ('peak', [400.0, 100.0])],
)  # fmt: skip
def test_limits_from_numbers_and_from_drive_facts(node_with, given, expected):
    node = node_with(DRIVES | ({} if given is None else {'torque_max': given}))
    effort = EffortParameters(node)
    value = declare_torque_limit(node, 'torque_max', 'a test')
    found = read_torque_limit('torque_max', value, ['a', 'b'], effort)
    assert (found is None) == (expected is None)
    if expected is not None:
        np.testing.assert_allclose(found, expected)


def test_a_watch_needs_declared_effort_with_gravity(node_with):
    assert convert_watched_torque(['a'], None, EffortParameters(node_with({}))) is None
    limit = np.ones(1)
    assert convert_watched_torque(['a'], limit, EffortParameters(node_with(SI))).feedback_is_si
    with pytest.raises(ConfigError, match='is not declared'):
        convert_watched_torque(['a'], limit, EffortParameters(node_with({})))
    free = EffortParameters(node_with({**SI, 'effort.gravity': 'excluded'}))
    with pytest.raises(ConfigError, match="joint 'a' is declared without gravity"):
        convert_watched_torque(['a'], limit, free)
