# SPDX-License-Identifier: Apache-2.0
"""Reactions to a collision, without ROS: when, how often, and which motion."""
