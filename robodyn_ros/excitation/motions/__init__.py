"""Kinds of motion."""
