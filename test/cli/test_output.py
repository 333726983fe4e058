# SPDX-License-Identifier: Apache-2.0
"""Progress bar: on a terminal only; the result file of a folder."""

import argparse
import sys

import pytest

from robodyn_ros.cli.output import progress_bar, result_file
from robodyn_ros.long_work import progress


def test_the_result_file_of_a_folder(tmp_path):
    with pytest.raises(argparse.ArgumentTypeError, match=r'is a folder without result\.yaml$'):
        result_file(str(tmp_path))
    file = tmp_path / 'result.yaml'
    file.touch()
    assert result_file(str(tmp_path)) == result_file(str(file)) == str(file)
    assert result_file('/no/such/file') == '/no/such/file'


def test_on_a_terminal_only(capsys, monkeypatch):
    with progress_bar(0.0):
        progress('halfway', 0.5)
    assert capsys.readouterr().err == ''
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True, raising=False)
    with progress_bar(0.0):
        progress('halfway', 0.5)
        progress('next step', 0.1)
        progress('a file that grows \x1b[31m', 1.2)
    error = capsys.readouterr().err
    assert 'halfway                       50% |' in error and error.count(' left') == 3
    assert 'next step                     10% |' in error and error.endswith('\r\x1b[K')
    assert r'grows \x1b[31m' in error and '100% |' in error and '\x1b[31m' not in error
    with progress_bar(60.0):
        progress('short work shows no bar', 0.5)
    assert 'short' not in capsys.readouterr().err
