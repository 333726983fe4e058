"""Reactions of the collision monitor: services and motions, and the robot's own stop."""
