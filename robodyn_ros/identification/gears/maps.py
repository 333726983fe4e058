# SPDX-License-Identifier: Apache-2.0
"""Kinds of maps from deflection to torque."""

from __future__ import annotations

from robodyn_ros.identification.gears.gmr import GmrMap
from robodyn_ros.identification.gears.rbf import RbfMap

MAPS: dict[str, type[RbfMap] | type[GmrMap]] = {'rbf': RbfMap, 'gmr': GmrMap}
