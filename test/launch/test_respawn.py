# SPDX-License-Identifier: Apache-2.0
"""Nodes that died are started again."""

import sys
import threading
import time

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed (it comes with ROS 2)')
from launch import LaunchDescription, LaunchService
from launch.actions import ExecuteProcess

from robodyn_ros.nodes.launching import descriptions


@pytest.mark.parametrize(
    ('end', 'respawn', 'starts'),
    [('os.kill(os.getpid(), 9)', True, 3), ('sys.exit(1)', True, 3), ('sys.exit(2)', True, 1),
     ('sys.exit(0)', True, 1), ('sys.exit(1)', False, 1)],
)  # fmt: skip
def test_a_node_that_dies_is_started_again_and_one_that_ends_is_not(
    end, respawn, starts, tmp_path, monkeypatch
):
    """With processes that end so twice, under the real launch service."""
    monkeypatch.setattr(descriptions, 'RESPAWN_DELAY', 0.05)
    marker = tmp_path / 'starts'
    code = (
        'import os, sys, time\n'
        'with open(sys.argv[1], "a") as file: file.write("started\\n")\n'
        f'if len(open(sys.argv[1]).readlines()) < 3: {end}\n'
        'time.sleep(60)\n'
    )

    def create():
        return ExecuteProcess(cmd=[sys.executable, '-c', code, str(marker)])

    def end_with_the_last():
        deadline = time.monotonic() + 30.0
        while len(marker.read_text().splitlines()) < starts and time.monotonic() < deadline:
            time.sleep(0.05)
        service.shutdown()

    marker.touch()
    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription(descriptions.keep_alive(create, respawn)))
    if starts == 3:  # else the service ends by itself, as nothing is left to start
        threading.Thread(target=end_with_the_last, daemon=True).start()
    service.run()
    assert len(marker.read_text().splitlines()) == starts
