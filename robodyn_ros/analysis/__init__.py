"""Comparisons, friction curves, command delay and collision thresholds."""
