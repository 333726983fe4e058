"""Optimisation of an excitation motion."""
