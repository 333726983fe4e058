# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from robodyn_ros import __version__
from robodyn_ros.cli import check, excite
from robodyn_ros.cli.main import COMMANDS, build_parser, main
from robodyn_ros.models.serial.urdf_file import UrdfWarning

ROOT = Path(__file__).resolve().parents[2]


def run_python(*arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True, text=True, cwd=ROOT, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ('words', 'code', 'out', 'err'),
    [
        *(([name, '--help'], 0, f'robodyn {name}', '') for name in COMMANDS),
        (['--version'], 0, __version__, ''),
        ([], 2, '', 'a recording'),  # the help, with what each command does
        (['--debug'], 2, '', 'required: COMMAND'),
        (['--debug', 'identfy'], 2, '', 'identfy is not known; did you mean identify? (see'),
        (['x.npz'], 2, '', 'x.npz is not known (see'),
        (['info', 'x.npz'], 2, '', 'info is not known; did you mean check? (see'),
    ],
)
def test_help_version_and_a_missing_command(words, code, out, err, capsys):
    with pytest.raises(SystemExit) as done:
        main(words)
    printed = capsys.readouterr()
    assert done.value.code == code
    assert out in printed.out and err in printed.err


def test_an_unknown_option_is_one_sentence_with_the_nearest_one(capsys):
    with pytest.raises(SystemExit) as done:
        main(['identify', 'a.csv', '--validation=x'])
    sentence = capsys.readouterr().err
    assert done.value.code == 2 and sentence == (
        'error: robodyn identify: --validation is not known; did you mean --validate? (see '
        '`robodyn identify --help`)\n'
    )


def test_a_value_that_cannot_be_used_is_one_sentence_without_the_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main(['excite', '--box=-0.3,1'])
    told = capsys.readouterr().err
    assert ended.value.code == 2 and told.count('\n') == 1
    assert told.startswith('error: robodyn excite: argument --box: expected 6 arguments (see ')


def test_only_the_command_that_runs_is_imported_and_the_help_is_the_same():
    for only in ('', 'check'):
        assert build_parser(only).format_help() == build_parser().format_help()
    code = 'import sys; from robodyn_ros.cli.main import build_parser; build_parser("check")\n'
    code += 'assert "robodyn_ros.cli.check" in sys.modules\n'
    code += 'assert not {"scipy.signal", "matplotlib", "mujoco"} & set(sys.modules)'
    done = run_python('-c', code)
    assert done.returncode == 0, done.stderr


def test_lines_that_solve_an_error_follow_its_sentence(tmp_path, capsys):
    file = tmp_path / 'log.csv'
    file.write_text('zeit,a1_angle,a1_current\n0.0,1,2\n0.1,2,3\n')
    assert main(['check', str(file)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith('error: ') and lines[0].endswith('(docs/recordings.md)')
    assert lines[1:] == [
        'for example:',
        '  time: zeit',
        '  position: [a1_angle]',
        '  torque: {columns: [a1_current], unit: A, scale: NM_PER_A}  # Nm per A',
    ]


def test_an_error_is_one_sentence_and_a_traceback_with_debug(capsys):
    assert main(['check', '/no/such/recording']) == 2
    output = capsys.readouterr()
    assert output.out == ''
    assert output.err.startswith('error: ') and output.err.count('\n') == 1
    done = run_python('-m', 'robodyn_ros.cli.main', '--debug', 'check', '/no/such/recording')
    assert done.returncode == 1
    assert 'Traceback' in done.stderr and 'RecordingError' in done.stderr


@pytest.mark.parametrize(
    ('raised', 'code', 'text'),
    [
        (ZeroDivisionError('division by zero'), 2, 'error: unexpected ZeroDivisionError'),
        (KeyboardInterrupt(), 130, 'interrupted\n'),
    ],
)
def test_a_bug_and_an_interrupt_are_one_sentence(raised, code, text, monkeypatch, capsys):
    def failing(*_):
        raise raised

    monkeypatch.setattr(check, 'run', failing)
    assert main(['check', 'x']) == code
    assert capsys.readouterr().err.startswith(text)


def test_lists_may_start_with_a_negative_number(monkeypatch):
    seen = []
    monkeypatch.setattr(excite, 'run', lambda arguments: seen.append(arguments) or 0)
    first = '--position -0.5,1 --floor -0.1 --nominal-torques=-1,2 --json'
    second = '--position -.5,-1e-3 --box -1 -1 0 1 1 2'
    assert [main(['excite', *words.split()]) for words in (first, second)] == [0, 0]
    assert (seen[0].position, seen[0].floor, seen[0].json) == ([-0.5, 1.0], -0.1, True)
    assert seen[0].nominal_torques == [-1.0, 2.0]
    assert seen[1].position == [-0.5, -0.001]
    assert seen[1].box == [-1.0, -1.0, 0.0, 1.0, 1.0, 2.0]


def test_a_reader_that_ends_early_is_no_bug():
    code = (
        'import sys; from robodyn_ros.cli import main as m\n'
        'def run(arguments):\n'
        '    for _ in range(100000): print("x" * 100)\n'
        '    return 0\n'
        'import robodyn_ros.cli.check as check; check.run = run\n'
        'sys.exit(m.main(["check", "file"]))'
    )
    process = subprocess.Popen(
        [sys.executable, '-c', code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b'' and process.wait(60) == 2


def test_a_warning_about_a_urdf_that_is_read_twice_is_printed_once(capsys, monkeypatch):
    def read(arguments):
        for source in ('a.urdf', 'URDF', 'b.urdf'):
            warnings.warn(f'{source}: two masses', UrdfWarning, stacklevel=1)
        return 0

    monkeypatch.setattr(check, 'run', read)
    assert main(['check', 'a.csv']) == 0
    assert capsys.readouterr().err == 'warning: a.urdf: two masses\n'
