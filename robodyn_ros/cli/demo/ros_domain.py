# SPDX-License-Identifier: Apache-2.0
"""ROS domains for demonstrations and tests that run at the same time."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

from robodyn_ros.nodes.launching.dds_profiles import profile

DOMAINS = 100
"""Number of usable domains, from 1: ports of higher ones lie in the range of other programs."""
SHARED_MEMORY = Path('/dev/shm')
_claimed: dict[int, tuple[str, object]] = {}


def describe_domain(offset: int = 0) -> dict[str, str]:
    """Return the environment of processes in a free domain, restricted to this machine.

    They find each other at once: see config/discovery.xml.

    :param offset: see `domain`
    """
    alone = {'ROS_DOMAIN_ID': domain(offset), 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
    return {**alone, **profile('discovery.xml')}


def domain(offset: int = 0) -> str:
    """Return a free ROS_DOMAIN_ID of this machine, reserved until this process ends.

    If all are reserved, a shared one is returned. What killed processes left of it in shared
    memory is removed: with it, Fast DDS sometimes never finds a process that was started later.

    :param offset: index of the domain, for several domains of one process
    """
    if offset not in _claimed:
        first = os.getpid() + offset
        numbers = [1 + (first + step) % DOMAINS for step in range(DOMAINS)]
        locks = ((number, _lock(number)) for number in numbers if not _in_use(number))
        free = next(((number, lock) for number, lock in locks if lock), (numbers[0], None))
        if free[1]:
            _remove_remains(free[0])
        _claimed[offset] = (str(free[0]), free[1])
    return _claimed[offset][0]


def _lock(number: int) -> object:
    """Return an exclusive lock, or None if another process has it."""
    folder = Path(tempfile.gettempdir()) / 'robodyn_ros_domains'
    try:
        folder.mkdir(exist_ok=True)
        file = (folder / str(number)).open('a')
    except OSError:  # the file of another user
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _first_port(number: int) -> int:
    """Return the first of the 250 ports of a domain, OMG DDSI-RTPS 2.2, section 9.6.1.1."""
    return 7400 + 250 * number


def _in_use(number: int) -> bool:
    """Return True if the port of a participant of a domain is taken."""
    for participant in range(32):  # more than a demonstration or a test starts
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(('', _first_port(number) + 10 + 2 * participant))
            except OSError:
                return True
    return False


def _remove_remains(number: int) -> None:
    """Remove ports in shared memory that belong to dead processes: their locks are free."""
    for port in range(_first_port(number), _first_port(number + 1)):
        name = f'fastrtps_port{port}'
        with suppress(OSError), (SHARED_MEMORY / f'{name}_el').open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for file in (name, f'sem.{name}_mutex', f'{name}_el'):
                (SHARED_MEMORY / file).unlink()
