# SPDX-License-Identifier: Apache-2.0
import numpy as np

from robodyn_ros.identification.fit.weighting import _correlation_findings


def test_the_joints_whose_errors_go_together_most_are_named():
    correlation = np.eye(3)
    correlation[0, 1] = correlation[1, 0] = -0.8  # neighbours
    correlation[0, 2] = correlation[2, 0] = 0.6
    (found,) = _correlation_findings(correlation, ('a', 'b', 'c'))
    assert found.code == 'correlated_errors' and 'a and b' in found.text and '-0.8' in found.text
    assert not list(_correlation_findings(0.4 * correlation, ('a', 'b', 'c')))
