# SPDX-License-Identifier: Apache-2.0
"""Torque from the deflection of gears, for robots with double encoders."""
