# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from writers import write_csv, write_rosbag

from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.effort.recorded import in_si_units
from robodyn_ros.errors import ConfigError
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Joint
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.recording import Recording

SI = {'unit': 'Nm', 'side': 'joint', 'gravity': 'included'}
CURRENT = {**SI, 'unit': 'A', 'side': 'motor', 'torque_constant': 0.5, 'gear_ratio': 100.0}
FREE = {**SI, 'gravity': 'excluded'}


def declared(mapping, source='the parameters'):
    return EffortDeclaration.from_mapping(mapping, source=source)


@pytest.fixture
def recording():
    time = np.arange(50) * 0.002
    numbers = np.random.default_rng(4).normal(size=(2, 50, 2))
    return Recording(
        time=time, joints=('joint1', 'joint2'), position=numbers[0], torque=numbers[1]
    )


def bag(recording, folder, mapping=None):
    path = folder / 'bag'
    write_rosbag(recording, path, metadata=declared(mapping).metadata() if mapping else None)
    return read_recording(path), path


def test_a_bag_says_itself_what_its_effort_is(recording, tmp_path):
    found, path = bag(recording, tmp_path, CURRENT)
    converted = in_si_units(found, path, [])
    np.testing.assert_allclose(converted.torque, recording.torque * 50.0)
    np.testing.assert_array_equal(converted.position, recording.position)
    assert converted.source == found.source


def test_a_bag_without_one_needs_one(recording, tmp_path):
    found, path = bag(recording, tmp_path)
    with pytest.raises(ConfigError, match='bag is not declared: declare its meaning in section'):
        in_si_units(found, path, [])
    assert in_si_units(found, path, [declared(SI)]) is found
    converted = in_si_units(found, path, [declared(CURRENT)])
    np.testing.assert_allclose(converted.torque, recording.torque * 50.0)


def test_two_that_differ_are_named(recording, tmp_path):
    found, path = bag(recording, tmp_path, SI)
    with pytest.raises(ConfigError) as caught:
        in_si_units(found, path, [declared(CURRENT)])
    text = str(caught.value)
    assert "joint 'joint1' is Nm on the joint side, gravity included (1 Nm or N per unit)" in text
    assert 'A on the motor side, gravity included (50 Nm or N per unit) according to the p' in text
    assert f'the bag {path}' in text
    with pytest.raises(ConfigError, match='gravity excluded'):
        in_si_units(found, path, [declared(FREE)])
    # said in other words, but the same
    same = {**SI, 'unit': 'A', 'torque_constant': 1.0 + 1e-7}
    assert in_si_units(found, path, [declared(same)]) is found
    with pytest.raises(ConfigError, match='A on the joint side'):
        in_si_units(found, path, [declared({**same, 'torque_constant': 1.0 + 1e-5})])


def test_tables_and_mapped_columns_are_declared_by_their_format(recording, tmp_path):
    write_csv(recording, tmp_path / 'table.csv')
    table = read_recording(tmp_path / 'table.csv')
    assert in_si_units(table, tmp_path / 'table.csv', []) is table
    found, path = bag(recording, tmp_path)
    columns = {'torque': {'columns': ['torque'], 'scale': 2.0}}
    assert in_si_units(found, path, [], columns=columns) is found
    with pytest.raises(ConfigError, match='is not declared'):
        in_si_units(found, path, [], columns={'position': {'columns': ['position']}})


def test_a_table_is_not_converted_by_a_declaration(recording, tmp_path):
    path = tmp_path / 'table.csv'
    write_csv(recording, path)
    table = read_recording(path)
    assert in_si_units(table, path, [declared(SI)]) is table
    assert in_si_units(table, path, [declared(SI, 'the flag'), declared(CURRENT)]) is table
    for other in (CURRENT, FREE):
        with pytest.raises(ConfigError, match=r'the effort of joint .* is a table, .*--effort Nm'):
            in_si_units(table, path, [declared(other)])
    columns = {'torque': {'columns': ['tau_joint1', 'tau_joint2'], 'unit': 'Nm'}}
    assert in_si_units(table, path, [declared(CURRENT)], columns=columns) is table
    columns['torque'] = {'columns': ['tau_joint1', 'tau_joint2'], 'scale': [0.5, 2.0]}
    assert in_si_units(table, path, [declared(CURRENT)], columns=columns) is table
    del columns['torque']['scale']
    with pytest.raises(ConfigError, match=r'its unit or scale.* parameter `columns` of a node'):
        in_si_units(table, path, [declared(CURRENT)], columns=columns)


def test_types_of_the_model_count(recording, tmp_path):
    found, path = bag(recording, tmp_path, SI)
    joints = (Joint('joint1'), Joint('joint2', 'prismatic'))
    with pytest.raises(ConfigError, match="joint 'joint2' is prismatic, so its torque is in N"):
        in_si_units(found, path, [], FrictionModel(joints=joints))


def test_effort_without_gravity_needs_a_model_without(recording, tmp_path):
    from robots import dh_urdf

    found, path = bag(recording, tmp_path, FREE)
    upright = dh_urdf([(np.pi / 2, 0.0, 0.3), (0.0, 0.4, 0.0)])
    with pytest.raises(ConfigError, match="'joint1' is declared without gravity, but the model"):
        in_si_units(found, path, [], robot_model(upright))
    weightless = robot_model(upright, gravity=(0.0, 0.0, 0.0))
    assert in_si_units(found, path, [], weightless) is found
