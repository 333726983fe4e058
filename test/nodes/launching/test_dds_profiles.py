# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip('robodyn_ros.msg', reason='the share folder is that of the built package')
from robodyn_ros.cli.demo.ros_domain import describe_domain
from robodyn_ros.nodes.launching.dds_profiles import PROFILE, environment, profile


def test_senders_of_large_messages_get_the_profile_unless_one_is_set(monkeypatch):
    for variable in PROFILE:
        monkeypatch.delenv(variable, raising=False)
    given = environment('feedforward')
    assert set(given) == set(PROFILE) and Path(given[PROFILE[0]]).name == 'fastdds.xml'
    assert environment('cell') == {}
    for name, value in profile('discovery.xml').items():
        monkeypatch.setenv(name, value)
    assert environment('feedforward') == given, 'that of a demonstration is no choice of the user'
    monkeypatch.setenv(PROFILE[1], 'mine.xml')
    assert environment('feedforward') == profile('discovery.xml') == {}


MAPS = """
import rclpy
rclpy.init()
node = rclpy.create_node('maps', enable_rosout=False)
print(open('/proc/self/maps').read())
"""


@pytest.mark.ros
def test_the_profile_is_in_force(monkeypatch):
    """Fast DDS says nothing of a variable or a file that it does not read."""
    for name in PROFILE:
        monkeypatch.delenv(name, raising=False)
    surroundings = {**os.environ, **describe_domain(1), **environment('excitation')}
    done = subprocess.run(
        [sys.executable, '-c', MAPS], env=surroundings, capture_output=True, text=True, check=True
    )
    spans = [line.split()[0].split('-') for line in done.stdout.splitlines() if 'fastrtps' in line]
    assert max(int(end, 16) - int(begin, 16) for begin, end in spans) > 16 * 2**20
