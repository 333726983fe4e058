"""Closed-form models of the softMC document."""
