"""Least squares on condensed factors, weights, uncertainty and torque errors."""
