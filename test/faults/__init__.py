"""Damaged and hostile files against everything that reads files."""
