# SPDX-License-Identifier: Apache-2.0
"""Least squares on condensed factors, weights, uncertainty and torque errors."""
