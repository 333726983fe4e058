# SPDX-License-Identifier: Apache-2.0
"""The printed end of an identification."""

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
