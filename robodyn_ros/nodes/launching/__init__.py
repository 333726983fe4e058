"""Descriptions for launch files."""
