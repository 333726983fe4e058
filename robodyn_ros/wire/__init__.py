"""Serialised messages (CDR), read and written without ROS."""
