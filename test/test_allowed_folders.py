# SPDX-License-Identifier: Apache-2.0
"""Paths of requests: only in the allowed folders, whatever their names look like."""

from pathlib import Path

import pytest

from robodyn_ros.allowed_folders import AllowedFolders, default_folders, shorten, without_root
from robodyn_ros.errors import ConfigError


@pytest.fixture
def place(tmp_path):
    """An allowed folder, beside one that is not."""
    for name in ('in/deep', 'out', 'inside_not'):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / 'in' / 'link').symlink_to(tmp_path / 'out')
    (tmp_path / 'back').symlink_to(tmp_path / 'in')
    (tmp_path / 'in' / 'loop').symlink_to(tmp_path / 'in' / 'loop')
    return tmp_path


@pytest.mark.parametrize(
    ('name', 'expected'),
    [('in', 'in'), ('in/new/file', 'in/new/file'), ('out/../in/deep', 'in/deep'),
     ('back/deep', 'in/deep')],
)  # fmt: skip
def test_a_path_inside_is_returned_without_links(place, name, expected):
    assert AllowedFolders([place / 'in']).path(f'{place}/{name}') == place / expected


@pytest.mark.parametrize(
    'name',
    ['out', 'in/../out', 'in/deep/../../out', 'in/link/file', 'inside_not', 'in/.git/hooks', '',
     'in/loop/../../out', 'in/deep/.hidden'],
)  # fmt: skip
def test_a_path_outside_is_one_sentence_with_the_folders_and_the_parameter(place, name):
    with pytest.raises(ConfigError) as caught:
        AllowedFolders([place / 'in']).path(f'{place}/{name}')
    assert f'({place}/in)' in str(caught.value)
    assert 'parameter allowed_directories' in str(caught.value)


@pytest.mark.parametrize('name', ['in/\x1b[31mred', 'in/a\u202eb', 'in/a\nb', 'in/' + 'x/' * 150])
def test_names_that_control_a_terminal_and_deep_folders_are_refused(place, name):
    with pytest.raises(ConfigError) as caught:
        AllowedFolders([place / 'in']).path(f'{place}/{name}')
    assert 'no control characters and at most 5 folders that do not exist' in str(caught.value)
    assert caught.value.fault == 'path_not_allowed' and str(caught.value).isprintable()


def test_folders_may_be_links_relative_or_files(place, monkeypatch):
    monkeypatch.chdir(place / 'in')
    monkeypatch.setenv('HOME', str(place))
    (place / 'out' / 'a.yaml').touch()
    allowed = AllowedFolders(['.', place / 'out' / 'a.yaml'])
    assert allowed.path('deep') == place / 'in' / 'deep'
    assert allowed.path('~/out/a.yaml') == place / 'out' / 'a.yaml'
    assert AllowedFolders([place / 'back']).path('deep') == place / 'in' / 'deep'
    with pytest.raises(ConfigError, match='in none of the allowed folders'):
        allowed.path(place / 'out' / 'b.yaml')
    with pytest.raises(ConfigError, match=r'allowed folders \(none\)'):
        AllowedFolders([]).path('deep')


def test_the_operator_may_allow_hidden_folders_and_everything(place):
    assert AllowedFolders([place / '.data']).path(place / '.data' / 'x') == place / '.data' / 'x'
    assert AllowedFolders(['/']).path('/etc/hosts') == Path('/etc/hosts')


def test_a_long_path_is_cut_in_the_message(place):
    with pytest.raises(ConfigError) as caught:
        AllowedFolders(['/in']).path('/' + 'x' * 200)
    assert 'x' * 79 + '...' in str(caught.value) and 'x' * 80 not in str(caught.value)
    assert shorten('x' * 80) == 'x' * 80


def test_the_defaults_are_the_folders_of_the_process_but_never_the_root(tmp_path, monkeypatch):
    monkeypatch.setenv('ROS_HOME', str(tmp_path / 'home'))
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path / 'log'))
    monkeypatch.chdir('/')
    folders = default_folders()
    assert {tmp_path / 'home', tmp_path / 'log'} <= set(folders)
    assert Path('/') not in folders
    monkeypatch.chdir(tmp_path)
    assert tmp_path in default_folders()
    monkeypatch.delenv('ROS_HOME')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert tmp_path / '.ros' in default_folders()
    assert without_root(['/', tmp_path, '/tmp/..']) == [tmp_path]
