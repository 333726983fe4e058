"""Collision detection by torque error. NOT a safety function."""
