"""Additive torque of each cycle and of complete trajectories."""
