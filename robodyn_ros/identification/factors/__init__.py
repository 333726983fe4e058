# SPDX-License-Identifier: Apache-2.0
"""Condensed factors: one triangular factor of [regressor | torque] per joint and segment."""
