# SPDX-License-Identifier: Apache-2.0
"""Folders and files: there they are, or one sentence says why not and nothing else is there."""

import json
import os

import numpy as np
import pytest

from robodyn_ros.errors import MotionError
from robodyn_ros.findings import Finding
from robodyn_ros.output_files import is_folder, json_text, make_folder, unusable, write_file


def test_folders_above_are_made_too_and_one_that_is_there_is_kept(tmp_path):
    made = make_folder(tmp_path / 'a' / 'b', MotionError)
    assert made.is_dir()
    (made / 'file').write_text('kept')
    assert make_folder(str(made), MotionError) == made
    assert (made / 'file').read_text() == 'kept'


def test_a_file_in_the_way_is_one_sentence_of_the_class_asked_for(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(
        MotionError, match=r'the folder .*file/x cannot be made: .*Not a directory'
    ):
        make_folder(tmp_path / 'file' / 'x', MotionError)


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text('old')
    seen = []

    def write(file):
        seen.append(file.suffix)
        assert path.read_text() == 'old'
        file.write_text('new')

    write_file(str(path), write, MotionError)
    assert path.read_text() == 'new'
    assert seen == ['.csv']
    assert [item.name for item in tmp_path.iterdir()] == ['a.csv']


@pytest.mark.parametrize('mask', [0o000, 0o077])
def test_the_umask_decides_on_the_rights_of_files_and_folders(tmp_path, mask):
    before = os.umask(mask)
    try:
        folder = make_folder(tmp_path / 'a' / 'b', MotionError)
        write_file(folder / 'file', lambda file: file.write_text('new'), MotionError)
    finally:
        os.umask(before)
    for path, mode in ((folder / 'file', 0o666), (folder, 0o777), (folder.parent, 0o777)):
        assert path.stat().st_mode & 0o777 == mode & ~mask


@pytest.mark.parametrize('reason', [OSError('disk full'), KeyboardInterrupt(), ValueError('bug')])
def test_nothing_stays_of_a_file_that_cannot_be_written(tmp_path, reason):
    path = tmp_path / 'a.yaml'
    path.write_text('old')

    def fail(file):
        file.write_text('half')
        raise reason

    expected = MotionError if isinstance(reason, OSError) else type(reason)
    with pytest.raises(expected) as caught:
        write_file(path, fail, MotionError, what='the motion file')
    if expected is MotionError:
        assert str(caught.value) == f'the motion file {path} cannot be written: disk full'
    assert [item.name for item in tmp_path.iterdir()] == ['a.yaml']
    assert path.read_text() == 'old'


def test_json_has_null_for_numbers_that_json_does_not_have():
    facts = {
        'array': np.array([[1.0, np.nan], [np.inf, 2.0]]),
        'number': np.float64(-np.inf),
        3: (1, True, 'NaN', None),
        'finding': [Finding('code', 'text')],
    }
    assert json.loads(json_text(facts)) == {
        'array': [[1.0, None], [None, 2.0]],
        'number': None,
        '3': [1, True, 'NaN', None],
        'finding': [
            {'code': 'code', 'text': 'text', 'joint': '', 'severity': 'warning', 'remedy': ''}
        ],
    }


def test_a_place_that_cannot_be_used_is_known_before_the_work(tmp_path, monkeypatch):
    (tmp_path / 'file').write_text('kept')
    assert unusable(tmp_path / 'new' / 'folder') == '' and unusable(tmp_path / 'file') == ''
    assert unusable(tmp_path / 'file' / 'x').endswith('file is not a folder')
    assert unusable(tmp_path / ('n' * 300)) == '' and not is_folder('n' * 300)
    assert [each.name for each in tmp_path.iterdir()] == ['file']
    monkeypatch.setattr(os, 'access', lambda *_: False)  # root may write everywhere
    assert unusable(tmp_path / 'new' / 'x') == f'{tmp_path} cannot be written to'
