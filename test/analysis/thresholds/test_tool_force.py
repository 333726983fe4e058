# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from robodyn_ros.analysis.thresholds.tool_force import smallest_force


def test_the_joint_that_feels_a_force_first_decides() -> None:
    """10 Nm at a lever of 0.5 m is 20 N, 15 N at a slide is 15 N; no joint moves along z."""
    tool = np.array([[0.0, 1.0], [0.5, 0.0], [0.0, 0.0]])
    slanted = np.array([0.6, 0.8, 0.0])
    ways = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], slanted, [0.0, 0.0, 1.0]])
    found = smallest_force(tool, np.array([10.0, 15.0]), ways)
    np.testing.assert_allclose(found, [20.0, 15.0, min(10.0 / 0.4, 15.0 / 0.6), np.inf])
