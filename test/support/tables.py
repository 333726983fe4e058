# SPDX-License-Identifier: Apache-2.0
"""Tables of four samples, for tests of column names and mappings."""

import numpy as np

from robodyn_ros.recording.tables.table import Table

TIME = np.array([0.0, 0.1, 0.2, 0.3])


def column(value):
    """A column that starts at a value."""
    return np.full(4, float(value)) + TIME


def table(joints=None, **columns):
    return Table({'time': TIME, **columns}, 'test', joints=joints)
