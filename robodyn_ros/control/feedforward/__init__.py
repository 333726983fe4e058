# SPDX-License-Identifier: Apache-2.0
"""Additive torque of each cycle and of complete trajectories."""
