# SPDX-License-Identifier: Apache-2.0
"""The files of a run stand or fall together, wherever it ends."""

import json
import os
import re
import shutil
import sys
from contextlib import nullcontext
from dataclasses import replace

import pytest
from robots import random_urdf
from simulation import arm, record
from verdicts import with_bad

from robodyn_ros.errors import IdentificationError
from robodyn_ros.findings import Finding
from robodyn_ros.identification.files.export import export
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.files.result_folder import PREVIOUS, SIGNALS, ResultFolder
from robodyn_ros.identification.files.signals_bag import TOPICS
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify

CHANGES = {'os.rename', 'os.remove', 'os.rmdir', 'os.mkdir', 'shutil.copyfile', 'os.chmod'}
"""Audit events of what changes files, beside writing to one that was opened."""
KILLED = 9


@pytest.fixture(scope='module')
def results():
    """Two results of one robot, told apart by their dates, and one that failed."""
    model, truth = arm(random_urdf(2, 3, types=('revolute',)))
    result = identify(
        record(model, truth, 1500, noise=0.02), model, options=IdentifyOptions(keep_signals=True)
    )
    first, second = (replace(result, date=f'{year}-01-01T00:00:00') for year in (2001, 2002))
    finding = Finding('x', 'because', severity='error')
    failed = replace(second, success=False, verdict=with_bad(second.verdict), findings=(finding,))
    return first, second, failed


def date_of(folder):
    """Date of the model in a folder; '': none can be loaded."""
    path = folder / 'result.yaml'
    return re.search("date: '?(.+?)'?$", path.read_text(), re.M)[1] if path.exists() else ''


def names(folder):
    return sorted(path.name for path in folder.iterdir())


ALL = [
    'identification', 'inertials.yaml', 'isaac_lab.yaml', 'result.json', 'result.yaml',
    'robot.urdf', 'robot.xml',
]  # fmt: skip


def test_a_failed_run_leaves_no_older_model_beside_it(results, tmp_path):
    first, second, failed = results
    export(first, tmp_path)
    (tmp_path / 'mine.txt').write_text('mine')
    files = export(failed, tmp_path)
    assert names(tmp_path) == ['identification', 'mine.txt', PREVIOUS, 'result.json']
    assert json.loads(files.facts.read_text())['success'] is False
    assert f'is now in {tmp_path / PREVIOUS}' in files.notes[0]
    assert names(tmp_path / PREVIOUS) == ALL and date_of(tmp_path / PREVIOUS) == first.date
    export(failed, tmp_path)  # that had no model, so the last one that had stays
    assert date_of(tmp_path / PREVIOUS) == first.date
    export(second, tmp_path)
    assert date_of(tmp_path) == second.date
    export(first, tmp_path)
    assert date_of(tmp_path) == first.date and date_of(tmp_path / PREVIOUS) == second.date
    assert names(tmp_path) == sorted([*ALL, PREVIOUS, 'mine.txt'])
    for folder in (tmp_path, tmp_path / PREVIOUS):
        load_identified_model(folder / 'result.yaml')


def test_files_that_no_identification_wrote_are_kept(results, tmp_path):
    first, _, failed = results
    (tmp_path / 'robot.urdf').write_text('mine')
    files = export(first, tmp_path)
    assert files.urdf is None and 'robot.urdf is another file' in files.notes[0]
    export(failed, tmp_path)
    assert (tmp_path / 'robot.urdf').read_text() == 'mine'


@pytest.mark.parametrize('name', ['result.yaml', 'result.json'])
def test_a_folder_with_another_s_result_is_refused(results, tmp_path, name):
    (tmp_path / name).write_text('{"a": 1}')
    with pytest.raises(IdentificationError, match=f'{name}: it exists already, is not of an'):
        export(results[0], tmp_path)
    assert names(tmp_path) == [name] and (tmp_path / name).read_text() == '{"a": 1}'


@pytest.mark.timeout(60)
@pytest.mark.parametrize('name', ['result.yaml', 'identification'])
def test_a_pipe_in_the_folder_does_not_keep_the_run_waiting(results, tmp_path, name):
    first, _, failed = results
    path = tmp_path / name / 'metadata.yaml' if name == SIGNALS else tmp_path / name
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    refused = name in ('result.yaml', 'result.json')
    for run in (first, failed):
        with pytest.raises(IdentificationError) if refused else nullcontext():
            export(run, tmp_path)
    assert path.is_fifo(), 'it is not of a run, so it is kept'


