# SPDX-License-Identifier: Apache-2.0
"""Live page of the robot for a browser: its state, and a small read-only server. Knows no ROS."""
