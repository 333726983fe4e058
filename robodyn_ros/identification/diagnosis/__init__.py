"""Causes of a bad or doubtful identification."""
