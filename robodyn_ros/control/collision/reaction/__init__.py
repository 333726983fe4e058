"""Reactions to a collision, without ROS: when, how often, and which motion."""
