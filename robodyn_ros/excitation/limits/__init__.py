"""Limits of the joints and rules in the workspace, and whether a motion keeps them."""
