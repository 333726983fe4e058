# SPDX-License-Identifier: Apache-2.0
import html
import json
import os
from dataclasses import replace

import pytest
from verdicts import with_bad

from robodyn_ros.errors import IdentificationError
from robodyn_ros.findings import Finding
from robodyn_ros.identification.files.next_steps import next_steps
from robodyn_ros.report.stored import load_source
from robodyn_ros.report.write import export_with_page, write_page


def test_the_page_can_be_made_again_from_the_folder(result, tmp_path):
    files = export_with_page(result, tmp_path, command='robodyn identify x')
    first = files.page.read_text()
    facts = json.loads(files.facts.read_text())
    assert facts['report_file'] == str(tmp_path / 'report.html')
    assert (
        facts['repeat']['command'] == 'robodyn identify x'
        and 'numpy' in facts['repeat']['versions']
    )
    again = write_page(tmp_path / 'result.yaml', tmp_path / 'again.html')
    # Numbers went through a file: the same page, but for files that were not yet written.
    assert again.read_text() == first
    export_with_page(result, tmp_path, command='')
    assert (tmp_path / 'previous' / 'report.html').read_text() == first
    export_with_page(result, tmp_path, command='', page=False)
    assert not (tmp_path / 'report.html').exists()


def test_the_page_of_a_success_has_the_next_commands_with_the_robot(result, tmp_path):
    robot = tmp_path / 'my robot.yaml'
    files = export_with_page(result, tmp_path / 'out', command='', robot=str(robot))
    moved = (tmp_path / 'out').rename(tmp_path / 'moved')
    pages = files.page.name, 'again.html'
    write_page(moved, moved / pages[1])
    for name, folder in zip(pages, (tmp_path / 'out', moved), strict=True):
        text = html.unescape((moved / name).read_text())
        for purpose, command in next_steps(folder / 'result.yaml', str(robot)):
            assert f'<p>{purpose}:</p>\n<pre tabindex="0" data-copy>{command}</pre>' in text
    failed = replace(result, success=False, verdict=with_bad(result.verdict))
    for options in ({}, {'export_failed': True}):
        files = export_with_page(failed, tmp_path / 'failed', command='', **options)
        assert 'feedforward.launch.py' not in files.page.read_text()


def test_a_failed_identification_has_a_page_too(result, tmp_path):
    finding = Finding('torque_sign', 'wrong sign', 'joint1', 'error', 'Change it.')
    verdict = with_bad(result.verdict)
    failed = replace(result, success=False, verdict=verdict, findings=(finding,))
    files = export_with_page(failed, tmp_path, command='')
    assert files.result is None and 'Identification FAILED' in files.page.read_text()
    source = load_source(tmp_path)
    assert source.model is None and source.signals is not None
    assert 'Change it.' in write_page(tmp_path).read_text()


def test_nobody_s_file_is_replaced_and_a_result_is_not_lost(result, tmp_path, monkeypatch):
    (tmp_path / 'report.html').write_text('mine')
    files = export_with_page(result, tmp_path, command='')
    assert files.page is None and 'report.html is another file' in files.notes[0]
    with pytest.raises(IdentificationError, match=r'report\.html: it exists already'):
        write_page(tmp_path)
    assert (tmp_path / 'report.html').read_text() == 'mine'

    def fail(_):
        raise ZeroDivisionError('a bug')

    monkeypatch.setattr('robodyn_ros.report.write.page_text', fail)
    files = export_with_page(result, tmp_path / 'other', command='')
    assert files.result.is_file() and files.notes == (
        'no report.html is written: ZeroDivisionError: a bug',
    )


def test_what_is_no_result_is_one_sentence(result, tmp_path):
    with pytest.raises(IdentificationError, match='no such file or folder'):
        write_page(tmp_path / 'none')
    (tmp_path / 'result.json').write_text('[1]')
    with pytest.raises(IdentificationError, match=r'is no result\.json: it needs'):
        write_page(tmp_path)
    export_with_page(result, tmp_path / 'out', command='')
    facts = json.loads((tmp_path / 'out' / 'result.json').read_text())
    other = {**facts, 'joints': ['elbow']}
    (tmp_path / 'out' / 'result.json').write_text(json.dumps(other))
    words = r'result\.yaml has the joints joint1, joint2, result\.json has elbow: they are of diff'
    with pytest.raises(IdentificationError, match=words):
        write_page(tmp_path / 'out')
    del facts['verdict']['feedforward']
    (tmp_path / 'out' / 'result.json').write_text(json.dumps(facts))
    with pytest.raises(IdentificationError, match='the result is damaged, or of another version'):
        write_page(tmp_path / 'out')
    (tmp_path / 'result.json').write_text('[' * 100_000)
    with pytest.raises(IdentificationError, match='too deeply nested'):
        write_page(tmp_path)
    (tmp_path / 'result.json').write_text('{')
    with pytest.raises(IdentificationError, match='cannot be read, expected the file that'):
        write_page(tmp_path)


def test_recordings_are_hashed(result, tmp_path):
    recording = tmp_path / 'motion.csv'
    recording.write_text('abc')
    reports = (replace(result.identification, source=str(recording)),)
    files = export_with_page(replace(result, recordings=reports), tmp_path / 'out', command='')
    (row,) = json.loads(files.facts.read_text())['repeat']['inputs']
    # SHA-256 of 'abc', FIPS 180-4
    assert row['sha256'].startswith('ba7816bf8f01cfea414140de5dae2223') and row['bytes'] == 3
    assert os.fspath(recording) == row['file']
