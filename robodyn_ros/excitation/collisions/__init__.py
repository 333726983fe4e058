"""Collision checks of designed motions."""
