# SPDX-License-Identifier: Apache-2.0
"""One writer per folder; its files appear together, wherever a run ends."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import pytest

from robodyn_ros.errors import ConfigError
from robodyn_ros.recording.bags.joint_state_bag import JointStateBag
from robodyn_ros.runs import file_set as module
from robodyn_ros.runs.file_set import delay_signals, file_set, sole_writer

NAMES = ('facts.json', 'page.html', 'table.csv', 'model.yaml')


def write(folder, text, names=NAMES):
    with file_set(folder, ConfigError) as partial:
        for name in names:
            (partial / name).write_text(text)


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def one_of_six(folder, number, start):
    start.wait(20.0)
    write(folder, f'{number}')


def recording_of_six(folder, number, start):
    start.wait(20.0)
    try:
        JointStateBag(folder / 'bag').close()
    except Exception as error:
        assert 'exists already' in str(error)
    else:
        (folder / f'{number}').write_text('')


def run_six(work, folder):
    context = multiprocessing.get_context('fork')
    start = context.Barrier(6)
    runs = [
        context.Process(target=work, args=(folder, number, start), daemon=True)
        for number in range(6)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join(60.0)
    assert [run.exitcode for run in runs] == [0] * 6


@pytest.mark.parametrize('_', range(3))
def test_six_runs_at_once_leave_the_files_of_one(tmp_path, _):
    folder = tmp_path / 'new' / 'folder'
    run_six(one_of_six, folder)
    found = content(folder)
    assert set(found) == set(NAMES) and len(set(found.values())) == 1


def test_six_recordings_at_once_are_one(tmp_path):
    for number in range(3):
        folder = tmp_path / f'{number}'
        folder.mkdir()
        run_six(recording_of_six, folder)
        assert len(list(folder.iterdir())) == 2, 'the bag, and one run that recorded it'


def test_another_run_is_refused_and_contexts_of_one_thread_nest(tmp_path, monkeypatch):
    monkeypatch.setattr(module, 'PATIENCE', 0.1)
    problems = []

    def other():
        try:
            write(tmp_path, 'other')
        except ConfigError as error:
            problems.append(error)

    with sole_writer(tmp_path, ConfigError), file_set(tmp_path, ConfigError) as partial:
        write(tmp_path, 'inner', ['a.json'])
        assert (partial / 'a.json').exists(), 'it is part of the outer set'
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(20.0)
        (partial / 'b.yaml').write_text('outer')
    assert content(tmp_path) == {'a.json': 'inner', 'b.yaml': 'outer'}
    assert str(problems[0]) == (
        f'another run writes to the folder {tmp_path}: wait for its end, or choose another one'
    )
    assert problems[0].fault == 'busy'
    other()
    assert content(tmp_path)['model.yaml'] == 'other', 'the lock has ended'


def test_a_folder_that_stays_empty_is_removed_again(tmp_path):
    with sole_writer(tmp_path / 'a' / 'b', ConfigError):
        assert (tmp_path / 'a' / 'b').is_dir()
    assert not content(tmp_path)
    with (
        pytest.raises(ConfigError, match='cannot be made'),
        sole_writer('/dev/null/x', ConfigError),
    ):
        pass


@pytest.mark.parametrize('error', [OSError('disk full'), KeyboardInterrupt(), ValueError('bug')])
def test_an_error_leaves_the_earlier_set(tmp_path, error):
    write(tmp_path, 'old')
    expected = ConfigError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected), file_set(tmp_path, ConfigError) as partial:
        (partial / 'model.yaml').write_text('new')
        raise error
    assert content(tmp_path) == dict.fromkeys(NAMES, 'old')
    (tmp_path / 'folder').mkdir()
    with pytest.raises(ConfigError, match='folder is a folder'):
        write(tmp_path, 'new', ['folder', 'model.yaml'])
    assert (tmp_path / 'model.yaml').read_text() == 'old'


PROGRAM = """
import sys, time
from pathlib import Path
from robodyn_ros.runs import file_set as module
from robodyn_ros.runs.entry import interruptible
from robodyn_ros.errors import ConfigError
replace = Path.replace
def slow(path, target):
    print(path.name, flush=True)
    time.sleep(0.05)
    return replace(path, target)
Path.replace = slow
with interruptible(), module.file_set(sys.argv[1], ConfigError) as partial:
    for name in ('facts.json', 'page.html', 'table.csv', 'model.yaml'):
        if sys.argv[2] == name:
            print(name, flush=True)
            time.sleep(30)
        (partial / name).write_text('new')
"""


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize('during', ['table.csv', 'publishing'])
def test_a_signal_in_the_middle_of_a_set(tmp_path, number, during):
    write(tmp_path, 'old')
    command = [sys.executable, '-c', PROGRAM, str(tmp_path), during]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        first = run.stdout.readline().strip()
        run.send_signal(number)
        run.communicate(timeout=20.0)
    assert first == ('table.csv' if during == 'table.csv' else 'facts.json')
    assert run.returncode != 0
    if number != signal.SIGKILL:
        assert not list(tmp_path.glob('.*')), 'no hidden folder'
        assert content(tmp_path) == dict.fromkeys(NAMES, 'old' if during == 'table.csv' else 'new')
    else:
        left = {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()}
        assert set(left.values()) == {'old'} or 'model.yaml' not in left
        write(tmp_path, 'next')  # the lock ended with the process, and its files are removed
        assert content(tmp_path) == dict.fromkeys(NAMES, 'next')


def test_signals_wait_for_the_end_of_a_step():
    done = []
    with pytest.raises(KeyboardInterrupt), delay_signals():
        os.kill(os.getpid(), signal.SIGINT)
        done.append('step')
    assert done == ['step']
