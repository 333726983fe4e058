# SPDX-License-Identifier: Apache-2.0
"""Folders named by the time."""

import pytest

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.folders import make_dated_folder, remove_if_empty


def test_every_folder_is_new_and_named_by_the_time(tmp_path):
    found = [make_dated_folder(tmp_path / 'deep', 'motion') for _ in range(3)]
    assert len(set(found)) == 3 and all(path.is_dir() for path in found)
    assert all(path.name.startswith('motion_2') for path in found)


def test_where_no_folder_can_be(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(ConfigError, match='cannot be made'):
        make_dated_folder(tmp_path / 'file', 'motion')


def test_after_an_error_an_empty_folder_is_removed_and_a_full_one_stays(tmp_path):
    for written in (False, True):
        folder = make_dated_folder(tmp_path, 'motion')
        with pytest.raises(ConfigError, match='no'), remove_if_empty(folder):
            if written:
                (folder / 'file').touch()
            raise ConfigError('no')
        assert folder.exists() == written
