"""One file per ROS node: parameters, topics, services; no mathematics."""
