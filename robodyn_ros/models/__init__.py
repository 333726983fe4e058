"""Models of the torque of a motion, linear in their parameters."""
