# SPDX-License-Identifier: Apache-2.0
"""Recordings of positions alone: the error of position is the signal of the torque."""

import json

import numpy as np
import pyarrow as pa
import pytest
import yaml
from bags import message, write_topics
from pyarrow import parquet

from robodyn_ros.control.effort.recorded import in_si_units
from robodyn_ros.errors import ConfigError, RecordingError
from robodyn_ros.recording.position_drive import PositionDrive
from robodyn_ros.recording.readers import read_recording

TIME = 0.01 * np.arange(400)
GOAL = np.column_stack([np.sin(3.0 * TIME), np.cos(2.0 * TIME)])
POSITION = 0.9 * GOAL + 0.01
BY_ERROR = {'torque': {'unit': 'position_error', 'scale': [2.0, 3.0]}}


def table(path, **columns):
    path = path / 'servo.npz'
    np.savez(path, times=TIME, **{'positions': POSITION, **columns})
    return path


def test_the_torque_is_gain_times_delayed_command_minus_position():
    drive = PositionDrive(np.array([2.0, 3.0]), np.array([0.02, 0.0]), known=True)
    torque = drive.torque(TIME, GOAL, POSITION)
    np.testing.assert_allclose(torque[2:, 0], 2.0 * (GOAL[:-2, 0] - POSITION[2:, 0]), atol=1e-9)
    np.testing.assert_allclose(torque[:, 1], 3.0 * (GOAL[:, 1] - POSITION[:, 1]))
    np.testing.assert_allclose(torque[:2, 0], 2.0 * (GOAL[0, 0] - POSITION[:2, 0]))


@pytest.mark.parametrize('name', ['goal_positions', 'action', 'position_cmd', 'command'])
def test_positions_and_commands_need_no_mapping(tmp_path, name):
    recording = read_recording(table(tmp_path, **{name: GOAL}))
    np.testing.assert_allclose(recording.torque, GOAL - POSITION)
    assert 'torque_of_position_error' in [each.code for each in recording.findings]
    assert recording.select(['joint2']).drive.gain.shape == (1,)


def test_a_measured_torque_has_priority_unless_the_mapping_says_otherwise(tmp_path):
    path = table(tmp_path, action=GOAL, torques=np.cos(POSITION))
    assert read_recording(path).drive is None
    torque = read_recording(path, columns=BY_ERROR).torque
    np.testing.assert_allclose(torque, (GOAL - POSITION) * [2.0, 3.0])


@pytest.mark.parametrize('name', ['currents', 'actual_current', 'motor_iq', 'load [A]'])
def test_commands_beside_a_current_need_a_mapping(tmp_path, name):
    path = table(tmp_path, action=GOAL, **{name: np.cos(POSITION)})
    with pytest.raises(RecordingError, match='no column for torque was recognised') as error:
        read_recording(path)
    torque = yaml.safe_load('\n'.join(error.value.lines))['torque']
    assert (torque['columns'], torque['unit']) == ([name], 'A')
    assert read_recording(path, columns=BY_ERROR).drive.known
    assert read_recording(path, columns={'command': 'action'}).drive is not None


def test_ur_files_with_targets_name_their_currents(tmp_path):
    names = [f'{name}_{joint}' for name in ('actual_q', 'target_q', 'actual_current')
             for joint in range(2)]  # fmt: skip
    rows = np.column_stack([TIME, POSITION, GOAL, np.cos(POSITION)])
    path = tmp_path / 'ur.csv'
    np.savetxt(path, rows, delimiter=',', header=','.join(['timestamp', *names]), comments='')
    with pytest.raises(RecordingError, match='no column for torque') as error:
        read_recording(path)
    lines = yaml.safe_load('\n'.join(error.value.lines))
    assert lines['torque']['columns'] == names[4:]
    by_error = read_recording(path, columns={'torque': {'unit': 'position_error'}})
    np.testing.assert_allclose(by_error.torque, GOAL - POSITION)


def test_columns_in_use_are_no_currents(tmp_path):
    path = tmp_path / 'servo.npz'
    np.savez(path, times=TIME, position_current=POSITION, position_goal=GOAL)
    recording = read_recording(path, columns={'position': 'position_current'})
    np.testing.assert_allclose(recording.torque, GOAL - POSITION)


def test_another_drive_needs_commands(tmp_path):
    drive = PositionDrive(np.ones(2), np.zeros(2), known=False)
    recording = read_recording(table(tmp_path, torques=GOAL))
    with pytest.raises(RecordingError, match=r'servo\.npz: it has no commanded positions'):
        recording.with_drive(drive)


def test_commands_have_the_unit_of_positions_and_their_delay(tmp_path):
    mapping = {**BY_ERROR, 'position': {'columns': 'positions', 'unit': 'deg'},
               'command': {'columns': 'wish', 'delay': 0.03}}  # fmt: skip
    recording = read_recording(
        table(tmp_path, positions=np.rad2deg(POSITION), wish=np.rad2deg(GOAL)), columns=mapping
    )
    expected = (GOAL[:-3] - POSITION[3:]) * [2.0, 3.0]
    np.testing.assert_allclose(recording.torque[3:], expected, atol=1e-9)


def test_an_unknown_gain_is_no_torque(tmp_path):
    path = table(tmp_path, action=GOAL)
    with pytest.raises(ConfigError, match='robodyn gains estimates the torque per rad'):
        in_si_units(read_recording(path), path, [])
    known = read_recording(path, columns=BY_ERROR)
    assert in_si_units(known, path, [], columns=BY_ERROR) is known


def test_without_commands_the_columns_are_named(tmp_path):
    with pytest.raises(RecordingError, match='no column for command was recognised'):
        read_recording(table(tmp_path), columns=BY_ERROR)
    with pytest.raises(RecordingError, match='no column for torque was recognised'):
        read_recording(table(tmp_path))


def test_bags_have_commands_in_a_topic(tmp_path):
    stamps = (1_700_000_000 * 10**9 + np.round(1e9 * TIME)).astype(int).tolist()
    names = ['a', 'b']
    topics = {
        topic: [message(s, names, row, [], []) for s, row in zip(stamps, rows, strict=True)]
        for topic, rows in (('/joint_states', POSITION), ('/arm/reference', GOAL))
    }
    write_topics(tmp_path / 'bag', topics)
    recording = read_recording(tmp_path / 'bag', columns=BY_ERROR)
    assert recording.joints == ('a', 'b')
    np.testing.assert_allclose(recording.torque, (GOAL - POSITION) * [2.0, 3.0], atol=1e-9)
    with pytest.raises(RecordingError, match='torque of joint'):
        read_recording(tmp_path / 'bag')


def test_a_lerobot_data_set_has_its_actions_as_commands(tmp_path):
    names = {'names': ['pan.pos', 'elbow.pos']}
    (tmp_path / 'data/chunk-000').mkdir(parents=True)
    (tmp_path / 'meta').mkdir()
    facts = {'features': {'observation.state': names, 'action': names}}
    (tmp_path / 'meta/info.json').write_text(json.dumps(facts))
    columns = {'observation.state': np.rad2deg(POSITION), 'action': np.rad2deg(GOAL)}
    content = {name: values.tolist() for name, values in columns.items()} | {'timestamp': TIME}
    parquet.write_table(pa.table(content), tmp_path / 'data/chunk-000/episode_000000.parquet')
    degrees = {'position': {'columns': 'observation.state', 'unit': 'deg'}}
    recording = read_recording(tmp_path, columns=degrees)
    assert recording.joints == ('pan', 'elbow')
    np.testing.assert_allclose(recording.torque, GOAL - POSITION, atol=1e-9)
