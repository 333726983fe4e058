"""Torque from the deflection of gears, for robots with double encoders."""
