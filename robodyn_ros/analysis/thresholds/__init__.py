# SPDX-License-Identifier: Apache-2.0
"""Collision thresholds learned from healthy recordings, and collisions in recordings."""
