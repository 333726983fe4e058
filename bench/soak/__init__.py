# SPDX-License-Identifier: Apache-2.0
"""Endurance of cell, feed-forward, collision monitor and recorder under random faults."""
