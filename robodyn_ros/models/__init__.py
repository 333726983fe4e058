# SPDX-License-Identifier: Apache-2.0
"""Models of the torque of a motion, linear in their parameters."""