def test_a_run_that_cannot_be_written_changes_nothing(results, tmp_path, monkeypatch):
    first, second, _ = results
    export(first, tmp_path)

    def fail(*_):
        raise IdentificationError('disk full')

    monkeypatch.setattr(
        'robodyn_ros.identification.result.result.IdentificationResult.to_urdf', fail
    )
    with pytest.raises(IdentificationError, match='disk full'):
        export(second, tmp_path)
    assert names(tmp_path) == ALL and date_of(tmp_path) == first.date


def write_run(folder, date, success=True):
    """Put files like those of an identification into a folder, as `export` does."""
    model = f'/**:\n  ros__parameters:\n    dynamic_model: {{}}\n    date: {date}\n'
    files = {'signals_file': SIGNALS} | (
        {
            'result_file': 'result.yaml',
            'urdf_file': 'robot.urdf',
            'inertials_file': 'inertials.yaml',
            'mjcf_file': 'robot.xml',
            'isaac_lab_file': 'isaac_lab.yaml',
        }
        if success
        else {}
    )
    facts = {'success': success, 'date': date, 'prg_file': None}
    facts |= dict.fromkeys(('result_file', 'urdf_file')) | files
    with ResultFolder(folder) as target:
        if success:
            (target.partial / 'result.yaml').write_text(model)
            (target.partial / 'robot.urdf').write_text(date)
            for name in ('inertials.yaml', 'robot.xml', 'isaac_lab.yaml'):
                (target.partial / name).write_text(date)
        (target.partial / SIGNALS).mkdir()
        (target.partial / SIGNALS / 'metadata.yaml').write_text(f'name: {TOPICS[0]}\n# {date}')
        (target.partial / 'result.json').write_text(json.dumps(facts))


def killed_at(step, folder, *run):
    """Write a run in a process that is killed before its change of files of this number.

    :return: whether there was such a change
    """
    child = os.fork()
    if not child:
        count = 0

        def hook(event, arguments):
            nonlocal count
            write = event == 'open' and isinstance(arguments[1], str) and arguments[1] != 'r'
            if event in CHANGES or write:
                if count == step:
                    os._exit(KILLED)
                count += 1

        sys.addaudithook(hook)
        try:
            write_run(folder, *run)
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, KILLED)
    return code == KILLED


def check_one_run(folder):
    """What can be seen is of one run; date of its model, '' without."""
    facts, loaded = folder / 'result.json', date_of(folder)
    told = json.loads(facts.read_text()) if facts.exists() else {}
    if loaded:
        assert told['success'] is True and told['date'] == loaded
    dates = {told['date']} if told else set()
    if (folder / 'robot.urdf').exists():
        assert told['success']
        dates.add((folder / 'robot.urdf').read_text())
    if (folder / SIGNALS / 'metadata.yaml').exists():
        dates.add((folder / SIGNALS / 'metadata.yaml').read_text().split('# ')[1])
    assert len(dates) <= 1
    return loaded


@pytest.mark.parametrize('success', [True, False])
def test_a_kill_at_any_moment_leaves_no_mixture(tmp_path, success):
    origin = tmp_path / 'origin'
    origin.mkdir()
    write_run(origin, 'one')
    write_run(origin, 'two')  # there is a model before, and one before that
    model = {'inertials.yaml', 'isaac_lab.yaml', 'result.yaml', 'robot.urdf', 'robot.xml'}
    expected = sorted({*ALL, PREVIOUS} - (set() if success else model))
    for step in range(200):
        folder = tmp_path / f'at{step}'
        shutil.copytree(origin, folder)
        if not killed_at(step, folder, 'three', success):
            break
        if check_one_run(folder):  # a model has all the rest beside it
            assert set(names(folder)) >= set(ALL)
        check_one_run(folder / PREVIOUS)
        write_run(folder, 'four', success)  # and the next run is not held up by it
        assert names(folder) == expected and check_one_run(folder) == ('four' * success)
    assert 15 < step < 100
