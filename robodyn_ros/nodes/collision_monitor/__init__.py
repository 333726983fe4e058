# SPDX-License-Identifier: Apache-2.0
"""Node `collision_monitor`. NOT a safety function."""
