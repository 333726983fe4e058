"""Simulated robot cell with the interfaces of ros2_control."""
