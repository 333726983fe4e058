"""ROS domains of tests that run side by side."""

import os


def domain(offset: int = 0) -> str:
    """Return a ROS_DOMAIN_ID that no other test has that runs meanwhile.

    Two workers of pytest-xdist share 100 domains, half each; sessions differ by their process.

    :param offset: tells the processes under test of one worker apart, modulo 50
    """
    worker = os.environ.get('PYTEST_XDIST_WORKER', '')
    session = os.getppid() if worker else os.getpid()
    return str(1 + 50 * (int(worker[2:] or 0) % 2) + (session + offset) % 50)
