# SPDX-License-Identifier: Apache-2.0
"""Late import of SciPy's rotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


def rotations() -> type[Rotation]:
    """Import SciPy's Rotation, which takes half a second that most nodes need not spend."""
    from scipy.spatial.transform import Rotation

    kind: type[Rotation] = Rotation
    return kind
