# SPDX-License-Identifier: Apache-2.0
"""Reactions of the collision monitor: services and motions, and the robot's own stop."""
