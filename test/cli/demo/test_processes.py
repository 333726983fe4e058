# SPDX-License-Identifier: Apache-2.0
import os
import signal
import time

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.srv')
from robodyn_ros.cli.demo.processes import NodeProcesses
from robodyn_ros.errors import RobodynError

pytestmark = pytest.mark.ros


def ended(process):
    deadline = time.monotonic() + 30.0
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    return process.poll() is not None


def test_a_node_that_dies_is_named_with_its_last_words(tmp_path):
    with NodeProcesses(tmp_path) as nodes:
        nodes.start('excitation', {}, name='no_robot')
        assert ended(nodes._running['no_robot'])
        with pytest.raises(RobodynError, match=r"node 'no_robot' ended with code 2: .*urdf"):
            nodes.check()


def test_no_process_is_left_behind_even_one_that_ignores_sigint(tmp_path):
    with NodeProcesses(tmp_path) as nodes:
        for name in ('other', 'recorder'):
            nodes.start('recorder', {'output_directory': str(tmp_path)}, name=name)
        other, process = (nodes._running[name] for name in ('other', 'recorder'))
        nodes.check()
        nodes.stop('other')
        assert other.returncode not in (None, -signal.SIGKILL)
        os.kill(process.pid, signal.SIGSTOP)
        nodes.stop_timeout = 1.0
    assert process.poll() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


@pytest.mark.real_time
def test_a_node_can_be_stopped_while_it_starts_also_if_sigint_is_ignored_here(tmp_path):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with NodeProcesses(tmp_path) as nodes:
            nodes.stop_timeout = 30.0
            nodes.start('recorder', {'output_directory': str(tmp_path)})
            assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
            process = nodes._running['recorder']
            begin = time.monotonic()
            nodes.stop('recorder')
            assert process.returncode != -signal.SIGKILL and time.monotonic() - begin < 25.0
    finally:
        signal.signal(signal.SIGINT, before)
