# SPDX-License-Identifier: Apache-2.0
"""Commanded positions in bags: holes, and the choice of their topic."""

import numpy as np
import pytest
from bags import message, write_topics

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.readers import read_recording

TIME = 0.01 * np.arange(400)
GOAL = np.column_stack([np.sin(3.0 * TIME), np.cos(2.0 * TIME)])
POSITION = 0.9 * GOAL + 0.01
BY_ERROR = {'torque': {'unit': 'position_error'}}


def write(path, **topics):
    """Write joint states, and rows of commands by the name of their topic."""
    stamps = 1_700_000_000 * 10**9 + np.round(1e9 * TIME).astype(int)
    rows = {'joint_states': (POSITION, slice(None))} | {
        f'{name}/reference': (GOAL, kept) for name, kept in topics.items()
    }
    messages = {
        f'/{topic}': [
            message(int(stamp), ['a', 'b'], row, [], [])
            for stamp, row in zip(stamps[kept], values[kept], strict=True)
        ]
        for topic, (values, kept) in rows.items()
    }
    write_topics(path / 'bag', messages)
    return path / 'bag'


@pytest.mark.parametrize(
    ('rows', 'lost'),
    [
        (np.r_[0:100, 120:400], np.r_[100:120]),  # a hole
        (np.r_[15:385], np.r_[0:13, 387:400]),  # held for two periods
        (np.r_[0:100, 101:400], np.r_[0:0]),  # one lost message
    ],
)
def test_samples_without_a_command_are_left_out_with_a_finding(tmp_path, rows, lost):
    recording = read_recording(write(tmp_path, arm=rows), columns=BY_ERROR)
    kept = np.setdiff1d(np.arange(400), lost)
    np.testing.assert_allclose(recording.time, TIME[kept], atol=1e-9)
    near = np.isin(kept, rows)
    np.testing.assert_allclose(recording.torque[near], (GOAL - POSITION)[kept][near], atol=1e-9)
    texts = [each.text for each in recording.findings if each.code == 'missing_commands']
    assert len(texts) == bool(len(lost))
    assert all(f'/arm/reference has no command close to {len(lost)} of 400' in x for x in texts)


@pytest.mark.parametrize('topic', ['/tool/reference', ['tool/reference']])
def test_the_mapping_chooses_one_of_several_topics(tmp_path, topic):
    path = write(tmp_path, arm=slice(0, 200), tool=slice(None))
    with pytest.raises(RecordingError, match=r"choose one with `command: {columns: '/TOPIC'}`"):
        read_recording(path, columns=BY_ERROR)
    mapping = {**BY_ERROR, 'command': {'columns': topic, 'delay': 0.02}}
    recording = read_recording(path, columns=mapping)
    np.testing.assert_allclose(recording.torque[2:], GOAL[:-2] - POSITION[2:], atol=1e-9)
    with pytest.raises(RecordingError, match='/other has no commanded positions'):
        read_recording(path, columns={**BY_ERROR, 'command': '/other'})
