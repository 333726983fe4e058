"""Physically consistent parameters, and the completion of base parameters."""
