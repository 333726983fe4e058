# SPDX-License-Identifier: Apache-2.0
"""Comparisons, friction curves, command delay and collision thresholds."""
