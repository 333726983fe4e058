# SPDX-License-Identifier: Apache-2.0
"""Motions that excite the parameters of a robot: design, limits, collisions, export."""
