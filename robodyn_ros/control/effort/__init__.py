"""Effort fields of drivers: units, gear ratios and signs, as declared for each joint."""
