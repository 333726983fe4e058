# SPDX-License-Identifier: Apache-2.0
"""Simulated robot cell with the interfaces of ros2_control."""
