# SPDX-License-Identifier: Apache-2.0
"""Use of a result in each control cycle: additive torque, collision detection, limits."""
