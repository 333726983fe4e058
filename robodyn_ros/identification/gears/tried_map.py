# SPDX-License-Identifier: Apache-2.0
"""Cross-validated error of a torque of gear deflection: data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class GearCandidate:
    """Cross-validated error of one kind of residual torque with one set of inputs.

    :param rms_share: error left on segments that it was not fitted to, as a share of that
        without it, shape (n,)
    :param mean: mean share over the joints, 1 for those that it makes worse
    """

    kind: Literal['rbf', 'gmr']
    inputs: tuple[str, ...]
    rms_share: Array
    mean: float
