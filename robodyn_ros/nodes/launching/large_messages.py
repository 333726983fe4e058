# SPDX-License-Identifier: Apache-2.0
"""Fast DDS profile for nodes that send large messages."""

from __future__ import annotations

import os

from robodyn_ros.paths import resource

SENDERS = ('excitation', 'feedforward')
"""Nodes that publish trajectories, which may be large: see config/fastdds.xml."""
PROFILE = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
"""Variables that name a profile of Fast DDS; the second one is the older name."""


def environment(node: str) -> dict[str, str]:
    """Return the variables to start a node with: the profile, unless one is set."""
    if node not in SENDERS or any(name in os.environ for name in PROFILE):
        return {}
    return {PROFILE[0]: str(resource('package://robodyn_ros/config/fastdds.xml'))}
