# SPDX-License-Identifier: Apache-2.0
"""The printed end of an identification."""

from dataclasses import replace

from verdicts import with_bad

from robodyn_ros.findings import Finding
from robodyn_ros.identification.files.next_steps import format_result
from robodyn_ros.report.write import export_with_page


def test_a_success_names_each_file_and_the_next_command(result, tmp_path):
    files = export_with_page(result, tmp_path, command='')
    lines = format_result(result, files).splitlines()
    model = tmp_path / 'result.yaml'
    assert len(lines) <= 25
    assert lines[-3:] == [
        'next, feed-forward: ros2 launch robodyn_ros feedforward.launch.py robot:=MY_ROBOT.yaml '
        f'result_file:={model}',
        f'next, thresholds: robodyn thresholds HEALTHY1 HEALTHY2 --model {model} '
        '--out thresholds.yaml',
        'next, monitoring: ros2 launch robodyn_ros collision_monitor.launch.py '
        f'robot:=MY_ROBOT.yaml result_file:={model} thresholds:=thresholds.yaml',
    ]
    named = lines[-4].removeprefix(f'written to {tmp_path}: ').split(', ')
    assert sorted(named) == sorted(path.name for path in tmp_path.iterdir())
    assert len(format_result(result, files, verbose=True).splitlines()) > 25


def test_a_failure_names_no_model(result, tmp_path):
    every = [Finding(f'code{k}', 'bad ' * 40, 'j', 'error', 'Do. ' * 40) for k in range(30)]
    verdict = with_bad(result.verdict)
    failed = replace(result, success=False, verdict=verdict, findings=tuple(every))
    files = export_with_page(failed, tmp_path, command='')
    text = format_result(failed, files)
    assert len(text.splitlines()) <= 25 and text.startswith('identification FAILED')
    assert 'exported: ' not in text and 'no model is exported' in text
    assert 'result.yaml' not in text and 'report.html' in text
    forced = export_with_page(failed, tmp_path, command='', export_failed=True)
    assert 'forced: nothing of it can be used' in format_result(failed, forced)
    assert len(format_result(failed, None).splitlines()) <= 25
