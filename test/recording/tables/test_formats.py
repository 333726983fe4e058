# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.readers import recording_format
from robodyn_ros.recording.tables.formats import FORMATS


def test_endings_are_unique_and_recognised_in_capitals(tmp_path):
    endings = [ending for each in FORMATS for ending in each.endings]
    assert len({*endings}) == len(endings)
    for each in FORMATS:
        path = tmp_path / f'A{each.endings[-1].upper()}'
        path.write_text('header:\n')  # of a message; other YAML is no recording
        assert recording_format(path) == each.name


def test_other_files_are_refused_with_the_command_that_converts(tmp_path):
    path = tmp_path / 'a.csv.gz'
    path.touch()
    with pytest.raises(RecordingError, match=f'convert it: gunzip {path}$'):
        recording_format(path)
