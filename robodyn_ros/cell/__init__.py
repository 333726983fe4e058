"""A simulated robot cell that looks like ros2_control from outside."""
