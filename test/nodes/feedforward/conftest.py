# SPDX-License-Identifier: Apache-2.0
import pytest


@pytest.fixture
def case(clock):
    """Trajectories in and out, without DDS."""
    from trajectory_case import Case  # needs rclpy

    return Case(clock)
