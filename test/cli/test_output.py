# SPDX-License-Identifier: Apache-2.0
"""Progress bar: on a terminal only; the result file of a folder."""

import io
import json
import sys

import pytest

from robodyn_ros.cli.main import main
from robodyn_ros.cli.output import escape_output, progress_bar
from robodyn_ros.long_work import progress


@pytest.mark.parametrize('odd', ['\u202e', '\x1b[31m', '\x9b'])
def test_names_from_files_reach_the_terminal_only_as_it_shows_them(tmp_path, capsys, odd):
    name = f'jo{odd}int'
    (tmp_path / 'r.csv').write_text(f't,q_{name},tau_{name}\n0,1,2\n0.1,2,3\n', newline='')
    (tmp_path / 'c.yaml').write_text(
        f'time: t\nposition: [{json.dumps("q_" + name)}]\ntorque: [{json.dumps("tau_" + name)}]\n'
        f'joints: [{json.dumps(name)}]\n'
    )
    codes = [
        main(['check', str(tmp_path / 'r.csv'), '--columns', str(tmp_path / 'c.yaml')]),
        main(['check', str(tmp_path / f'no{odd}file.csv')]),
    ]
    with pytest.raises(SystemExit):
        main(['check', f'--no{odd}option', 'x'])
    shown = ''.join(capsys.readouterr())
    assert odd not in shown and ascii(odd)[1:-1] in shown and codes == [0, 2]


def test_a_terminal_that_lacks_letters_gets_their_codes(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding='ascii')
    monkeypatch.setattr(sys, 'stdout', stream)
    with escape_output():
        print('Nm², \udcff')
    assert stream.buffer.getvalue() == b'Nm\\xb2, \\udcff\n'


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
