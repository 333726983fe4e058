# SPDX-License-Identifier: Apache-2.0
import json

import numpy as np
import pandas
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.tables.record_file import read_json, read_parquet


def test_lists_of_other_lengths_matter_only_if_they_are_used(tmp_path):
    path = tmp_path / 'a.jsonl'
    rows = [{'t': k, 'q': [1, 2], 'hits': [0] * k, 'more': {'a': {'b': k}}} for k in range(3)]
    path.write_text('\n'.join(map(json.dumps, rows)))
    table = read_json(path)
    np.testing.assert_array_equal(table.columns['q'], [[1, 2]] * 3)
    np.testing.assert_array_equal(table.columns['more.a.b'], range(3))
    with pytest.raises(RecordingError, match='row 2: expected a number'):
        table.column('hits', 'torque')


@pytest.mark.parametrize(
    'text, message',
    [
        ('', 'it has no rows'),
        ('[1, 2]', 'cannot be read as JSON'),
        ('{"a": 1}\n{', 'cannot be read as JSON'),
    ],
)
def test_what_is_no_table_is_a_sentence(tmp_path, text, message):
    path = tmp_path / 'a.json'
    path.write_text(text)
    with pytest.raises(RecordingError, match=message):
        read_json(path)


def test_an_array_of_objects_is_read(tmp_path):
    path = tmp_path / 'a.json'
    pandas.DataFrame({'time': [0.0, 0.1], 'q': [1, 2]}).to_json(path, orient='records', indent=1)
    np.testing.assert_array_equal(read_json(path).columns['q'], [1, 2])


@pytest.mark.parametrize('form', ['{{"k{}": 1}}\n', '{{"a": {{"b": {{"k{}": 1}}}}}}\n'])
def test_names_that_change_always_are_refused(tmp_path, form):
    path = tmp_path / 'a.jsonl'
    path.write_text(''.join(map(form.format, range(6000))))
    with pytest.raises(RecordingError, match=r'columns of a CSV file.*: at most 5000'):
        read_json(path)


def test_a_damaged_parquet_file_is_a_sentence(tmp_path):
    path = tmp_path / 'a.parquet'
    path.write_bytes(b'PAR1' * 10)
    with pytest.raises(RecordingError, match='it cannot be read as Parquet'):
        read_parquet(path)


def test_images_and_missing_values(tmp_path):
    path = tmp_path / 'a.parquet'
    frame = {'t': [0.0, 1.0], 'q': [[1.0], None], 'image': [{'bytes': b'x'}] * 2, 'n': [1, None]}
    pandas.DataFrame(frame).to_parquet(path)
    table = read_parquet(path)
    assert list(table.columns) == ['t', 'q', 'n']
    assert np.isnan(table.columns['q'][1, 0]) and np.isnan(table.columns['n'][1])
