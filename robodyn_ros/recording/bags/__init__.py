"""rosbag2 recordings: MCAP and sqlite3."""
