import subprocess
import sys
from pathlib import Path

import pytest

from robodyn_ros import __version__
from robodyn_ros.cli import excite, info
from robodyn_ros.cli.main import build_parser, main

ROOT = Path(__file__).resolve().parents[2]


def test_every_command_has_help(capsys):
    for command in ('identify', 'compare', 'bodywise', 'info', 'demo'):
        with pytest.raises(SystemExit) as done:
            main([command, '--help'])
        assert done.value.code == 0
        assert f'robodyn {command}' in capsys.readouterr().out


def test_help_of_commands_that_are_not_imported_is_their_own():
    assert build_parser('').format_help() == build_parser().format_help()
    assert build_parser('info').format_help() == build_parser().format_help()


def test_what_is_not_run_is_not_imported():
    code = 'import sys; from robodyn_ros.cli.main import build_parser; build_parser("info")\n'
    code += 'assert "robodyn_ros.cli.info" in sys.modules\n'
    code += 'assert not {"scipy.signal", "matplotlib", "mujoco"} & set(sys.modules)'
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_version(capsys):
    with pytest.raises(SystemExit) as done:
        main(['--version'])
    assert done.value.code == 0
    assert __version__ in capsys.readouterr().out


def test_without_a_command_it_says_what_there_is(capsys):
    with pytest.raises(SystemExit) as done:
        main([])
    assert done.value.code == 2
    assert 'COMMAND' in capsys.readouterr().err


def test_an_error_is_one_sentence_and_no_traceback(capsys):
    assert main(['info', '/no/such/recording']) == 2
    output = capsys.readouterr()
    assert output.out == ''
    assert output.err.startswith('error: ')
    assert output.err.count('\n') == 1


def test_debug_shows_the_traceback():
    done = subprocess.run(
        [sys.executable, '-m', 'robodyn_ros.cli.main', '--debug', 'info', '/no/such/recording'],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert 'Traceback' in done.stderr and 'RecordingError' in done.stderr


def test_a_bug_is_one_sentence_too(monkeypatch, capsys):
    def broken(arguments):
        raise ZeroDivisionError('division by zero')

    monkeypatch.setattr(info, 'run', broken)
    assert main(['info', 'x']) == 2
    assert 'unexpected ZeroDivisionError' in capsys.readouterr().err


def test_interrupt(monkeypatch, capsys):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(info, 'run', interrupted)
    assert main(['info', 'x']) == 130


def test_options_before_the_command_reach_it():
    arguments = build_parser().parse_args(['--debug', 'info', 'a.mcap', '--json'])
    assert arguments.debug and arguments.json


def test_debug_may_be_said_before_and_after_the_command():
    parser = build_parser()
    for said in (['--debug', 'info', 'x'], ['info', 'x', '--debug'], ['info', '--debug', 'x']):
        assert parser.parse_args(said).debug
    assert not parser.parse_args(['info', 'x']).debug


def test_an_interrupt_while_a_command_is_imported_is_no_traceback(monkeypatch, capsys):
    def slow(name):
        raise KeyboardInterrupt

    monkeypatch.setattr('importlib.import_module', slow)
    assert main(['info', 'x']) == 130
    assert capsys.readouterr().err == 'interrupted\n'


def test_lists_may_begin_with_a_negative_number(monkeypatch):
    seen = []
    monkeypatch.setattr(excite, 'run', lambda arguments: seen.append(arguments) or 0)
    words = [
        'excite',
        '--position',
        '-0.5,1',
        '--floor',
        '-0.1',
        '--nominal-torques=-1,2',
        '--json',
    ]
    assert main(words) == 0
    assert (
        main(['excite', '--position', '-.5,-1e-3', '--box', *map(str, (-1, -1, 0, 1, 1, 2))]) == 0
    )
    assert (seen[0].position, seen[0].floor, seen[0].json) == ([-0.5, 1.0], -0.1, True)
    assert seen[0].nominal_torques == [-1.0, 2.0]
    assert seen[1].position == [-0.5, -0.001]
    assert seen[1].box == [-1.0, -1.0, 0.0, 1.0, 1.0, 2.0]
