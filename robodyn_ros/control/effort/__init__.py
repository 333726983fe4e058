"""Effort fields of drivers: declared units, gear ratios and signs of each joint."""
