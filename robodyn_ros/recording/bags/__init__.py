# SPDX-License-Identifier: Apache-2.0
"""rosbag2 recordings: MCAP and sqlite3."""
