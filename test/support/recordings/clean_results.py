# SPDX-License-Identifier: Apache-2.0
"""Checks of the result of a clean recording."""

import numpy as np


def check_clean(result):
    """There are few warnings, each joint can be used, and no rotor inertia is negative."""
    assert sum(item.severity == 'warning' for item in result.findings) <= 3
    assert all(each.feedforward.word != 'not usable' for each in result.verdict.joints)
    rotors = [item.name.endswith('.rotor_inertia') for item in result.model.parameters]
    assert (result.values[rotors] >= 0.0).all()
    size = np.abs(result.base_values) > 2.0 * result.base_stddevs
    words = np.array(result.base_status)
    assert (size == (words == 'determined')).all()
    assert len(result.model.joints) == 1 or not size.all()
    assert set(words) <= {'determined', 'weak', 'from the prior'}
