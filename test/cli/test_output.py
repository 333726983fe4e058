# SPDX-License-Identifier: Apache-2.0
"""Progress bar: on a terminal only."""

import sys

from robodyn_ros.cli.output import progress_bar, tracked


def test_on_a_terminal_only(capsys, monkeypatch):
    with progress_bar(10, 'start') as show:
        assert show is None
    assert capsys.readouterr().err == ''
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True, raising=False)
    with progress_bar(10, 'start') as show:
        show('halfway', 0.5)
        show('next step', 0.1)
    error = capsys.readouterr().err
    assert 'start        0% |' in error and 'halfway     50% |' in error
    assert 'next step   10% |' in error and error.count('left') >= 3


def test_a_bar_names_the_present_item_and_nothing_is_lost_without_a_terminal(capsys, monkeypatch):
    assert list(tracked(['a.mcap', 'b.mcap'])) == ['a.mcap', 'b.mcap']
    assert capsys.readouterr().err == ''
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True, raising=False)
    assert list(tracked(['a.mcap', 'b.mcap'])) == ['a.mcap', 'b.mcap']
    error = capsys.readouterr().err
    assert 'a.mcap' in error and ' 50% |' in error and 'left' in error
