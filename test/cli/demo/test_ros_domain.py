# SPDX-License-Identifier: Apache-2.0
"""Domains of tests that run side by side."""

import fcntl
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from robodyn_ros.cli.demo import ros_domain

CODE = """
import os
from robodyn_ros.cli.demo.ros_domain import domain
print(domain(5 - os.getpid()), flush=True)
input()
"""
"""Every process that runs this begins to look at the same domain."""


def test_nobody_gets_a_domain_that_another_process_has():
    offset = 5 - os.getpid()
    own = ros_domain.domain(offset)
    assert ros_domain.domain(offset) == own and 1 <= int(own) <= ros_domain.DOMAINS
    processes = [
        subprocess.Popen(
            [sys.executable, '-c', CODE], cwd=Path(__file__).parents[3], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for _ in range(4)
    ]  # fmt: skip
    try:
        found = [process.stdout.readline().strip() for process in processes]
    finally:
        for process in processes:
            process.communicate('\n', timeout=40.0)
    assert len({own, *found}) == 5, (own, found)


def test_a_domain_that_something_else_uses_is_left_out():
    first = 1 + (os.getpid() + 971) % ros_domain.DOMAINS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        with suppress(OSError):  # then something else uses it already
            other.bind(('', 7410 + 250 * first))
        assert ros_domain.domain(971) != str(first)


def test_a_domain_of_which_a_later_process_is_alive_is_left_out():
    first = 1 + (os.getpid() + 983) % ros_domain.DOMAINS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        with suppress(OSError):
            other.bind(('', 7410 + 250 * first + 14))
        assert ros_domain.domain(983) != str(first)


def test_what_killed_processes_left_of_a_domain_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(ros_domain, 'SHARED_MEMORY', tmp_path)
    numbers = range(1, ros_domain.DOMAINS + 2)
    files = ('fastrtps_port{}', 'fastrtps_port{}_el', 'sem.fastrtps_port{}_mutex')
    for number in numbers:
        for file in files:
            (tmp_path / file.format(7411 + 250 * number)).touch()
    alive = 1 + (os.getpid() + 997) % ros_domain.DOMAINS
    held = (tmp_path / f'fastrtps_port{7413 + 250 * alive}_el').open('w')
    fcntl.flock(held, fcntl.LOCK_EX)  # of a process that has no UDP port
    own = int(ros_domain.domain(997))
    left = {path.name for path in tmp_path.iterdir()}
    others = [7411 + 250 * number for number in numbers if number != own]
    assert left == {
        Path(held.name).name,
        *(file.format(port) for port in others for file in files),
    }
