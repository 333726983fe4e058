"""Payload on top of an identified arm."""
