# SPDX-License-Identifier: Apache-2.0
"""Collision detection by torque error. NOT a safety function."""
