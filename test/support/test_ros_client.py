# SPDX-License-Identifier: Apache-2.0
"""The steps between messages of which some were lost."""

import numpy as np
from ros_client import Sent, steps


def test_what_was_lost_counts_as_a_step_of_its_own():
    rows = [Sent([0.0, 1.0], 5, 0.0), Sent([0.5, 1.0], 6, 0.1), Sent([2.0, 0.0], 9, 0.2)]
    change, between = steps(rows, lambda row: row)
    np.testing.assert_array_equal(change, [[0.5, 0.0], [1.5, -1.0]])
    np.testing.assert_array_equal(between, [[1], [3]])
