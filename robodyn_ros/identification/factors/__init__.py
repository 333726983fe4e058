"""Condensed factors: one triangular factor of [regressor | torque] per joint and segment."""
