# SPDX-License-Identifier: Apache-2.0
"""Fast DDS profiles: for nodes that send large messages, and for demonstrations and tests."""

from __future__ import annotations

import os

from robodyn_ros.paths import resource

SENDERS = ('excitation', 'feedforward')
"""Nodes that publish trajectories, which may be large: see config/fastdds.xml."""
PROFILE = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
"""Variables that name a profile: of Fast DDS 3, and of 2 (ROS 2 Jazzy)."""


def environment(node: str) -> dict[str, str]:
    """Return the variables to start a node with: the profile, unless the user has set one."""
    return profile('fastdds.xml') if node in SENDERS else {}


def profile(file: str) -> dict[str, str]:
    """Return the variables that set a profile of the package, unless the user has set one."""
    given = {os.environ[name] for name in PROFILE if name in os.environ}
    folder = resource('package://robodyn_ros/config')
    if given - {str(folder / name) for name in ('fastdds.xml', 'discovery.xml')}:
        return {}
    return dict.fromkeys(PROFILE, str(folder / file))
