# SPDX-License-Identifier: Apache-2.0
"""The file that a process leaves behind when it is killed with torque enabled."""

from types import SimpleNamespace

import pytest

from robodyn_ros.nodes.feedforward.torque_marker import TorqueMarker


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv('ROS_HOME', str(tmp_path / 'home'))
    return tmp_path / 'home'


def marker(domain=7, warn=print):
    return TorqueMarker(SimpleNamespace(
        get_fully_qualified_name=lambda: '/left/feedforward',
        context=SimpleNamespace(get_domain_id=lambda: domain),
        get_logger=lambda: SimpleNamespace(warning=warn),
    ))  # fmt: skip


def test_it_is_found_until_the_torque_was_taken_away(home):
    first = marker()
    assert not first.earlier
    first.set()
    assert 'torque enabled 2' in marker().earlier
    assert not marker(domain=8).earlier, 'a node of another domain is another node'
    assert [path.name for path in (home / 'robodyn').iterdir()] == [
        'left.feedforward.domain_7.torque'
    ]
    first.clear()
    assert not marker().earlier
    first.clear()


def test_a_folder_that_cannot_be_written_is_a_warning(home):
    home.write_text('a file in its place')
    warnings = []
    unwritable = marker(warn=warnings.append)
    assert not unwritable.earlier
    unwritable.set()
    assert 'will not be noticed' in warnings[0] and 'Set ROS_HOME' in warnings[0]


def test_one_that_cannot_be_read_counts_as_found(home):
    path = home / 'robodyn' / 'left.feedforward.domain_7.torque'
    path.mkdir(parents=True)
    assert 'unreadable' in marker().earlier
