"""ROS domains of demonstrations and tests that run side by side."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from pathlib import Path

DOMAINS = 100
"""From 1 on; the ports of higher ones may be taken by anything on the machine."""
_claimed: dict[int, tuple[str, object]] = {}


def domain(offset: int = 0) -> str:
    """Return a ROS_DOMAIN_ID that nothing else on this machine has, until this process ends.

    Where there are no more, one that others of this kind have, too.

    :param offset: tells several domains of one process apart
    """
    if offset not in _claimed:
        first = os.getpid() + offset
        numbers = [1 + (first + step) % DOMAINS for step in range(DOMAINS)]
        locks = ((number, _locked(number)) for number in numbers if not _in_use(number))
        free = next(((number, lock) for number, lock in locks if lock), (numbers[0], None))
        _claimed[offset] = (str(free[0]), free[1])
    return _claimed[offset][0]


def _locked(number: int) -> object:
    """Return a lock that another process does not get as well, or None if it has it."""
    folder = Path(tempfile.gettempdir()) / 'robodyn_ros_domains'
    try:
        folder.mkdir(exist_ok=True)
        file = (folder / str(number)).open('a')
    except OSError:  # of another user
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _in_use(number: int) -> bool:
    """Tell whether something listens already where the first participant of a domain does.

    Ports: OMG DDSI-RTPS 2.2, section 9.6.1.1.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(('', 7400 + 250 * number + 10))
        except OSError:
            return True
    return False
